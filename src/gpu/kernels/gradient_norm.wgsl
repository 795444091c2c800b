// gradient_norm: adds the slabs of the gradients into the first; the sum of squares of a slice of it, and where the
//     first non-finite gradient and weight stand; and the stats of each row of the minibatch, sums over its tokens
// Shapes    grads (slabs, P), weights (P) with one layout; partials (S, 4): sum of squares (f32 bits), first bad
//           gradient, first bad weight (index into the pool, 0xffffffff for none), unused;
//           minibatch (M) batch rows or 0xffffffff; coefficients (11, B, T), whose third to tenth are summed to stats
//           (B, 8), the eighth and ninth alone for a separate critic (`first` 6).
// Parallel  the 64 threads of a workgroup take turns in a stretch of 64·chunk elements, neighbours in memory for
//           neighbouring threads; after S of them one for each stat of a row. No shared memory; step_finish joins
//           slices and rows in order.
// Numerics  f32, slabs and elements in index order. Finite is judged by exponent bits of what lies in memory: x != x
//           does not find a NaN everywhere.
override LARGEST: u32 = 0x7f7fffffu; // bits of the largest weight that can be stored; of f16 where products read halves
struct Shape { P: u32, S: u32, chunk: u32, slabs: u32, M: u32, T: u32, B: u32, first: u32 }
@group(0) @binding(0) var<storage, read_write> grads: array<u32>;
@group(0) @binding(1) var<storage, read> weights: array<u32>;
@group(0) @binding(2) var<storage, read> minibatch: array<u32>;
@group(0) @binding(3) var<storage, read> coefficients: array<f32>;
@group(0) @binding(4) var<storage, read_write> partials: array<u32>;
@group(0) @binding(5) var<storage, read_write> stats: array<f32>;
@group(0) @binding(6) var<uniform> shape: Shape;

fn bad(bits: u32) -> bool { return (bits & 0x7f800000u) == 0x7f800000u; }

fn sum_tokens(row: u32, stat: u32) {
  if (row == 0xffffffffu || stat < shape.first) { return; }
  let start = ((2u + stat) * shape.B + row) * shape.T;
  var sum = 0.0;
  for (var t = 0u; t < shape.T; t++) { sum += coefficients[start + t]; }
  stats[row * 8u + stat] = sum;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let s = id.x;
  if (s >= shape.S) {
    let i = s - shape.S;
    if (i < 8u * shape.M) { sum_tokens(minibatch[i / 8u], i % 8u); }
    return;
  }
  var sum = 0.0;
  var bad_gradient = 0xffffffffu;
  var bad_weight = 0xffffffffu;
  let first = s / 64u * 64u * shape.chunk + s % 64u;
  for (var i = first; i < min(first + 64u * shape.chunk, shape.P); i += 64u) {
    var bits = grads[i];
    var finite = !bad(bits);
    if (shape.slabs > 1u) {
      var g = bitcast<f32>(bits);
      for (var slab = 1u; slab < shape.slabs; slab++) {
        let more = grads[slab * shape.P + i];
        finite = finite && !bad(more);
        g += bitcast<f32>(more);
      }
      bits = bitcast<u32>(g);
      grads[i] = bits;
    }
    if (!finite || bad(bits)) { bad_gradient = min(bad_gradient, i); }
    if ((weights[i] & 0x7fffffffu) > LARGEST) { bad_weight = min(bad_weight, i); }
    sum += bitcast<f32>(bits) * bitcast<f32>(bits);
  }
  partials[s * 4u] = bitcast<u32>(sum);
  partials[s * 4u + 1u] = bad_gradient;
  partials[s * 4u + 2u] = bad_weight;
}
