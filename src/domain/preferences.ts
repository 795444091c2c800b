/** The tokens of one rollout, as a preference names it; both (length). */
export interface Attempt {
  readonly tokens: Int32Array;
  readonly roles: Uint8Array;
}

/** The pairs that the reward model learned from, and how well it fits and predicts them. */
export interface Preferences {
  readonly pairs: number; // labelled by the simulated labeller so far
  readonly clicks: number; // labelled by a person
  readonly loss: number; // −mean log σ(r_better − r_worse) at the last fit
  readonly agreement: number | null; // share of held-out pairs it orders as the labeller did; null before there are any
}

/** Pairs of rollouts laid end to end, the better one before the worse, in the order in which they were last labelled. */
export interface PackedPairs {
  readonly lengths: Int32Array; // (2 × pairs)
  readonly tokens: Int32Array; // (sum of lengths)
  readonly roles: Uint8Array; // (sum of lengths)
}

/** Preferences as they are saved: all that was said and is still remembered. */
export interface PreferenceMemory {
  readonly pairs: number; // ever labelled by the simulated labeller
  readonly clicks: number; // ever labelled by a person
  readonly fitted: PackedPairs;
  readonly heldOut: PackedPairs;
  readonly persons: PackedPairs;
}

/** What a reward model carries from update to update beside its network: randomness is counted, so it is in `observed` and `fits`. */
export interface RewardModelMemory extends PreferenceMemory {
  readonly observed: number; // batches shown to the labeller
  readonly fits: number;
}
