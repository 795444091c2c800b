// language_head: of products r_v = hidden·weight_v z_v = r_v / temperature, −1e30 where illegal; lse = log Σ_v e^{z_v};
//     new = z_y − lse; H = lse − Σ_v p_v·z_v, y the next token of the row. Of a learner also its part of the objective
//     total = Σ_t w·l + klCoef·Σ_t c·kl − entropyCoef·Σ_t e·H;  l = max(−A·rho, −A·clip(rho, 1 − low, 1 + high)), and
//     min(l, −A·dual) where A < 0 < dual, rho = e^{new − old} (PPO, arXiv 1707.06347; dual clip, arXiv 1912.09729), or
//     −A·new for the plain surrogate; of delta = new − ref k1 = delta, k2 = delta²/2, k3 = e^{−delta} − 1 + delta;
//     dr_v = (g·(1[v=y] − p_v) − h·p_v·(log p_v + H)) / temperature, g = d total/d new, h = d total/dH
// Shapes    record (B,T); grammar next (S,V) then stop (S); rows (M); old_scores, ref_scores (2, B, T): logprob,
//           entropy; targets: credit (2, B, T), of which advantage A is read, and at weights_at weights (5, B, T): w,
//           policy mean, c, e, value weight; logits (M·T, V): r, of a learner then dr; out: scores (2, B, T), or of a
//           learner (11, B, T): g, the policy loss's part of it, then what the 8 stats of adamw are sums of.
// Parallel  LANES threads per (m,t), which speaks of token t + 1 of its row, the last position of token 0; each owns
//           every LANES-th logit. What they carry meets in shared memory behind a barrier; one lane has none.
// Numerics  f32; maximum, sum and weighted sum are carried online in fixed order. Log-ratios are clamped to ±20 with
//           gradient 0 beyond. Masked tokens are skipped, not multiplied by 0; so is the gradient of KL at klCoef 0.
override LANES: u32 = 1u;
struct Shape { N: u32, V: u32, T: u32, B: u32, learns: u32, weights_at: u32 }
struct Knobs {
  temperature: f32, aggregation: f32, plain: f32, clip_low: f32, clip_high: f32, dual_clip: f32,
  kl_estimator: f32, kl_coef: f32, entropy_coef: f32,
}
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> grammar: array<i32>;
@group(0) @binding(2) var<storage, read> rows: array<u32>;
@group(0) @binding(3) var<storage, read> old_scores: array<f32>;
@group(0) @binding(4) var<storage, read> ref_scores: array<f32>;
@group(0) @binding(5) var<storage, read> targets: array<f32>;
@group(0) @binding(6) var<storage, read_write> logits: array<f32>;
@group(0) @binding(7) var<storage, read_write> out: array<f32>;
@group(0) @binding(8) var<uniform> knobs: Knobs;
@group(0) @binding(9) var<uniform> shape: Shape;
var<workgroup> part: array<vec4f, 64>; // maximum, sum, weighted sum, logit of y

// loss and its derivative with respect to the log-probability, then 1 where clipped, 1 where dual-clipped
fn surrogate(advantage: f32, new_logprob: f32, old_logprob: f32) -> vec4f {
  if (knobs.plain == 1.0) { return vec4f(-advantage * new_logprob, -advantage, 0.0, 0.0); }
  let d = new_logprob - old_logprob;
  let rho = exp(clamp(d, -20.0, 20.0));
  var l = vec4f(-advantage * rho, select(0.0, -advantage * rho, abs(d) <= 20.0), 0.0, 0.0);
  let clipped = -advantage * clamp(rho, 1.0 - knobs.clip_low, 1.0 + knobs.clip_high);
  if (clipped > l.x) { l = vec4f(clipped, 0.0, 1.0, 0.0); }
  let cap = -advantage * knobs.dual_clip;
  if (advantage < 0.0 && knobs.dual_clip > 0.0 && l.x > cap) { l = vec4f(cap, 0.0, l.z, 1.0); }
  return l;
}

fn divergence(new_logprob: f32, ref_logprob: f32) -> vec2f {
  let delta = clamp(new_logprob - ref_logprob, -20.0, 20.0);
  let inside = f32(abs(new_logprob - ref_logprob) <= 20.0);
  if (knobs.kl_estimator == 1.0) { return vec2f(delta, inside); }
  if (knobs.kl_estimator == 2.0) { return vec2f(0.5 * delta * delta, inside * delta); }
  return vec2f(exp(-delta) - 1.0 + delta, inside * (1.0 - exp(-delta)));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let n = (group.x + group.y * 65535u) * (64u / LANES) + thread / LANES;
  let lane = thread % LANES;
  let row = rows[min(n, shape.N - 1u) / shape.T];
  let here = n < shape.N && row != 0xffffffffu;
  let at = select(0u, row * shape.T + (n + 1u) % shape.T, here);
  let all = shape.B * shape.T;
  let learns = shape.learns == 1u;
  var given: array<f32, 5>; // advantage, then w, policy mean, c, e
  for (var i = 0u; i < select(0u, 5u, here && learns); i++) {
    given[i] = targets[at + select(shape.weights_at + (i - 1u) * all, 0u, i == 0u)];
  }
  let mean = given[2]; let regular = given[4];
  let word = record[at];
  let counts = here && (n + 1u) % shape.T > 0u && (word & 0x30000u) != 0u && (!learns || mean + regular > 0.0);
  let y = word & 0xffffu; let legal = (word >> 24u) * shape.V;
  var sum = vec4f(-1e30, 0.0, 0.0, 0.0);
  for (var v = lane; v < select(0u, shape.V, counts); v += LANES) {
    let z = select(logits[n * shape.V + v] / knobs.temperature, -1e30, grammar[legal + v] < 0);
    let top = max(sum.x, z);
    let shrink = exp(sum.x - top);
    let e = exp(z - top);
    sum = vec4f(top, sum.yz * shrink + vec2f(e, e * z), select(sum.w, z, v == y));
  }
  if (LANES > 1u) {
    part[thread] = sum;
    workgroupBarrier();
    sum = part[thread - lane];
    for (var i = 1u; i < LANES; i++) {
      let other = part[thread - lane + i];
      let top = max(sum.x, other.x);
      sum = vec4f(top, sum.yz * exp(sum.x - top) + other.yz * exp(other.x - top), sum.w + other.w);
    }
  }
  let lse = sum.x + log(sum.y);
  let logprob = select(0.0, sum.w - lse, counts);
  let entropy = select(0.0, lse - sum.z / sum.y, counts);
  var l = vec4f(); // policy loss, its slope, whether clipped, dual-clipped
  var k = vec4f(); // KL, its slope, entropy, old − new
  let old_logprob = old_scores[at];
  if (mean > 0.0) {
    l = vec4f(vec2f(given[1]), vec2f(mean)) * surrogate(given[0], logprob, old_logprob);
    k.w = mean * clamp(old_logprob - logprob, -20.0, 20.0);
  }
  if (regular > 0.0) { k = vec4f(given[3] * divergence(logprob, ref_scores[at]), regular * entropy, k.w); }
  let g = l.y + select(0.0, knobs.kl_coef * k.y, knobs.kl_coef != 0.0);
  let slope = g / knobs.temperature; let bend = -knobs.entropy_coef * regular / knobs.temperature;
  var parts = array(g, l.y, l.x, k.z, k.x, l.z, l.w, k.w, 0.0, f32(mean > 0.0));
  if (!learns) { parts[0] = logprob; parts[1] = entropy; }
  for (var c = 0u; c < select(2u, 10u, learns) && here && lane == 0u; c++) { out[c * all + at] = parts[c]; }
  let steep = counts && (slope != 0.0 || bend != 0.0);
  for (var v = lane; v < select(0u, shape.V, n < shape.N && learns); v += LANES) {
    let i = n * shape.V + v;
    let logp = select(logits[i] / knobs.temperature, -1e30, grammar[legal + v] < 0) - lse;
    let p = exp(logp);
    logits[i] = select(0.0, slope * (f32(v == y) - p) - bend * p * (logp + entropy), steep);
  }
}
