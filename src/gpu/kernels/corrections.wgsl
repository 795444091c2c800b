// corrections: the weight of each token in the policy loss, where the sampler isn't the learner. r = e^{old − behaviour} of
//     a token, or e to the sum over the agent's tokens of its row in the policy mask. Truncated (TIS): min(r, high).
//     Masked (IcePop, MIS): r where low ≤ r ≤ high, else 0. Rejected: 1, and tokens outside the limits leave the masks of
//     the losses; a row is judged by e to the mean, not to the sum. None: 1. The same as src/rl/corrections.ts.
//     Then the tokens of each row in the masks of the losses are counted, and its contexts with one.
// Shapes    record (B,T); old_scores (·, B, T), of which the log-probabilities are read; rewards (3, B, T): rewards, then
//           the first token of a token's context, as its index in the row, which is read; masks: (6, B, T) of credit_masks,
//           then (B, 4), the number of tokens of a row in each of the first four, and (B, 4), the number of its contexts
//           with one; corrections (B,T): log-probabilities of the behaviour policy on entry, weights at the end.
// Parallel  one thread per row, which goes over its tokens in order. No shared memory.
// Numerics  f32. Log-ratios are clamped to ±20 before e; the sum and the limits see them as verl does. A log-probability
//           of a token that the agent didn't draw has no effect.
struct Shape { B: u32, T: u32 }
//! piece credit_knobs
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> old_scores: array<f32>;
@group(0) @binding(2) var<storage, read> rewards: array<f32>;
@group(0) @binding(3) var<storage, read_write> masks: array<f32>;
@group(0) @binding(4) var<storage, read_write> corrections: array<f32>;
@group(0) @binding(5) var<uniform> settings: Credit;
@group(0) @binding(6) var<uniform> shape: Shape;

const CORRECTION_NONE = 0.0; const CORRECTION_TRUNCATED = 1.0; const CORRECTION_MASKED = 2.0;
const CORRECTION_REJECTED = 3.0;

fn drawn(at: u32) -> bool { return masks[at] != 0.0 && ((record[at] >> 16u) & 3u) == 2u; }

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let b = id.x;
  if (b >= shape.B) { return; }
  let all = shape.B * shape.T;
  let of_row = settings.correction_of_row == 1.0;
  let rejects = settings.correction == CORRECTION_REJECTED;
  var total = 0.0;
  var tokens = 0.0;
  if (of_row && settings.correction != CORRECTION_NONE) {
    for (var at = b * shape.T; at < (b + 1u) * shape.T; at++) {
      if (!drawn(at)) { continue; }
      let d = old_scores[at] - corrections[at];
      total += select(d, clamp(d, -20.0, 20.0), rejects);
      tokens += 1.0;
    }
    if (rejects) { total /= max(tokens, 1.0); }
  }
  for (var at = b * shape.T; at < (b + 1u) * shape.T; at++) {
    var w = 1.0;
    let corrected = settings.correction != CORRECTION_NONE && (drawn(at) || (of_row && masks[at] != 0.0));
    if (corrected) {
      var d = total;
      if (!of_row) { d = old_scores[at] - corrections[at]; }
      let r = exp(clamp(d, -20.0, 20.0));
      let inside = r >= settings.correction_low && r <= settings.correction_high;
      if (settings.correction == CORRECTION_TRUNCATED) { w = min(r, settings.correction_high); }
      if (settings.correction == CORRECTION_MASKED) { w = select(0.0, r, inside); }
      if (rejects && !inside) {
        for (var i = 0u; i < 3u; i++) { masks[i * all + at] = 0.0; }
      }
    }
    corrections[at] = w;
  }
  var counts = vec4f();
  var contexts = vec4f();
  var seen = vec4f(); // 1: the context has a token in the mask
  var start = 0.0;
  for (var at = b * shape.T; at < (b + 1u) * shape.T; at++) {
    if (rewards[all + at] != start) { seen = vec4f(); }
    start = rewards[all + at];
    let inside = vec4f(masks[at], masks[all + at], masks[2u * all + at], masks[3u * all + at]);
    counts += inside;
    contexts += inside * (1.0 - seen);
    seen = max(seen, inside);
  }
  for (var i = 0u; i < 4u; i++) {
    masks[6u * all + 4u * b + i] = counts[i];
    masks[6u * all + 4u * (shape.B + b) + i] = contexts[i];
  }
}
