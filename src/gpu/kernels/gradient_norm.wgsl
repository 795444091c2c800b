// gradient_norm: sums of the squared gradients, and the position of the first non-finite weight or gradient
// Shapes    grads, weights (P), with one layout; sums (2, groups): sums of squares (f32 bits), then the culprit of each
//           group: the index of the first bad weight, else GRADIENT + the index of the first bad gradient, else
//           0xffffffff. adamw combines them.
// Parallel  one workgroup per stretch of 64·chunk elements; each of its 64 threads takes every 64th element, so
//           neighbouring threads read neighbouring memory. They leave their sums in shared memory, and after a barrier
//           thread 0 adds them up in order.
// Numerics  f32. Whether a number is finite is judged by the exponent bits in memory, because x != x does not find a
//           NaN on every adapter.
const GRADIENT = 0x80000000u; // added to the index of a gradient, so that weights come first
override LARGEST: u32 = 0x7f7fffffu; // bits of the largest weight that can be stored: of f16 if products read f16
struct Shape { P: u32, groups: u32, chunk: u32 }
@group(0) @binding(0) var<storage, read> grads: array<u32>;
@group(0) @binding(1) var<storage, read> weights: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;
@group(0) @binding(3) var<uniform> shape: Shape;
var<workgroup> sum_of: array<f32, 64>;
var<workgroup> culprit_of: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let first = 64u * shape.chunk * group.x;
  var sum = 0.0;
  var culprit = 0xffffffffu;
  for (var i = first + lane; i < min(first + 64u * shape.chunk, shape.P); i += 64u) {
    let bits = grads[i];
    let heavy = (weights[i] & 0x7fffffffu) > LARGEST;
    let stray = (bits & 0x7f800000u) == 0x7f800000u;
    culprit = min(culprit, select(select(0xffffffffu, GRADIENT | i, stray), i, heavy));
    sum += bitcast<f32>(bits) * bitcast<f32>(bits);
  }
  sum_of[lane] = sum;
  culprit_of[lane] = culprit;
  workgroupBarrier();
  if (lane > 0u) { return; }
  for (var i = 1u; i < 64u; i++) {
    sum += sum_of[i];
    culprit = min(culprit, culprit_of[i]);
  }
  sums[group.x] = bitcast<u32>(sum);
  sums[shape.groups + group.x] = culprit;
}
