// aggregation_weights: w_t of each token of a minibatch, for the policy loss over its mask and for KL over the
//     regularizer mask; loss = sum_t w_t·l_t
//     token-mean m/N;  seq-mean-token-sum m/R;  seq-mean-token-mean m/(R·n_i);  seq-mean-token-sum-norm m/(R·T)
//     (DAPO; verl; GRPO; Dr. GRPO). N tokens in the mask, R rows with at least one, n_i those of row i; all over the
//     whole optimizer step, each mask with its own
// Shapes    minibatch (M) batch rows or 0xffffffff; masks (5, B, T), of which policy, regularizer and value are read;
//           weights (5, B, T): policy loss, policy mean (m/N), KL, regularizer mean, value mean.
// Parallel  one thread per minibatch row; each counts the whole minibatch again, which is cheaper than another
//           dispatch.
// Numerics  f32 counts, exact below 2^24.
struct Shape { M: u32, T: u32, B: u32 }
@group(0) @binding(0) var<storage, read> minibatch: array<u32>;
@group(0) @binding(1) var<storage, read> masks: array<f32>;
@group(0) @binding(2) var<storage, read_write> weights: array<f32>;
@group(0) @binding(3) var<uniform> knobs: Knobs;
@group(0) @binding(4) var<uniform> shape: Shape;
struct Knobs { temperature: f32, aggregation: f32 }

fn factor(tokens: f32, sequences: f32, own: f32) -> f32 {
  if (knobs.aggregation == 1.0) { return 1.0 / max(sequences, 1.0); }
  if (knobs.aggregation == 2.0) { return 1.0 / max(sequences * own, 1.0); }
  if (knobs.aggregation == 3.0) { return 1.0 / max(sequences * f32(shape.T), 1.0); }
  return 1.0 / max(tokens, 1.0);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= shape.M) { return; }
  let mine = minibatch[id.x];
  if (mine == 0xffffffffu) { return; }
  let all = shape.B * shape.T;
  var tokens = vec3f(); // policy, regularizer, value
  var sequences = vec3f();
  var own = vec3f();
  for (var i = 0u; i < shape.M; i++) {
    let row = minibatch[i];
    if (row == 0xffffffffu) { continue; }
    var count = vec3f();
    for (var t = 0u; t < shape.T; t++) {
      let at = row * shape.T + t;
      count += vec3f(masks[at], masks[all + at], masks[2u * all + at]);
    }
    tokens += count;
    sequences += vec3f(count > vec3f());
    if (i == id.x) { own = count; }
  }
  let policy = factor(tokens.x, sequences.x, own.x);
  let regular = factor(tokens.y, sequences.y, own.y);
  let mean = 1.0 / max(tokens, vec3f(1.0));
  for (var t = 0u; t < shape.T; t++) {
    let at = mine * shape.T + t;
    weights[at] = masks[at] * policy;
    weights[all + at] = masks[at] * mean.x;
    weights[2u * all + at] = masks[all + at] * regular;
    weights[3u * all + at] = masks[all + at] * mean.y;
    weights[4u * all + at] = masks[2u * all + at] * mean.z;
  }
}
