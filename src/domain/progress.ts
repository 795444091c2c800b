import { REWARD_PARTS } from './episode.ts';
import type { Tries } from './trainingEvent.ts';

/** The monitor's memory of one metric. */
export interface TrackMemory {
  last: number[]; // the newest values, at most ten
  from: number | null; // mean of the ten updates that later ones are compared with; null before there are ten
}
/** What the monitor follows: signs of the Echo Trap, the length of rollouts, and what each part of the reward pays. */
export const TRACKS = [
  ...(['spread', 'entropy', 'gradient', 'success', 'flat', 'echo', 'repeats', 'length'] as const),
  ...REWARD_PARTS,
] as const;
/** The monitor's memory of the updates so far. */
export interface MonitorMemory {
  readonly tracks: Partial<Record<(typeof TRACKS)[number], TrackMemory>>; // older saves lack some
  state: 'ok' | 'watch' | 'trap';
  since: number;
  held: number; // number of consecutive updates, up to now, that looked like a trap
  free: number; // number of consecutive updates, up to now, that didn't
  vanished: number; // number of consecutive updates with the reward spread below a tenth of its base
  dominated?: number; // the same, with a part of the reward that gained while success didn't; older saves lack it
  heard: number | null; // last collapse/retrieval_accuracy, divided by its chance level; null before the first
  best: number | null; // largest mean success of ten consecutive updates
  kind: 'collapse' | 'blind' | null;
}

/** The state of training besides the networks. The random draws depend on `update`, so they need no state of their own. */
export interface Progress {
  /** Finished steps of imitation, before the first update; always 0 in a run that doesn't train adapters. */
  imitated: number;
  /** The last two tries during imitation, oldest first, and after which step they were. */
  tries: readonly (Tries & { readonly step: number })[];
  /** Whether the evaluation before the first update was done; it may take minutes and is never repeated. */
  evaluated: boolean;
  update: number; // number of finished updates
  empty: number; // number of consecutive updates, up to now, in which the filter kept no prompt
  penalty: { knob: number; current: number }; // KL in the reward
  readonly monitor: MonitorMemory;
}

export function noProgress(): Progress {
  return {
    imitated: 0,
    tries: [],
    evaluated: false,
    update: 0,
    empty: 0,
    penalty: { knob: 0, current: 0 },
    monitor: {
      tracks: {},
      ...{ state: 'ok', since: 0, held: 0, free: 0, vanished: 0, heard: null, best: null, kind: null },
    },
  };
}
