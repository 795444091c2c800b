// the knobs that an optimizer step reads, and numbers for the values of knobs that are choices; src/model/gpu/knobs.ts
// writes them by name
//! piece kl_estimators
const AGGREGATION_TOKEN_MEAN = 0u; const AGGREGATION_SEQ_MEAN_TOKEN_SUM = 1u;
const AGGREGATION_SEQ_MEAN_TOKEN_MEAN = 2u; const AGGREGATION_SEQ_MEAN_TOKEN_SUM_NORM = 3u;
struct Knobs {
  temperature: f32, aggregation: f32, surrogate: f32, clip_low: f32, clip_high: f32, dual_clip: f32,
  kl_estimator: f32, kl_times_ratio: f32, kl_coef: f32, entropy_coef: f32, observation_loss: f32, teacher_coef: f32,
  value_coef: f32, value_clip: f32, learning_rate: f32, beta1: f32, rest1: f32, beta2: f32, rest2: f32, adam_eps: f32, weight_decay: f32,
  max_grad_norm: f32, slot: f32,
}
