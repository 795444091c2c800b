import type { BatchView } from '../../domain/batch.ts';
import { isClipped } from '../rollout/channels.ts';
import { passesOf } from '../rollout/push.ts';

/** How many tokens the clip stopped in one epoch over a batch, and how many it would stop. */
interface HeldInPass {
  readonly pass: number; // from 1; 0: the last epoch of a batch that kept none
  readonly was: number; // tokens
  readonly would: number;
}

/** Which tokens a previewed clip range would push that were clipped, and the reverse. Tokens are flat indexes into the batch. */
export interface ClipChange {
  readonly passes: readonly HeldInPass[];
  readonly of: number; // tokens in the policy loss with an advantage
  readonly freed: readonly number[]; // clipped in at least one epoch in which they would be pushed
  readonly caught: readonly number[]; // pushed in at least one epoch in which they would be clipped
}

/** Compares the clipped tokens of a batch, `was`, with those of its preview, `would`. Both have the same epochs. */
export function clipChange(was: BatchView, would: BatchView): ClipChange {
  const heldIn = (batch: BatchView) =>
    passesOf(batch).map(({ pass, policyWeights }) => {
      const seen = { ...batch, policyWeights };
      return { pass, held: Uint8Array.from(batch.roles, (_, i) => (isClipped(seen, i) ? 1 : 0)) };
    });
  const [before, after] = [heldIn(was), heldIn(would)];
  const count = (held: Uint8Array | undefined) => held?.reduce((sum, each) => sum + each, 0) ?? 0;
  const turned = (from: typeof before, to: typeof before) =>
    Array.from(was.roles, (_, i) => i).filter((i) => from.some(({ held }, k) => held[i] === 1 && to[k]?.held[i] === 0));
  return {
    passes: before.map(({ pass, held }, k) => ({ pass, was: count(held), would: count(after[k]?.held) })),
    of: was.lossMask.reduce((sum, inLoss, i) => sum + (inLoss !== 0 && was.advantages[i] !== 0 ? 1 : 0), 0),
    ...{ freed: turned(before, after), caught: turned(after, before) },
  };
}
