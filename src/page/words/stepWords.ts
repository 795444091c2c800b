/** For example `step 13 of 40`. `done` may be fractional. `between`: no step is under way, so it names the last one done. */
export function stepWords(done: number, total: number, between = false): string {
  return `step ${between ? done : Math.min(total, Math.floor(done) + 1)} of ${total}`;
}
