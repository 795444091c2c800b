// likeliest_tokens: the `count` likeliest tokens of each row of logits, with log softmax(logits) of each; likeliest
//     first, the lower id on a tie
// Shapes    logits (N,V); found (·, 2·M): ids, then log-probabilities (f32 bits); count at most M.
// Parallel  one workgroup of 256 threads per row. It goes over the row once per token, to find the first one after the
//           last found.
// Numerics  f32; sums in a fixed order.
struct Shape { N: u32, V: u32, M: u32 }
@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read_write> found: array<u32>;
@group(0) @binding(2) var<uniform> settings: Sampling;
@group(0) @binding(3) var<uniform> shape: Shape;
//! piece logits_row
//! piece sampling

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let n = min(group.x, max(shape.N, 1u) - 1u);
  let row = n * shape.V;
  var last = next_of(thread, row, shape.V, vec2f(3.4e38, -1.0));
  let top = last.x;
  let total = mass_of(thread, row, shape.V, 1.0, top);
  for (var i = 0u; i < min(settings.count, shape.M); i++) {
    if (thread == 0u && group.x < shape.N) {
      let at = n * 2u * shape.M + i;
      found[at] = u32(last.y);
      found[at + shape.M] = bitcast<u32>(last.x - top - log(total));
    }
    last = next_of(thread, row, shape.V, last);
  }
}
