// score_tokens: scored[n] = log softmax(logits[n])[targets[n]]
// Shapes    logits (N,V); targets, scored (N).
// Parallel  one workgroup of 256 threads per row.
// Numerics  f32; sums in a fixed order.
struct Shape { N: u32, V: u32 }
@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> targets: array<u32>;
@group(0) @binding(2) var<storage, read_write> scored: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;
//! piece logits_row

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let n = min(group.x, max(shape.N, 1u) - 1u);
  let row = n * shape.V;
  let top = next_of(thread, row, shape.V, vec2f(3.4e38, -1.0)).x;
  let total = mass_of(thread, row, shape.V, 1.0, top);
  if (thread == 0u && group.x < shape.N) { scored[n] = logits[row + targets[n]] - top - log(total); }
}
