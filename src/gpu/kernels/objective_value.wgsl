// objective_value: ½·max((v − R)², (clip(v, v_old ± valueClip) − R)²) over the value mask, and its gradient (PPO, verl)
// Shapes    rows (M); values, old_values (B,T); credit (2, B, T): advantage, return; weights (5, B, T), the fifth
//           the value mean; dvalues (B,T), with valueCoef inside; stats (B, 8), of which the value loss and, for a
//           critic on its own, the token count are written.
// Parallel  one thread per row walks its tokens in order. No shared memory.
// Numerics  f32; masked tokens are skipped, not multiplied by 0. Where the clipped error is the larger, the gradient
//           is 0.
override ALONE: u32 = 0; // 1: a separate critic, whose stats count value tokens
struct Shape { M: u32, T: u32, B: u32 }
struct Knobs {
  temperature: f32, aggregation: f32, plain: f32, clip_low: f32, clip_high: f32, dual_clip: f32,
  kl_estimator: f32, kl_coef: f32, entropy_coef: f32, value_coef: f32, value_clip: f32,
}
@group(0) @binding(0) var<storage, read> rows: array<u32>;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read> old_values: array<f32>;
@group(0) @binding(3) var<storage, read> credit: array<f32>;
@group(0) @binding(4) var<storage, read> weights: array<f32>;
@group(0) @binding(5) var<storage, read_write> dvalues: array<f32>;
@group(0) @binding(6) var<storage, read_write> stats: array<f32>;
@group(0) @binding(7) var<uniform> knobs: Knobs;
@group(0) @binding(8) var<uniform> shape: Shape;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= shape.M) { return; }
  let row = rows[id.x];
  if (row == 0xffffffffu) { return; }
  let all = shape.B * shape.T;
  var loss = 0.0;
  var tokens = 0.0;
  for (var t = 0u; t < shape.T; t++) {
    let at = row * shape.T + t;
    let w = weights[4u * all + at];
    var g = 0.0;
    if (w > 0.0) {
      let free = values[at] - credit[all + at];
      let kept = clamp(values[at], old_values[at] - knobs.value_clip, old_values[at] + knobs.value_clip);
      let near = kept - credit[all + at];
      if (free * free >= near * near) {
        loss += 0.5 * w * free * free;
        g = w * free;
      } else {
        loss += 0.5 * w * near * near;
      }
      tokens += 1.0;
    }
    dvalues[at] = knobs.value_coef * g;
  }
  stats[row * 8u + 6u] = loss;
  if (ALONE == 1u) { stats[row * 8u + 7u] = tokens; }
}
