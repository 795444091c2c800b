import type { FieldName, RunConfig } from '../config/fields.ts';
import type { BatchView } from './batch.ts';
import type { Health } from './health.ts';
import type { Metrics } from './metrics.ts';
import type { Preferences } from './preferences.ts';
import type { UpdateTimes } from './profile.ts';

/** What a run is at. warm-start: demonstrations are imitated while it opens; imitating: as a stage of its training. */
export type Phase =
  | 'compiling'
  | 'warm-start'
  | 'imitating'
  | 'evaluating'
  | 'sampling'
  | 'scoring'
  | 'crediting'
  | 'updating'
  | 'reporting'
  | 'idle';

/** What training says of itself, update by update. Fatal errors it throws; who runs it tells of them in the same form. */
export type TrainingEvent =
  | {
      readonly type: 'phase';
      readonly phase: Phase;
      readonly update: number;
      readonly done: number;
      readonly total: number;
      readonly left?: number; // seconds that it will take, from those it took so far; absent where that is not known
    }
  | { readonly type: 'imitated'; readonly done: number; readonly total: number; readonly loss: number } // a step is over; loss: −mean log π of what was shown
  | { readonly type: 'batch'; readonly batch: BatchView; readonly config: RunConfig } // `config`: as the update used it
  | {
      readonly type: 'metrics';
      readonly update: number;
      readonly values: Metrics;
      readonly solved?: ReadonlyMap<string, boolean>; // where this update was evaluated: which tasks greedy play solved
    }
  | { readonly type: 'times'; readonly times: UpdateTimes } // after the update's metrics
  | { readonly type: 'health'; readonly update: number; readonly health: Health }
  | { readonly type: 'preferences'; readonly update: number; readonly preferences: Preferences }
  | {
      readonly type: 'configured'; // applied from this update on
      readonly update: number;
      readonly step: number; // of the optimizer in this update, counted from 1; 0: from its batch on
      readonly changes: Partial<RunConfig>;
    }
  | { readonly type: 'running'; readonly running: boolean; readonly update: number; readonly finished: boolean }
  | {
      readonly type: 'error';
      readonly message: string; // what was got, what is wanted
      readonly hint: string; // what to do
      readonly fatal: boolean; // the run cannot go on; false: the run that was there stays
      readonly fields: readonly FieldName[]; // knobs to look at
      readonly cause?: ErrorCause; // present if the page can offer more than continuing
      readonly line?: number | null; // environment-fault: in the environment's file
    };

/**
 * needs-model: the run trains adapters for a checkpoint that is not open. needs-environment: it trains on an environment that a person wrote, and there is none. non-finite: an optimizer step was skipped, and a guarded run is back at
 * its last finite update. environment-fault: the environment that a person wrote failed, and a guarded run is back at its last update. environment-server: likewise, the server that plays the environment. silent: the worker has not answered for a while, but still may.
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
