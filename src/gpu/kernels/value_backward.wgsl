// value_backward: dhidden (+)= dvalue·weight; dweight += sum_n dvalue·hidden; dbias += sum_n dvalue
// Shapes    hidden, dhidden (N,C); weight (C); targets (M) of (node, (B,T) index of a token after it); starts (N + 1):
//           the targets of node n are those from starts[n] to starts[n+1] − 1; coefficients (15, B, T), of which
//           d total/dV, which begins at dvalue_at, is added up over the node's targets; grads (parts, P): the partial
//           gradients, P = `slab` scalars each, with dweight at weight_at and dbias at bias_at.
// Parallel  threads 0 … N·C − 1 own one element of dhidden each. After them, C + 1 threads for each part of `chunk` n
//           own one weight or the bias each; they sum over their n in order and add to the partial gradient of their
//           part. No shared memory.
// Numerics  f32. ACCUMULATE 1 adds to dhidden (after a language head), 0 replaces it.
override ACCUMULATE: u32 = 1;
alias Kept = f32; // or f16
alias Weight = f32; // or f16
struct Shape {
  N: u32, C: u32, dvalue_at: u32, weight_at: u32, bias_at: u32, parts: u32, chunk: u32, slab: u32,
}
@group(0) @binding(0) var<storage, read> hidden: array<Kept>;
@group(0) @binding(1) var<storage, read> weight: array<Weight>;
@group(0) @binding(2) var<storage, read> targets: array<vec2u>;
@group(0) @binding(3) var<storage, read> starts: array<u32>;
@group(0) @binding(4) var<storage, read> coefficients: array<f32>;
@group(0) @binding(5) var<storage, read_write> dhidden: array<f32>;
@group(0) @binding(6) var<storage, read_write> grads: array<f32>;
@group(0) @binding(7) var<uniform> shape: Shape;

fn dvalue(n: u32) -> f32 {
  var sum = 0.0;
  for (var i = starts[n]; i < starts[n + 1u]; i++) { sum += coefficients[shape.dvalue_at + targets[i].y]; }
  return sum;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let flat = id.x + id.y * 4194240u;
  let C = shape.C;
  if (flat < shape.N * C) {
    let g = dvalue(flat / C) * f32(weight[flat % C]);
    if (ACCUMULATE == 1u) { dhidden[flat] += g; } else { dhidden[flat] = g; }
    return;
  }
  let part = (flat - shape.N * C) / (C + 1u);
  let c = (flat - shape.N * C) % (C + 1u);
  if (part >= shape.parts) { return; }
  var sum = 0.0;
  for (var n = part * shape.chunk; n < min((part + 1u) * shape.chunk, shape.N); n++) {
    let g = dvalue(n);
    if (g != 0.0) { sum += select(g, g * f32(hidden[n * C + min(c, C - 1u)]), c < C); }
  }
  grads[part * shape.slab + select(shape.bias_at, shape.weight_at + c, c < C)] += sum;
}
