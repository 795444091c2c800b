import type { Diagnosis } from '../metricLogs/diagnosis.ts';
import type { RunFile, SentRun } from '../runs/sentRun.ts';
import type { NamedFile, OpenProgress } from '../rollouts/library.ts';
import type { SplitPattern } from '../rollouts/splitPattern.ts';
import type { RolloutRecord } from '../rollouts/rolloutRecord.ts';

export interface PickedModel {
  readonly name: string;
  readonly files: readonly PickedFile[];
}

/** Commands of the page to the worker that reads files of rollouts and of runs. */
export type ReaderCommand =
  | {
      readonly type: 'open'; // replaces the open files
      readonly id: number;
      readonly files: readonly PickedFile[];
      readonly pattern: SplitPattern;
    }
  | {
      readonly type: 'extend'; // reads files in addition to the open ones, or what was added to these
      readonly id: number; // of the `open` command
      readonly files: readonly PickedFile[];
      readonly gone: readonly string[]; // keys of files whose rollouts no longer count
      readonly pattern: SplitPattern;
    }
  | { readonly type: 'read'; readonly id: number; readonly rows: readonly number[] }
  // replaces the search before; no words end it. `from`: the first row to search
  | { readonly type: 'search'; readonly id: number; readonly words: string; readonly from?: number }
  | { readonly type: 'run'; readonly id: number; readonly file: RunFile }
  | { readonly type: 'stop' }; // stops opening files

/** A file that a person picked, with its path in the picked folder. */
export interface PickedFile extends NamedFile {
  readonly file: Blob;
}

/** A rollout that was read, or the reason why it could not be. */
export type ReadRollout =
  | { readonly row: number; readonly record: RolloutRecord }
  | { readonly row: number; readonly problem: string };

/** A run that was read, or the reason why its file could not be. */
export type ReadRun = { readonly run: SentRun; readonly diagnosis: Diagnosis } | { readonly problem: string };

/**
 * Events of that worker. `id` is the id of the command that it answers. A newer command may have replaced that command.
 */
export type ReaderEvent =
  | { readonly type: 'alive' } // posted every second, unless the worker is busy with code that doesn't end
  | { readonly type: 'opened'; readonly id: number; readonly opened: OpenProgress }
  | { readonly type: 'read'; readonly id: number; readonly rollouts: readonly ReadRollout[] }
  | { readonly type: 'found'; readonly id: number; readonly rows: readonly number[]; readonly share: number }
  | { readonly type: 'run'; readonly id: number; readonly read: ReadRun }
  // all files are open, or a person stopped it
  | { readonly type: 'idle'; readonly id: number; readonly stopped: boolean }
  | { readonly type: 'failed'; readonly command: 'open' | 'search'; readonly id: number; readonly message: string };
