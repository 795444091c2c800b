// value_head: v = hidden(t)·weight + bias, the value of the state before token t + 1. Of a learner also its loss
//     ½·w·max((v − R)², (clip(v, v_old ± valueClip) − R)²) and that one's gradient (PPO, arXiv 1707.06347; verl)
// Shapes    hidden (M·T, C); weight (C); bias (1); record (B,T); rows (M); old_values (B,T); targets: credit (2, B, T),
//           of which the return R is read, and at weights_at weights (5, B, T), of which the value's w;
//           out: values (B,T), 0 at index 0 and pads; of a learner (11, B, T), of which the summands of the value loss,
//           those of the token count for a critic `alone`, and dvalue with valueCoef inside are written.
// Parallel  one thread per (m,t), the last position for token 0, that nothing precedes. No shared memory.
// Numerics  f32, sum in index order. Masked tokens are skipped, not multiplied by 0. Where the clipped error is the
//           larger, the gradient is 0.
alias Kept = f32; // or f16
alias Weight = f32; // or f16
struct Shape { N: u32, C: u32, T: u32, B: u32, learns: u32, alone: u32, weights_at: u32 }
struct Knobs {
  temperature: f32, aggregation: f32, plain: f32, clip_low: f32, clip_high: f32, dual_clip: f32,
  kl_estimator: f32, kl_coef: f32, entropy_coef: f32, value_coef: f32, value_clip: f32,
}
@group(0) @binding(0) var<storage, read> hidden: array<Kept>;
@group(0) @binding(1) var<storage, read> weight: array<Weight>;
@group(0) @binding(2) var<storage, read> bias: array<Weight>;
@group(0) @binding(3) var<storage, read> record: array<u32>;
@group(0) @binding(4) var<storage, read> rows: array<u32>;
@group(0) @binding(5) var<storage, read> old_values: array<f32>;
@group(0) @binding(6) var<storage, read> targets: array<f32>;
@group(0) @binding(7) var<storage, read_write> out: array<f32>;
@group(0) @binding(8) var<uniform> knobs: Knobs;
@group(0) @binding(9) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x + id.y * 4194240u;
  if (n >= shape.N) { return; }
  let row = rows[n / shape.T];
  if (row == 0xffffffffu) { return; }
  let t = (n + 1u) % shape.T;
  let at = row * shape.T + t;
  let all = shape.B * shape.T;
  var value = 0.0;
  if (t > 0u && ((record[at] >> 16u) & 3u) != 0u) {
    value = f32(bias[0]);
    for (var c = 0u; c < shape.C; c++) { value += f32(hidden[n * shape.C + c]) * f32(weight[c]); }
  }
  if (shape.learns == 0u) {
    out[at] = value;
    return;
  }
  let w = targets[shape.weights_at + 4u * all + at];
  var loss = 0.0;
  var g = 0.0;
  if (w > 0.0) {
    let free = value - targets[all + at];
    let near = clamp(value, old_values[at] - knobs.value_clip, old_values[at] + knobs.value_clip) - targets[all + at];
    let larger = select(near, free, free * free >= near * near);
    loss = 0.5 * w * larger * larger;
    g = select(0.0, w * free, free * free >= near * near);
  }
  out[8u * all + at] = loss;
  out[10u * all + at] = knobs.value_coef * g;
  if (shape.alone == 1u) { out[9u * all + at] = f32(w > 0.0); }
}
