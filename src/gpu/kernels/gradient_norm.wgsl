// gradient_norm: sum of squares of a slice of the gradients, and where the first non-finite gradient and weight stand
// Shapes    grads, weights (P) with one layout; partials (S, 4): sum of squares (f32 bits), first bad gradient,
//           first bad
//           weight (index into the pool, 0xffffffff for none), unused.
// Parallel  one thread per slice of `chunk` elements. No shared memory; step_finish joins the slices in order.
// Numerics  f32 in index order. Finite is judged by exponent bits of what lies in memory: x != x does not find a NaN
//           everywhere.
struct Shape { P: u32, S: u32, chunk: u32 }
@group(0) @binding(0) var<storage, read> grads: array<u32>;
@group(0) @binding(1) var<storage, read> weights: array<u32>;
@group(0) @binding(2) var<storage, read_write> partials: array<u32>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let s = id.x;
  if (s >= shape.S) { return; }
  var sum = 0.0;
  var bad_gradient = 0xffffffffu;
  var bad_weight = 0xffffffffu;
  for (var i = s * shape.chunk; i < min((s + 1u) * shape.chunk, shape.P); i++) {
    let g = grads[i];
    if ((g & 0x7f800000u) == 0x7f800000u) { bad_gradient = min(bad_gradient, i); }
    if ((weights[i] & 0x7f800000u) == 0x7f800000u) { bad_weight = min(bad_weight, i); }
    sum += bitcast<f32>(g) * bitcast<f32>(g);
  }
  partials[s * 4u] = bitcast<u32>(sum);
  partials[s * 4u + 1u] = bad_gradient;
  partials[s * 4u + 2u] = bad_weight;
}
