/** Updates of a run that are kept to look back at. */
export const KEPT_UPDATES = 64;
/** So many of the newest are kept whatever their age: they can be scrubbed one by one. */
const DENSE = 24;

/**
 * The one of `updates` (ascending) that is missed least: between the first, which is never it, and the newest 24, the one whose
 * neighbours are closest together, the oldest of those. So what is kept spreads over the whole run, finer towards its end. Of fewer
 * than 26 it is the oldest. Throws without any.
 */
export function leastMissed(updates: readonly number[]): number {
  const [first] = updates;
  if (first === undefined) throw new Error('leastMissed: got no updates; want one at least.');
  let [missed, gap] = [first, Infinity];
  for (let i = 1; i < updates.length - DENSE; i++) {
    const [before = 0, at = 0, after = 0] = updates.slice(i - 1, i + 2);
    if (after - before < gap) [missed, gap] = [at, after - before];
  }
  return missed;
}
