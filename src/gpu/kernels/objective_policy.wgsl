// objective_policy: the masked policy loss of each token and its gradients with respect to log-probability and entropy
//     rho = e^{new − old};  l = max(−A·rho, −A·clip(rho, 1 − low, 1 + high)), and min(l, −A·dual) where A < 0 and
//     dual > 0
//     (PPO, arXiv 1707.06347; dual clip, arXiv 1912.09729), or −A·new for the plain surrogate
//     kl: delta = new − ref; k1 = delta, k2 = delta²/2, k3 = e^{−delta} − 1 + delta
//     total = sum_t w·l + klCoef·sum_t c·kl − entropyCoef·sum_t e·H;  w over the policy mask, c and e over the
//     regularizer mask, w and c by the aggregation, e the token mean
// Shapes    rows (M); scores, old_scores, ref_scores (3, B, T): logprob, entropy, lse; credit (2, B, T): advantage,
//           return; weights (5, B, T): w, policy mean, c, e, value mean; coefficients (3, B, T): d total/d logprob, the
//           policy loss's part of it, d total/d entropy;
//           stats (B, 8): policy loss, entropy, kl, clip fraction, dual-clip fraction, old − new, value loss, tokens.
// Parallel  one thread per row walks its tokens in order. No shared memory.
// Numerics  f32; log-ratios are clamped to ±20 and have gradient 0 beyond; masked tokens are skipped, not multiplied
//           by 0. A KL coefficient of 0 leaves the KL out of the gradient, whatever it is.
struct Shape { M: u32, T: u32, B: u32 }
struct Knobs {
  temperature: f32, aggregation: f32, plain: f32, clip_low: f32, clip_high: f32, dual_clip: f32,
  kl_estimator: f32, kl_coef: f32, entropy_coef: f32,
}
@group(0) @binding(0) var<storage, read> rows: array<u32>;
@group(0) @binding(1) var<storage, read> scores: array<f32>;
@group(0) @binding(2) var<storage, read> old_scores: array<f32>;
@group(0) @binding(3) var<storage, read> ref_scores: array<f32>;
@group(0) @binding(4) var<storage, read> credit: array<f32>;
@group(0) @binding(5) var<storage, read> weights: array<f32>;
@group(0) @binding(6) var<storage, read_write> coefficients: array<f32>;
@group(0) @binding(7) var<storage, read_write> stats: array<f32>;
@group(0) @binding(8) var<uniform> knobs: Knobs;
@group(0) @binding(9) var<uniform> shape: Shape;

// loss and its derivative with respect to the log-probability, then 1 where clipped, 1 where dual-clipped
fn surrogate(advantage: f32, new_logprob: f32, old_logprob: f32) -> vec4f {
  if (knobs.plain == 1.0) { return vec4f(-advantage * new_logprob, -advantage, 0.0, 0.0); }
  let d = new_logprob - old_logprob;
  let rho = exp(clamp(d, -20.0, 20.0));
  let slope = select(0.0, -advantage * rho, abs(d) <= 20.0);
  let free = -advantage * rho;
  let clipped = -advantage * clamp(rho, 1.0 - knobs.clip_low, 1.0 + knobs.clip_high);
  var out = vec4f(free, slope, 0.0, 0.0);
  if (clipped > free) { out = vec4f(clipped, 0.0, 1.0, 0.0); }
  let cap = -advantage * knobs.dual_clip;
  if (advantage < 0.0 && knobs.dual_clip > 0.0 && out.x > cap) { out = vec4f(cap, 0.0, out.z, 1.0); }
  return out;
}

fn divergence(new_logprob: f32, ref_logprob: f32) -> vec2f {
  let delta = clamp(new_logprob - ref_logprob, -20.0, 20.0);
  let inside = f32(abs(new_logprob - ref_logprob) <= 20.0);
  if (knobs.kl_estimator == 1.0) { return vec2f(delta, inside); }
  if (knobs.kl_estimator == 2.0) { return vec2f(0.5 * delta * delta, inside * delta); }
  let e = exp(-delta);
  return vec2f(e - 1.0 + delta, inside * (1.0 - e));
}

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= shape.M) { return; }
  let row = rows[id.x];
  if (row == 0xffffffffu) { return; }
  let all = shape.B * shape.T;
  var policy = 0.0;
  var entropy = 0.0;
  var kl = 0.0;
  var clips = vec2f();
  var drift = 0.0;
  var tokens = 0.0;
  for (var t = 0u; t < shape.T; t++) {
    let at = row * shape.T + t;
    let mean = weights[all + at];
    let regular = weights[3u * all + at];
    var own = 0.0;
    var g = 0.0;
    if (mean > 0.0) {
      let l = surrogate(credit[at], scores[at], old_scores[at]);
      policy += weights[at] * l.x;
      own = weights[at] * l.y;
      g = own;
      clips += mean * l.zw;
      drift += mean * clamp(old_scores[at] - scores[at], -20.0, 20.0);
      tokens += 1.0;
    }
    if (regular > 0.0) {
      let w = weights[2u * all + at];
      let k = divergence(scores[at], ref_scores[at]);
      kl += w * k.x;
      if (knobs.kl_coef != 0.0) { g += knobs.kl_coef * w * k.y; }
      entropy += regular * scores[all + at];
    }
    coefficients[at] = g;
    coefficients[all + at] = own;
    coefficients[2u * all + at] = -knobs.entropy_coef * regular;
  }
  let s = row * 8u;
  stats[s] = policy;
  stats[s + 1u] = entropy;
  stats[s + 2u] = kl;
  stats[s + 3u] = clips.x;
  stats[s + 4u] = clips.y;
  stats[s + 5u] = drift;
  stats[s + 7u] = tokens;
}
