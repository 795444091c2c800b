/** The number of updates of a run that are kept to look back at. */
export const KEPT_UPDATES = 64;
/** This many of the newest are always kept, so that the person can go through them one by one. */
const DENSE = 24;

/**
 * The one of `updates` (ascending) to drop next. It is never the first or one of the newest 24. Of the others it is the one whose
 * neighbours are closest together, the oldest of several. So the kept updates spread over the whole run, and are denser towards its end.
 * With fewer than 26 updates it is the oldest. Throws if `updates` is empty.
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
