// step_stats: the statistics of a step, which are sums over the tokens of its minibatch: policy loss, entropy, KL, clip
//     fraction, dual-clip fraction, old − new, observation loss, KL to the teacher, value loss,
//     tokens
// Shapes    minibatch (M): batch rows, 0xffffffff: no row; coefficients (15, B, T) of objective, whose third to
//           twelfth tables are the summands, in the order above; stats (10), 0 below the index `first`, because a separate
//           critic only has the last two.
// Parallel  one workgroup per statistic; each of its 64 threads takes every 64th token. They leave their sums in shared
//           memory, and after a barrier thread 0 adds them up in order.
// Numerics  f32, in that order.
struct Shape { M: u32, T: u32, B: u32, first: u32 }
@group(0) @binding(0) var<storage, read> minibatch: array<u32>;
@group(0) @binding(1) var<storage, read> coefficients: array<f32>;
@group(0) @binding(2) var<storage, read_write> stats: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;
var<workgroup> sum_of: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let stat = group.x;
  var sum = 0.0;
  for (var i = lane; i < select(0u, shape.M * shape.T, stat >= shape.first); i += 64u) {
    let row = minibatch[i / shape.T];
    if (row != 0xffffffffu) { sum += coefficients[((2u + stat) * shape.B + row) * shape.T + i % shape.T]; }
  }
  sum_of[lane] = sum;
  workgroupBarrier();
  if (lane > 0u) { return; }
  for (var i = 1u; i < 64u; i++) { sum += sum_of[i]; }
  stats[stat] = sum;
}
