/** The tokens of one rollout of a preference pair. Both arrays have the shape (length). */
export interface Attempt {
  readonly tokens: Int32Array;
  readonly roles: Uint8Array;
}

/** The pairs that the reward model learned from, and how well it fits and predicts them. */
export interface Preferences {
  readonly pairs: number; // number labelled by the simulated labeller so far
  readonly clicks: number; // number labelled by a person so far
  readonly loss: number; // −mean log σ(r_better − r_worse) at the last fit
  /** Share of held-out pairs that the reward model orders like the labeller; null if there are none. */
  readonly agreement: number | null;
}

/** Concatenated in the order in which they were last labelled. In each pair the better rollout comes first. */
export interface PackedPairs {
  readonly lengths: Int32Array; // (2 × pairs)
  readonly tokens: Int32Array; // (sum of lengths)
  readonly roles: Uint8Array; // (sum of lengths)
}

/** The preferences of a saved run: counts of all labels, and the pairs that are still remembered. */
export interface PreferenceMemory {
  readonly pairs: number; // number ever labelled by the simulated labeller
  readonly clicks: number; // number ever labelled by a person
  readonly fitted: PackedPairs;
  readonly heldOut: PackedPairs;
  readonly persons: PackedPairs;
}

/** The state of a reward model besides its network. The random draws depend only on the counts `observed` and `fits`. */
export interface RewardModelMemory extends PreferenceMemory {
  readonly observed: number; // batches shown to the labeller
  readonly fits: number; // times that the model was fitted
}
