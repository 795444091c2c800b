// aggregation_weights: w_t of the policy loss for each token of a minibatch; loss = sum_t w_t·l_t
//     token-mean m/N;  seq-mean-token-sum m/R;  seq-mean-token-mean m/(R·n_i)      (rl: DAPO, -, GRPO)
//     N tokens in the loss mask, R rows with at least one, n_i those of row i; all over the whole optimizer step
// Shapes    minibatch (M) batch rows or 0xffffffff; masks (2, B, T): loss, value; weights (3, B, T): policy loss,
//           token mean,
//           value mean (m_value / N_value).
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

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= shape.M) { return; }
  let mine = minibatch[id.x];
  if (mine == 0xffffffffu) { return; }
  let all = shape.B * shape.T;
  var tokens = 0.0;
  var sequences = 0.0;
  var valued = 0.0;
  var own = 0.0;
  for (var i = 0u; i < shape.M; i++) {
    let row = minibatch[i];
    if (row == 0xffffffffu) { continue; }
    var count = 0.0;
    for (var t = 0u; t < shape.T; t++) {
      count += masks[row * shape.T + t];
      valued += masks[all + row * shape.T + t];
    }
    tokens += count;
    sequences += f32(count > 0.0);
    if (i == id.x) { own = count; }
  }
  var each = 1.0 / max(tokens, 1.0);
  if (knobs.aggregation == 1.0) { each = 1.0 / max(sequences, 1.0); }
  if (knobs.aggregation == 2.0) { each = 1.0 / max(sequences * own, 1.0); }
  for (var t = 0u; t < shape.T; t++) {
    let at = mine * shape.T + t;
    weights[at] = masks[at] * each;
    weights[all + at] = masks[at] / max(tokens, 1.0);
    weights[2u * all + at] = masks[all + at] / max(valued, 1.0);
  }
}
