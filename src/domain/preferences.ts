/** The tokens of one rollout, as a preference names it; both (length). */
export interface Attempt {
  readonly tokens: Int32Array;
  readonly roles: Uint8Array;
}

/** How well the reward model agrees with those who were asked. */
export interface Preferences {
  readonly pairs: number; // labelled by the simulated labeller so far
  readonly clicks: number; // labelled by a person
  readonly loss: number; // −mean log σ(r_better − r_worse) at the last fit
  readonly agreement: number | null; // share of held-out pairs it orders as the labeller did; null before there are any
}
