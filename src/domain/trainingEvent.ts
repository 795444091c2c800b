import type { FieldName, RunConfig } from '../config/fields.ts';
import type { ChosenKnobs } from '../config/imitationRecipe.ts';
import type { BatchView } from './batch.ts';
import type { Health } from './health.ts';
import type { Metrics } from './metrics.ts';
import type { Preferences } from './preferences.ts';
import type { UpdateTimes } from './profile.ts';

/** The current phase of a run. imitating: the run imitates demonstrations, as the first stage of its training. */
export type Phase =
  | 'compiling'
  | 'imitating'
  | 'evaluating'
  | 'sampling'
  | 'scoring'
  | 'crediting'
  | 'updating'
  | 'reporting'
  | 'idle';

/** Some training tasks that the agent played by itself during imitation, with greedy decoding. */
export interface Tries {
  readonly solved: number;
  readonly expert: number; // number of the same tasks that the expert solves; 0 if there is none
  readonly played: number;
}

export interface ModelCost {
  readonly parameters: number;
  readonly memoryBytes: number;
}

/** An event of training. Training throws its fatal errors; its caller reports them as `error` events. */
export type TrainingEvent =
  | {
      readonly type: 'phase';
      readonly phase: Phase;
      readonly update: number;
      readonly done: number;
      readonly total: number;
      readonly secondsLeft?: number; // estimate of the remaining seconds, from the speed so far; absent if unknown
    }
  | {
      readonly type: 'imitated'; // after a step of imitation
      readonly done: number;
      readonly total: number;
      readonly loss: number; // −mean log π of the demonstrations
      readonly tries?: Tries; // after some steps only
    }
  | { readonly type: 'batch'; readonly batch: BatchView; readonly config: RunConfig } // `config`: as the update used it
  | {
      readonly type: 'metrics';
      readonly update: number;
      readonly values: Metrics;
      /** Whether greedy play solved each evaluated task; absent if this update wasn't evaluated. */
      readonly solved?: ReadonlyMap<string, boolean>;
    }
  | { readonly type: 'times'; readonly times: UpdateTimes } // after the update's metrics
  | { readonly type: 'health'; readonly update: number; readonly health: Health }
  | { readonly type: 'preferences'; readonly update: number; readonly preferences: Preferences }
  | {
      readonly type: 'configured'; // knobs that change at this update
      readonly update: number;
      /** First optimizer step of the update with the new values, from 1; 0: before its batch is sampled. */
      readonly step: number;
      readonly changes: Partial<RunConfig>;
    }
  // imitation ends early, or the run chose its number of steps, or a larger model; knobs that give the same run from its start
  | {
      readonly type: 'imitation-changed';
      readonly knobs: ChosenKnobs;
      readonly larger?: ModelCost; // imitation starts again with a larger model
    }
  // a run that had done all its updates gets more
  | { readonly type: 'extended'; readonly knobs: Pick<RunConfig, 'updates'> }
  | { readonly type: 'running'; readonly running: boolean; readonly update: number; readonly finished: boolean }
  | {
      readonly type: 'error';
      readonly message: string; // what is wrong
      readonly hint: string; // what to do
      readonly fatal: boolean; // true: the run can't go on; false: the current run is unharmed
      readonly fields: readonly FieldName[]; // knobs to look at
      readonly cause?: ErrorCause; // present if the page can offer more than continuing
      readonly line?: number | null; // environment-fault: in the environment's file
    };

/**
 * The cause of an error.
 * - needs-model: the run trains adapters for a checkpoint that is not open.
 * - needs-environment: the run trains on an environment that a person wrote, and there is none.
 * - non-finite: a number was not finite, and the optimizer step was skipped. A run started with `withFallback` has
 *   returned to its last update in which all numbers were finite.
 * - environment-fault: the environment that a person wrote failed. A run started with `withFallback` has returned to
 *   its last update.
 * - environment-server: the server that plays the environment failed. A run started with `withFallback` has returned to
 *   its last update.
 * - silent: the worker has not answered for a while, but still may.
 */
export type ErrorCause =
  | 'needs-model'
  | 'needs-environment'
  | 'non-finite'
  | 'environment-fault'
  | 'environment-server'
  | 'device-lost'
  | 'bad-checkpoint'
  | 'worker-lost'
  | 'silent';
