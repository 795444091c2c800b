const STILL_MS = 50;
const still = () => new Promise<void>((resolve) => setTimeout(resolve, STILL_MS));

/** How the run stands that a stage belongs to. */
interface Standing {
  readonly paused: () => boolean;
  readonly gone: () => boolean; // another run took its place
}

/** What a stage of minutes goes by. */
export interface Pausing {
  /** Between two of its steps: lets the event loop run, waits where it is while its run is paused, and throws when that is gone. */
  readonly between: () => Promise<void>;
  readonly now: () => number; // ms; stands still while it waits
}

/** A stage that can be paused in its middle: what it does between two steps, and a clock that knows nothing of its pauses. */
export function pausing(
  { yieldToEvents, now }: { readonly yieldToEvents: () => Promise<void>; readonly now: () => number },
  { paused, gone }: Standing,
): Pausing {
  let waited = 0; // ms
  let since: number | null = null; // it waits
  return {
    between: async () => {
      await yieldToEvents();
      since = now();
      while (paused() && !gone()) await still();
      waited += now() - since;
      since = null;
      if (gone()) throw new Error('Another run took its place.');
    },
    now: () => (since ?? now()) - waited,
  };
}
