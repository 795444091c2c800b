import type { KeptBatch } from '../domain/batch.ts';
import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { Facts } from '../facts/facts.ts';
import type { RunConfig } from '../config/fields.ts';
import type { KnobChange } from '../config/knobChange.ts';
import type { FolderTask } from './folderMessages.ts';
import type { PlayedTask } from '../domain/playedTask.ts';
import type { Attempt } from '../domain/preferences.ts';
import type { Question } from './questions.ts';
import type { PickedFile } from './readerMessages.ts';

/** Failures that can be brought about: a weight that is not finite, a GPU that is taken away, a worker that ends or answers no more. */
export const FAULTS = ['nan', 'device-loss', 'worker-death', 'worker-hang'] as const;
export type Fault = (typeof FAULTS)[number];

/** When a GPU is taken away: at once, or in the next stage of that name. */
export const MOMENTS = ['now', 'start', 'evaluate', 'rollout', 'score', 'learn', 'save'] as const;
export type Moment = (typeof MOMENTS)[number];

/** What the page asks of the worker. */
export type RunCommand =
  | {
      readonly type: 'start'; // replaces the run that was there, once the new one is known to be possible
      readonly config: RunConfig;
      readonly run: boolean;
      readonly facts?: Facts;
      readonly environment?: EnvironmentFile; // that a person wrote, where it trains on one; it is run
      readonly kept?: KeptBatch; // the newest batch of the run that goes on, to be asked about
      readonly from?: unknown; // a Checkpoint as a browser kept it: the run goes on from there; `config` is then the checkpoint's
      readonly base?: { readonly name: string; readonly files: readonly PickedFile[] }; // the checkpoint it puts adapters beside
      readonly changes?: readonly KnobChange[]; // knobs that change on the way
      readonly guarded?: boolean; // checkpoints are handed out, and what is not finite is rolled back
    }
  | { readonly type: 'inject'; readonly fault: Fault; readonly moment: Moment } // for tests and teachers
  | { readonly type: 'live'; readonly lock: string } // hold this lock for as long as you live, and say so
  | { readonly type: 'ping' } // say that you live
  | { readonly type: 'profile'; readonly id: number } // what kernels did and how fast: answered between two updates
  | { readonly type: 'fence'; readonly on: boolean } // each stage waits for the device, so that its time is its own
  | { readonly type: 'run' }
  | { readonly type: 'pause' }
  | { readonly type: 'step'; readonly scale: 'update' | 'optimizer-step' } // one, then pause
  | { readonly type: 'hold'; readonly update: number | null } // its batch is looked at: keep it
  | { readonly type: 'ask'; readonly id: number; readonly question: Question }
  | { readonly type: 'play'; readonly id: number; readonly task: PlayedTask } // answered at once, whatever else goes on
  | { readonly type: 'folder'; readonly id: number; readonly task: FolderTask } // answered at once, too
  | { readonly type: 'configure'; readonly changes: Partial<RunConfig> } // live and next knobs
  | { readonly type: 'prefer'; readonly better: Attempt; readonly worse: Attempt }; // a person's choice, for the reward model
