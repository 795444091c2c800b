/**
 * Text for the current step of a stage with several steps: `step 13 of 40`. `done` is the number of steps done and may
 * be fractional. `between`: no step is under way, so it names the last one done.
 */
export function stepWords(done: number, total: number, between = false): string {
  return `step ${between ? done : Math.min(total, Math.floor(done) + 1)} of ${total}`;
}
