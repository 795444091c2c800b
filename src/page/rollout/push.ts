import type { BatchView, EpochView } from '../../domain/batch.ts';

/** The recorded epochs of a batch. If none is recorded, only the last one, as epoch 0 with unknown shares. */
export function epochsOf({ epochViews, gradWeights, policyWeights }: BatchView): readonly (EpochView | UnknownEpoch)[] {
  return epochViews && epochViews.length > 0 ? epochViews : [{ epoch: 0, gradWeights, policyWeights, shares: null }];
}

type UnknownEpoch = Omit<EpochView, 'shares'> & { readonly shares: null };

/** −∂L/∂log π of the token at a flat index, summed over the recorded epochs. Above 0 makes the token more likely. */
export function pushAt(batch: BatchView, i: number): number {
  return epochsOf(batch).reduce((total, { gradWeights }) => total - (gradWeights[i] ?? 0), 0);
}
