const STILL_MS = 50;
const still = () => new Promise<void>((resolve) => setTimeout(resolve, STILL_MS));

/** How the run stands that a stage belongs to. */
interface Standing {
  readonly paused: () => boolean;
  readonly gone: () => boolean; // another run took its place
}

/** What a stage of minutes does between two of its steps: lets the event loop run, waits where it is while its run is paused, and throws when that is gone. */
export function pausing(breathe: () => Promise<void>, { paused, gone }: Standing): () => Promise<void> {
  return async () => {
    await breathe();
    while (paused() && !gone()) await still();
    if (gone()) throw new Error('Another run took its place.');
  };
}
