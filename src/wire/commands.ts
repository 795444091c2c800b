import type { KeptBatch } from '../domain/batch.ts';
import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { Facts } from '../facts/facts.ts';
import type { RunConfig } from '../config/fields.ts';
import type { KnobChange } from '../config/knobChange.ts';
import type { FolderTask } from './folderMessages.ts';
import type { PlayedTask } from '../domain/playedTask.ts';
import type { Attempt } from '../domain/preferences.ts';
import type { Question, Answer } from './questions.ts';
import type { PickedFile } from './readerMessages.ts';
import type { TrainingEvent } from '../domain/trainingEvent.ts';
import type { Checkpoint } from '../runs/checkpoint.ts';
import type { RunOpened } from '../runs/runLog.ts';

/** Events of the training worker to the page. */
export type RunEvent =
  | Exclude<TrainingEvent, { type: 'batch' }>
  | (Extract<TrainingEvent, { type: 'batch' }> & {
      readonly kept: readonly number[]; // the updates whose batches the run keeps, this one last
      readonly bytes: number; // memory of these batches
    })
  | (RunOpened & { readonly parameters: number; readonly memoryBytes: number })
  | { readonly type: 'answer'; readonly id: number; readonly answer: Answer }
  // `refused`: why it should not be saved; '' if it should
  | { readonly type: 'checkpoint'; readonly checkpoint: Checkpoint; readonly refused: string }
  // posted every second. `holds`: the worker has the lock of the `live` command. `reads`: it begins to open a run with a
  // tokenizer and a chat template from these files, which may never end
  | { readonly type: 'alive'; readonly holds: boolean; readonly reads?: string };

/**
 * Failures that can be caused for a test: a weight that is not finite, a lost GPU, a worker that ends, a worker that no
 * longer answers.
 */
export const FAULTS = ['nan', 'device-loss', 'worker-death', 'worker-hang'] as const;
export type Fault = (typeof FAULTS)[number];

/** When a failure happens: at once, or in the next stage of that name. Only the loss of the GPU can wait. */
export const MOMENTS = ['now', 'start', 'evaluate', 'rollout', 'score', 'learn', 'save'] as const;
export type Moment = (typeof MOMENTS)[number];

/** A command from the page to the training worker. */
export type RunCommand =
  | {
      readonly type: 'start'; // starts a run; the old run ends once it is known that the new one can run
      readonly config: RunConfig;
      readonly run: boolean;
      readonly facts?: Facts;
      readonly environment?: EnvironmentFile; // the environment that a person wrote, if the run trains on one; its program is run
      readonly kept?: KeptBatch; // the newest batch of a resumed run, so that questions about it can be answered
      readonly from?: unknown; // a Checkpoint as the browser saved it: the run continues from it, and `config` is the checkpoint's
      readonly base?: { readonly name: string; readonly files: readonly PickedFile[] }; // the language model for which it trains adapters
      readonly changes?: readonly KnobChange[]; // knobs that change at given updates
      /**
       * True: the worker posts checkpoints. After a number that is not finite, or a fault of the environment, it
       * returns to the last one.
       */
      readonly withFallback?: boolean;
    }
  | { readonly type: 'inject'; readonly fault: Fault; readonly moment: Moment } // for tests and teachers
  // the worker takes this lock as long as it lives, and answers when it has it
  | { readonly type: 'live'; readonly lock: string }
  | { readonly type: 'profile'; readonly id: number } // asks for the kernels' times; answered between two updates
  | { readonly type: 'fence'; readonly on: boolean } // on: each stage waits for the device, so that its measured time covers its own work only
  | { readonly type: 'run'; readonly more?: number } // `more`: updates to add if the run has done all its updates; absent: none
  | { readonly type: 'end-imitation' } // RL begins after the step of imitation under way
  | { readonly type: 'pause' }
  | { readonly type: 'step'; readonly scale: 'update' | 'optimizer-step' } // runs one, then pauses; a run that has done all its updates gets one more
  | { readonly type: 'hold'; readonly update: number | null } // the reader looks at the batch of this update, so it is kept; null: none
  | { readonly type: 'ask'; readonly id: number; readonly question: Question }
  | { readonly type: 'play'; readonly id: number; readonly task: PlayedTask } // answered at once, even while the run trains
  | { readonly type: 'folder'; readonly id: number; readonly task: FolderTask } // answered at once too
  | { readonly type: 'configure'; readonly changes: Partial<RunConfig> } // knobs that act at the next step (live) or batch (next)
  | { readonly type: 'prefer'; readonly better: Attempt; readonly worse: Attempt }; // a person's choice, for the reward model
