/** Which step of a stage of several is under way, or was the last one where none is: `step 13 of 40`. `done` may be in the middle of one. */
export function stepWords(done: number, total: number, between = false): string {
  return `step ${between ? done : Math.min(total, Math.floor(done) + 1)} of ${total}`;
}
