import type { Weights } from '../model/architecture.ts';
import type { Policy } from '../model/policy.ts';

/** The policy's weights as they were after an update; 0: before the first. */
export interface EarlierWeights {
  readonly after: number;
  readonly weights: Weights;
}

/** What `withStaleWeights` keeps from update to update. */
export interface WeightQueue {
  earlier: readonly EarlierWeights[]; // ascending; each map is never changed
}

/**
 * Runs `draw` with the weights of `staleness` updates before the current ones, those before `update`, and then puts the
 * current ones back, bit for bit; `draw` may call what it is given to have them back before it ends. If weights that old aren't in the queue, it takes the oldest: at the start of a run the
 * first weights draw, and after `staleness` was raised its value is reached update by update. Resolves with what `draw`
 * did and the number of updates the weights were old. The queue then has the weights that later updates need.
 */
export async function withStaleWeights<T>(
  policy: Pick<Policy, 'readState' | 'writeState'>,
  queue: WeightQueue,
  { update, staleness }: { readonly update: number; readonly staleness: number },
  draw: (putCurrentBack: () => void) => Promise<T>,
): Promise<{ readonly drawn: T; readonly age: number }> {
  if (staleness === 0) {
    queue.earlier = [];
    return { drawn: await draw(() => undefined), age: 0 };
  }
  const now = await policy.readState();
  const known = [...queue.earlier, { after: update - 1, weights: now.policy.weights }];
  const [oldest] = known.filter(({ after }) => after >= update - 1 - staleness);
  const { after, weights } = oldest!;
  queue.earlier = known.filter((each) => each.after >= update - staleness);
  if (after === update - 1) return { drawn: await draw(() => undefined), age: 0 };
  policy.writeState({ ...now, policy: { ...now.policy, weights } });
  try {
    return { drawn: await draw(() => policy.writeState(now)), age: update - 1 - after };
  } finally {
    policy.writeState(now);
  }
}
