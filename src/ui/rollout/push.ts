import type { BatchView, PassView } from '../../domain/batch.ts';

/** The recorded epochs of a batch. If none is recorded, only the last one, as epoch 0 with unknown shares. */
export function passesOf({ passes, gradWeights, policyWeights }: BatchView): readonly (PassView | UnknownPass)[] {
  return passes && passes.length > 0 ? passes : [{ pass: 0, gradWeights, policyWeights, shares: null }];
}

type UnknownPass = Omit<PassView, 'shares'> & { readonly shares: null };

/** −∂L/∂log π of the token at a flat index, summed over the recorded epochs. Above 0 makes the token more likely. */
export function pushAt(batch: BatchView, i: number): number {
  return passesOf(batch).reduce((total, { gradWeights }) => total - (gradWeights[i] ?? 0), 0);
}
