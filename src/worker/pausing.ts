const POLL_MS = 50;
const pollDelay = () => new Promise<void>((resolve) => setTimeout(resolve, POLL_MS));

/** The state of the run to which a stage belongs. */
interface RunState {
  readonly isPaused: () => boolean;
  readonly isReplaced: () => boolean; // whether another run has replaced this one
}

/** A yield point and a clock for a stage that takes minutes. */
export interface Pausing {
  /**
   * Call it between two steps of the stage. It lets the event loop run, waits while the run is paused, and throws if
   * the run was replaced.
   */
  readonly yieldOrWait: () => Promise<void>;
  readonly now: () => number; // ms, without the time spent waiting
}

/** Makes a stage pausable: a function to call between two steps, and a clock that leaves out the pauses. */
export function pausing(
  { yieldToEvents, now }: { readonly yieldToEvents: () => Promise<void>; readonly now: () => number },
  { isPaused, isReplaced }: RunState,
): Pausing {
  let pausedMs = 0;
  let pausedSince: number | null = null; // when the current pause began; null while not waiting
  return {
    yieldOrWait: async () => {
      await yieldToEvents();
      pausedSince = now();
      while (isPaused() && !isReplaced()) await pollDelay();
      pausedMs += now() - pausedSince;
      pausedSince = null;
      if (isReplaced()) throw new Error('Another run has replaced this one.');
    },
    now: () => (pausedSince ?? now()) - pausedMs,
  };
}
