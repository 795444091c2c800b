/**
 * Why an update moved the log-probability of a token, to first order: ⟨∇log π, Δθ⟩ with the gradient taken before the update,
 * split by where Δθ came from. All in nats; everything but `after` and `before` adds up to after − before.
 */
export interface Why {
  readonly before: number; // log-probability of the token
  readonly after: number;
  readonly rollouts: Float64Array; // (B) through the policy loss of each rollout; 0 for one that was not learned from
  readonly elsewhere?: number; // through that of rollouts that are not in the batch; absent where all are
  readonly kl: number; // through the KL in the loss
  readonly entropy: number; // through the entropy bonus
  readonly value: number; // through the value loss of a shared critic
  readonly momentum: number; // through what Adam's first moment brought along from earlier updates
  readonly decay: number; // through weight decay
  readonly residual: number; // what first order does not explain: curvature, and rounding
  readonly steps: number; // optimizer steps that moved the policy
  readonly together?: number; // through all gradients of the update, where its rollouts and terms were not told apart: theirs are 0
}

/** What every head of every layer looked at when a token was chosen. */
export interface AttentionView {
  readonly layers: number;
  readonly heads: number;
  readonly count: number; // tokens before the chosen one
  readonly weights: Float32Array; // (layers, heads, count); the numbers of a head add up to 1
}
