// the knobs that the credit kernels read, and numbers for the values of knobs that are choices; src/model/gpu/knobs.ts
// writes them by name
//! piece kl_estimators
const BASELINE_MEAN = 0.0; const BASELINE_MEAN_OVER_STD = 1.0; const BASELINE_LEAVE_ONE_OUT = 2.0;
const BASELINE_MEAN_OVER_MEAN = 3.0;
struct Credit {
  gamma: f32, lambda: f32, turn_gamma: f32, state_weight: f32, sums_turns: f32, shares_progress: f32, scores: f32, solved: f32, turns: f32, whole_turns: f32, critic: f32, baseline: f32, whiten: f32, remask: f32,
  scale: f32, kl_coef: f32, kl_estimator: f32, policy_mask: f32, regularizer_mask: f32, value_mask: f32,
  advantage_mask: f32, whiten_mask: f32, kl_mask: f32,
  correction: f32, correction_of_row: f32, correction_low: f32, correction_high: f32,
}
