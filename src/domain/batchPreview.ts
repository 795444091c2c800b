import type { BatchView } from './batch.ts';

/** The loss and its terms, each a mean over some optimizer steps, like the `actor/…` and `critic/…` metrics. */
export interface ObjectiveMeans {
  readonly policyLoss: number;
  readonly entropy: number;
  readonly kl: number;
  readonly observationLoss: number;
  readonly valueLoss: number;
  readonly total: number;
  readonly clipFraction: number; // share of the tokens in the policy loss that are clipped
  readonly clipFractionLower: number; // share clipped by the dual clip
}

/** What learning computes. A changed knob can change these; only a smaller `groupSize` also changes another array, `kept`. */
export type LearnedArrays = Pick<
  BatchView,
  | 'advantages'
  | 'returns'
  | 'lossMask'
  | 'advantageMask'
  | 'observationMask'
  | 'gradWeights'
  | 'policyWeights'
  | 'epochViews'
  | 'corrections'
>;

/** Uses other knobs and recorded numbers; nothing is drawn or learned. */
export interface BatchPreview {
  readonly batch: BatchView; // with the masks, advantages and weights that the changed knobs give
  /** Computed in the same way and at the same ratios, but with the update's own knobs; compare `batch` with it. */
  readonly before: LearnedArrays;
  readonly meansBefore: ObjectiveMeans; // over the epochs of `batch`, with the update's own knobs
  readonly meansAfter: ObjectiveMeans; // with the changed knobs
}
