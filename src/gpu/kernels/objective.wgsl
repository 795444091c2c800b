// objective: the loss of a minibatch, token by token, and its gradients. Over the tokens t of the minibatch:
//     total = Σ_t w·l + klCoef·Σ_t k·kl − entropyCoef·Σ_t e·H + valueCoef·Σ_t v·vl − observationLoss·Σ_t o·new
//             + teacherCoef·Σ_t q·(−H − c)
//     Policy loss (PPO, arXiv 1707.06347): rho = e^{new − old}; l = max(−A·rho, −A·clip(rho, 1 − low, 1 + high)).
//     With dual clip (arXiv 1912.09729), where A < 0 < dual: l = min(l, −A·dual). Instead, by knobs.surrogate:
//     GSPO (arXiv 2507.18071): the same without dual clip, with log rho = mean of new − old over the tokens of the row's
//     context, at most 10; the gradient by new is −A·rho in every token.
//     CISPO (arXiv 2506.13585): l = −A·w·new, w = clip(rho, 1 − low, 1 + high) without a gradient.
//     DPPO-TV (arXiv 2602.04879): l = −A·w·new, w = min(rho, dual) without a gradient where e^new − e^old ≤ high (A > 0)
//     or ≥ −low (else), 0 elsewhere. Plain: l = −A·new.
//     KL (verl, kl_penalty_forward), with delta = new − ref, one of three estimators:
//     k1 = delta; k2 = delta²/2; k3 = min(e^{−delta} − 1 + delta, 10). With knobs.kl_times_ratio, times rho (TRL).
//     Observation loss (ECHO, arXiv 2605.24517): the cross-entropy of the words of observations.
//     Teacher: the KL from its distribution, −H − c with c = Σ_v π(v)·log q(v).
//     Value loss (PPO; verl): vl = ½·max((V − R)², (clip(V, V_old ± valueClip) − R)²).
//     Gradients written: d total/d new, d total/dH, d total/dV and d total/dc. They include klCoef, entropyCoef,
//     observationLoss, teacherCoef and valueCoef; the tables of the loss's parts do not.
// Shapes    rows (M); scores, old_scores, ref_scores (·, B, T): logprob, then entropy; of the first the fourth table is c; values, old_values (B,T).
//           targets: first credit (2, B, T), which is A then R; then, from the index Shape.weights_at, the tables
//           (8, B, T) that loss_weights writes: the weights w, policy mean, k, e, v, o, the first token of a token's
//           context, as its index in the row, and q. coefficients (15, B, T): tables named
//           below. Shape.policy is 1 if the network has a language head, Shape.value is 1 if it has a value head. A
//           separate critic writes VALUE_LOSS, D_VALUE and TOKENS only.
// Parallel  one thread per (m,t): token t of row m of the minibatch. With GSPO each adds up its whole row. No shared
//           memory.
// Numerics  f32. Log-ratios of the surrogate are clamped to ±20; the gradient is 0 outside that range. Where k3 is at
//           its bound of 10, its gradient is 0. Where the clipped value error is the larger of the two, its gradient is
//           0. Masked tokens are skipped, not multiplied by 0. With klCoef or observationLoss 0, the gradient of the
//           term is skipped in the same way.
struct Shape { N: u32, T: u32, B: u32, weights_at: u32, policy: u32, value: u32 }
//! piece step_knobs
@group(0) @binding(0) var<storage, read> rows: array<u32>;
@group(0) @binding(1) var<storage, read> scores: array<f32>;
@group(0) @binding(2) var<storage, read> old_scores: array<f32>;
@group(0) @binding(3) var<storage, read> ref_scores: array<f32>;
@group(0) @binding(4) var<storage, read> values: array<f32>;
@group(0) @binding(5) var<storage, read> old_values: array<f32>;
@group(0) @binding(6) var<storage, read> targets: array<f32>;
@group(0) @binding(7) var<storage, read_write> coefficients: array<f32>;
@group(0) @binding(8) var<uniform> knobs: Knobs;
@group(0) @binding(9) var<uniform> shape: Shape;

// Tables of `coefficients`, by index. 0, 1 and 12 to 14 are gradients; 2 to 11 are summands of the step's statistics.
const D_LOGPROB = 0u; const D_LOGPROB_OF_POLICY_LOSS = 1u;
const POLICY_LOSS = 2u; const ENTROPY = 3u; const KL = 4u; const CLIPPED = 5u;
const DUAL_CLIPPED = 6u; const OLD_MINUS_NEW = 7u; const OBSERVATION_LOSS = 8u; const TEACHER_KL = 9u;
const VALUE_LOSS = 10u; const TOKENS = 11u; const D_VALUE = 12u; const D_ENTROPY = 13u; const D_TEACHER = 14u;
const OF_POLICY_LOSS = 0u; const OF_POLICY_MEAN = 1u; const OF_KL = 2u; // tables of loss_weights, by index
const OF_ENTROPY = 3u; const OF_VALUE_LOSS = 4u; const OF_OBSERVATION_LOSS = 5u; const CONTEXT_START = 6u; const OF_TEACHER = 7u;
fn put(table: u32, at: u32, x: f32) { coefficients[table * shape.B * shape.T + at] = x; }
fn weight(kind: u32, at: u32) -> f32 { return targets[shape.weights_at + kind * shape.B * shape.T + at]; }

const SURROGATE_CLIPPED = 0.0; const SURROGATE_GSPO = 1.0; const SURROGATE_CISPO = 2.0;
const SURROGATE_DPPO_TV = 3.0; const SURROGATE_PLAIN = 4.0;

struct Surrogate { loss: f32, slope: f32, clipped: f32, dual: f32 }

// −A·w·new, where w has no gradient
fn weighted(advantage: f32, new_logprob: f32, w: f32) -> Surrogate {
  return Surrogate(-advantage * w * new_logprob, -advantage * w, 0.0, 0.0);
}

fn surrogate(advantage: f32, at: u32) -> Surrogate {
  let new_logprob = scores[at];
  let old_logprob = old_scores[at];
  var d = new_logprob - old_logprob;
  var rho = exp(clamp(d, -20.0, 20.0));
  var moves = abs(d) <= 20.0; // whether rho has a gradient
  var dual_clip = knobs.dual_clip;
  let low = 1.0 - knobs.clip_low;
  let high = 1.0 + knobs.clip_high;
  if (knobs.surrogate == SURROGATE_PLAIN) { return weighted(advantage, new_logprob, 1.0); }
  if (knobs.surrogate == SURROGATE_CISPO) {
    let w = clamp(rho, low, high);
    var l = weighted(advantage, new_logprob, w);
    l.clipped = f32(w != rho);
    return l;
  }
  if (knobs.surrogate == SURROGATE_DPPO_TV) {
    let moved = exp(new_logprob) - exp(old_logprob);
    let near = select(moved >= -knobs.clip_low, moved <= knobs.clip_high, advantage > 0.0);
    let capped = dual_clip > 0.0 && rho > dual_clip;
    var l = weighted(advantage, new_logprob, f32(near) * select(rho, dual_clip, capped));
    l.clipped = f32(!near);
    l.dual = f32(near && capped);
    return l;
  }
  if (knobs.surrogate == SURROGATE_GSPO) {
    d = context_log_ratio(at);
    rho = exp(min(d, 10.0));
    moves = d <= 10.0;
    dual_clip = 0.0;
  }
  var l = Surrogate(-advantage * rho, select(0.0, -advantage * rho, moves), 0.0, 0.0);
  let clipped = -advantage * clamp(rho, low, high);
  if (clipped > l.loss) { l = Surrogate(clipped, 0.0, 1.0, 0.0); }
  let cap = -advantage * dual_clip;
  if (advantage < 0.0 && dual_clip > 0.0 && l.loss > cap) { l = Surrogate(cap, 0.0, l.clipped, 1.0); }
  return l;
}

// mean of new − old over the tokens of a token's context in the policy loss
fn context_log_ratio(token: u32) -> f32 {
  let row = token / shape.T;
  var sum = 0.0;
  var tokens = 0.0;
  for (var at = row * shape.T; at < (row + 1u) * shape.T; at++) {
    if (weight(OF_POLICY_MEAN, at) > 0.0 && weight(CONTEXT_START, at) == weight(CONTEXT_START, token)) {
      sum += scores[at] - old_scores[at];
      tokens += 1.0;
    }
  }
  return sum / max(1.0, tokens);
}

// KL and its derivative by new_logprob
fn divergence(new_logprob: f32, ref_logprob: f32) -> vec2f {
  let delta = new_logprob - ref_logprob;
  if (knobs.kl_estimator == KL_K1) { return vec2f(delta, 1.0); }
  if (knobs.kl_estimator == KL_K2) { return vec2f(0.5 * delta * delta, delta); }
  let ratio = exp(clamp(-delta, -20.0, 20.0)); // beyond 20 k3 is at its bound anyway; beyond 88 f32 would overflow
  let k3 = ratio - 1.0 + delta;
  return select(vec2f(k3, 1.0 - ratio), vec2f(10.0, 0.0), k3 > 10.0);
}

fn policy_parts(at: u32) {
  let logprob = scores[at];
  let mean = weight(OF_POLICY_MEAN, at);
  let regular = weight(OF_ENTROPY, at);
  var l = Surrogate();
  var apart = 0.0; // old log-probability minus new
  if (mean > 0.0) {
    let old_logprob = old_scores[at];
    l = surrogate(targets[at], at);
    apart = clamp(old_logprob - logprob, -20.0, 20.0);
  }
  var kl = vec2f();
  var entropy = 0.0;
  if (regular > 0.0) {
    kl = divergence(logprob, ref_scores[at]);
    if (knobs.kl_times_ratio == 1.0) {
      let d = logprob - old_scores[at];
      kl = exp(clamp(d, -20.0, 20.0)) * vec2f(kl.x, kl.y + select(0.0, kl.x, abs(d) <= 20.0));
    }
    kl *= weight(OF_KL, at);
    entropy = regular * scores[shape.B * shape.T + at];
  }
  let slope = weight(OF_POLICY_LOSS, at) * l.slope;
  let predicted = select(0.0, weight(OF_OBSERVATION_LOSS, at), knobs.observation_loss != 0.0);
  let pull = select(0.0, knobs.kl_coef * kl.y, knobs.kl_coef != 0.0) - knobs.observation_loss * predicted;
  put(D_LOGPROB, at, slope + pull);
  put(D_LOGPROB_OF_POLICY_LOSS, at, slope);
  put(POLICY_LOSS, at, weight(OF_POLICY_LOSS, at) * l.loss);
  put(ENTROPY, at, entropy);
  put(KL, at, kl.x);
  put(CLIPPED, at, mean * l.clipped);
  put(DUAL_CLIPPED, at, mean * l.dual);
  put(OLD_MINUS_NEW, at, mean * apart);
  put(OBSERVATION_LOSS, at, select(0.0, -predicted * logprob, predicted > 0.0));
  put(VALUE_LOSS, at, 0.0);
  put(TOKENS, at, f32(mean > 0.0));
  let taught = weight(OF_TEACHER, at);
  let all = shape.B * shape.T;
  put(TEACHER_KL, at, select(0.0, -taught * (scores[all + at] + scores[3u * all + at]), taught > 0.0));
  put(D_ENTROPY, at, -knobs.entropy_coef * regular - knobs.teacher_coef * taught);
  put(D_TEACHER, at, -knobs.teacher_coef * taught);
}

fn value_parts(at: u32) {
  let w = weight(OF_VALUE_LOSS, at);
  var loss = 0.0;
  var slope = 0.0;
  if (w > 0.0) {
    let goal = targets[shape.B * shape.T + at];
    let free = values[at] - goal;
    let near = clamp(values[at], old_values[at] - knobs.value_clip, old_values[at] + knobs.value_clip) - goal;
    let larger = select(near, free, free * free >= near * near);
    loss = 0.5 * w * larger * larger;
    slope = select(0.0, w * free, free * free >= near * near);
  }
  put(VALUE_LOSS, at, loss);
  put(D_VALUE, at, knobs.value_coef * slope);
  if (shape.policy == 0u) { put(TOKENS, at, f32(w > 0.0)); }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x + id.y * 4194240u;
  if (n >= shape.N) { return; }
  let row = rows[n / shape.T];
  if (row == 0xffffffffu) { return; }
  let at = row * shape.T + n % shape.T;
  if (shape.policy == 1u) { policy_parts(at); }
  if (shape.value == 1u) { value_parts(at); }
}
