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

/** The cost of an answer: time on one core, and memory in addition to the run's. */
export interface Cost {
  readonly seconds: number; // an estimate
  readonly bytes: number; // an upper bound
}

/**
 * Why an update moved the log-probability of a token, to first order: ⟨∇log π, Δθ⟩ with the gradient taken before the
 * update, split by where Δθ came from. All in nats; everything but `after` and `before` adds up to after − before.
 */
export interface Why {
  readonly before: number; // log-probability of the token
  readonly after: number;
  /** (B) through the policy loss of each rollout; 0 for a rollout that the update didn't learn from. */
  readonly rollouts: Float64Array;
  readonly elsewhere?: number; // through the policy loss of rollouts that are not in the batch; absent if all are
  readonly kl: number; // through the KL in the loss
  readonly entropy: number; // through the entropy bonus
  readonly observation?: number; // through the observation loss; absent in older recordings
  readonly value: number; // through the value loss of a shared critic
  readonly momentum: number; // through the gradients of earlier updates in Adam's first moment
  readonly decay: number; // through weight decay
  readonly residual: number; // the part that first order doesn't explain: curvature and rounding
  readonly steps: number; // number of optimizer steps that moved the policy
  /** through all gradients of the update, if its rollouts and loss terms were not computed separately; they are then 0. */
  readonly together?: number;
}

/** Terms of the loss: the policy loss, the KL in the loss, the entropy bonus. */
export type SpreadTerm = 'task' | 'kl' | 'entropy';

/** Groups of an update with a similar spread of rewards, and the norm of each loss term's gradient over their rollouts. */
export interface SpreadBucket {
  readonly from: number; // smallest standard deviation (n − 1) of a group's rewards
  readonly to: number;
  readonly groups: number;
  readonly norms: Readonly<Record<SpreadTerm, number>>; // with the term's coefficient; 0 for a term that is off
}

/** The attention weights of every head and layer when a token was chosen. */
export interface AttentionView {
  readonly layers: number;
  readonly heads: number;
  readonly count: number; // tokens before the chosen one
  readonly weights: Float32Array; // (layers, heads, count); the weights of a head add up to 1
}
