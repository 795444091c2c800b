import type { TrainingEvent } from '../domain/trainingEvent.ts';
import type { Checkpoint } from '../runs/checkpoint.ts';
import type { Opened } from '../runs/runLog.ts';
import type { Answer } from './questions.ts';

/** What the worker tells the page. */
export type RunEvent =
  | Exclude<TrainingEvent, { type: 'batch' }>
  | (Extract<TrainingEvent, { type: 'batch' }> & {
      readonly kept: readonly number[]; // the updates whose batches the run keeps, this one the last
      readonly bytes: number; // that they take
    })
  | (Opened & { readonly parameters: number; readonly memoryBytes: number })
  | { readonly type: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly type: 'checkpoint'; readonly checkpoint: Checkpoint; readonly refused: string } // why it is not for keeping; ''
  | { readonly type: 'alive'; readonly holds: boolean }; // holds: the lock that `live` names, from now on
