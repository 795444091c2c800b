import type { TrainingEvent } from '../domain/trainingEvent.ts';
import type { Checkpoint } from '../runs/checkpoint.ts';
import type { RunOpened } from '../runs/runLog.ts';
import type { Answer } from './questions.ts';

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
