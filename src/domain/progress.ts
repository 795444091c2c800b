/** One metric's course as the monitor remembers it. */
export interface TrackMemory {
  last: number[];
  from: number | null;
}
/** What the monitor knows of the updates so far. */
export interface MonitorMemory {
  readonly tracks: Record<'spread' | 'entropy' | 'gradient' | 'success' | 'flat' | 'echo' | 'repeats', TrackMemory>;
  state: 'ok' | 'watch' | 'trap';
  since: number;
  held: number; // updates in a row that looked like a trap
  free: number; // updates in a row that did not
  vanished: number; // updates in a row with the spread below a tenth
  heard: number | null; // share of turns told to their context over chance, as last measured; null before
  best: number | null; // largest mean success of ten updates
  kind: 'collapse' | 'blind' | null;
}

/** All that training carries from update to update beside the networks: randomness is counted, so it is in `update`. */
export interface Progress {
  imitated: number; // steps of imitation done, of a run beside a checkpoint: they come before its first update; 0 elsewhere
  evaluated: boolean; // whether what it can before its first update was measured: that may take minutes, and a curve has it once
  update: number; // done
  empty: number; // updates in a row without a prompt to learn from
  penalty: { knob: number; current: number }; // KL in the reward
  readonly monitor: MonitorMemory;
}

/** Progress of a run that has not begun. */
export function noProgress(): Progress {
  const track = (): TrackMemory => ({ last: [], from: null });
  return {
    imitated: 0,
    evaluated: false,
    update: 0,
    empty: 0,
    penalty: { knob: 0, current: 0 },
    monitor: {
      tracks: {
        spread: track(),
        entropy: track(),
        gradient: track(),
        success: track(),
        flat: track(),
        echo: track(),
        repeats: track(),
      },
      ...{ state: 'ok', since: 0, held: 0, free: 0, vanished: 0, heard: null, best: null, kind: null },
    },
  };
}
