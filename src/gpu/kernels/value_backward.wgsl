// value_backward: dhidden (+)= dvalue·weight; dweight += sum_n dvalue·hidden; dbias += sum_n dvalue
// Shapes    hidden, dhidden (M·T, C); weight (C); rows (M); dvalues (B,T) of token t + 1;
//           grads (P), the gradient pool, with dweight at weight_at and dbias at bias_at.
// Parallel  threads 0 … N·C − 1 own one element of dhidden; the C + 1 after them own one weight (or the bias) each and
//           sum over n in order. No shared memory.
// Numerics  f32. ACCUMULATE 1 adds to dhidden (after a language head), 0 replaces it.
override ACCUMULATE: u32 = 1;
struct Shape { N: u32, C: u32, T: u32, weight_at: u32, bias_at: u32 }
@group(0) @binding(0) var<storage, read> hidden: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> rows: array<u32>;
@group(0) @binding(3) var<storage, read> dvalues: array<f32>;
@group(0) @binding(4) var<storage, read_write> dhidden: array<f32>;
@group(0) @binding(5) var<storage, read_write> grads: array<f32>;
@group(0) @binding(6) var<uniform> shape: Shape;

fn dvalue(n: u32) -> f32 {
  let row = rows[n / shape.T];
  let t = n % shape.T + 1u;
  if (row == 0xffffffffu || t >= shape.T) { return 0.0; }
  return dvalues[row * shape.T + t];
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let flat = id.x + id.y * 4194240u;
  let C = shape.C;
  if (flat < shape.N * C) {
    let g = dvalue(flat / C) * weight[flat % C];
    if (ACCUMULATE == 1u) { dhidden[flat] += g; } else { dhidden[flat] = g; }
    return;
  }
  let c = flat - shape.N * C;
  if (c > C) { return; }
  var sum = 0.0;
  for (var n = 0u; n < shape.N; n++) {
    let g = dvalue(n);
    if (g != 0.0) { sum += select(g, g * hidden[n * C + min(c, C - 1u)], c < C); }
  }
  grads[select(shape.bias_at, shape.weight_at + c, c < C)] += sum;
}
