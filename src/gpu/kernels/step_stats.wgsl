// step_stats: the statistics of a step, sums over the tokens of its minibatch: policy loss, entropy, KL, clip fraction,
//     dual-clip fraction, old − new, value loss, tokens
// Shapes    minibatch (M) batch row or 0xffffffff for none; coefficients (12, B, T) of objective, whose third to tenth
//           tables are the summands in that order; stats (8), 0 below `first`: a critic alone has the last two.
// Parallel  a workgroup for each; its 64 threads take turns and leave their sums in shared memory behind a barrier;
//           there thread 0 adds them in order.
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
