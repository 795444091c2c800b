import type { RunFile, SentRun } from '../runs/sentRun.ts';
import type { NamedFile, Opened } from '../rollouts/library.ts';
import type { SplitPattern } from '../rollouts/splitPattern.ts';
import type { RolloutRecord } from '../rollouts/rolloutRecord.ts';

/** What the page asks of the worker that reads files: of rollouts, and of runs. */
export type ReaderCommand =
  | {
      readonly type: 'open'; // in place of those before
      readonly id: number;
      readonly files: readonly PickedFile[];
      readonly pattern: SplitPattern;
    }
  | { readonly type: 'read'; readonly id: number; readonly rows: readonly number[] }
  | { readonly type: 'search'; readonly id: number; readonly words: string } // in place of the one before; of '' none
  | { readonly type: 'run'; readonly id: number; readonly file: RunFile }
  | { readonly type: 'stop' }; // opening ends where it is

/** A file of the page, by its path in the folder it was picked with. */
export interface PickedFile extends NamedFile {
  readonly file: Blob;
}

/** A rollout that was read, or why it could not be. */
export type ReadRollout =
  { readonly row: number; readonly record: RolloutRecord } | { readonly row: number; readonly problem: string };

/** A run that was read, or why its file could not be. */
export type ReadRun = { readonly run: SentRun } | { readonly problem: string };

/** What that worker tells; the id is that of the command it is about, which another may have replaced since. */
export type ReaderEvent =
  | { readonly type: 'opened'; readonly id: number; readonly opened: Opened }
  | { readonly type: 'read'; readonly id: number; readonly rollouts: readonly ReadRollout[] }
  | { readonly type: 'found'; readonly id: number; readonly rows: readonly number[]; readonly share: number }
  | { readonly type: 'run'; readonly id: number; readonly read: ReadRun }
  | { readonly type: 'idle'; readonly id: number; readonly stopped: boolean } // files are open, or a person stopped it
  | { readonly type: 'failed'; readonly of: 'open' | 'search'; readonly id: number; readonly message: string };
