import type { BatchView, PassView } from '../../domain/batch.ts';

/** The kept epochs of a batch. If the batch kept none, only the last one, whose shares are unknown. */
export function passesOf({ passes, gradWeights, policyWeights }: BatchView): readonly (PassView | UnknownPass)[] {
  return passes && passes.length > 0 ? passes : [{ pass: 0, gradWeights, policyWeights, shares: null }];
}

type UnknownPass = Omit<PassView, 'shares'> & { readonly shares: null };

/** −∂L/∂log π of the token at a flat index, summed over the passes that are kept: up is above 0, as everywhere. */
export function pushAt(batch: BatchView, i: number): number {
  return passesOf(batch).reduce((total, { gradWeights }) => total - (gradWeights[i] ?? 0), 0);
}
