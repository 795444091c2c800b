import type { BatchView } from './batch.ts';

/** The loss and its parts over some optimizer steps, the mean of each, as `actor/…` and `critic/…` metrics are. */
export interface ObjectiveMeans {
  readonly policyLoss: number;
  readonly entropy: number;
  readonly kl: number;
  readonly valueLoss: number;
  readonly total: number;
  readonly clipFraction: number; // of the tokens in the policy loss
  readonly clipFractionLower: number; // held by the dual clip
}

/** What learning makes of a batch's tokens: all that a turned knob can change. */
export type Pushed = Pick<
  BatchView,
  'advantages' | 'returns' | 'lossMask' | 'advantageMask' | 'gradWeights' | 'policyWeights' | 'passes'
>;

/** A batch as its update would have treated it with knobs turned: arithmetic on what was recorded, nothing is drawn or learned. */
export interface BatchPreview {
  readonly batch: BatchView; // its masks, advantages and weights are those that would have been
  readonly before: Pushed; // by the same arithmetic, at the same ratios, with the knobs the update had: what `batch` is compared with
  readonly was: ObjectiveMeans; // over the passes of `batch`, with the knobs the update had
  readonly would: ObjectiveMeans;
}
