// rmsnorm_weight_backward: dweight[i,c] += sum_n dy[i,n,c]·xhat[i,n,c] for every norm i of the model at once
// Shapes    dy, xhat (I, stride N·C padded to `slot`); dweight (I, C padded to `pitch`).
// Parallel  one thread per (i,c): x walks C, y walks I; each sums over n in order. No shared memory.
// Numerics  f32 sums in index order.
struct Shape { I: u32, N: u32, C: u32, slot: u32, pitch: u32 }
@group(0) @binding(0) var<storage, read> dy: array<f32>;
@group(0) @binding(1) var<storage, read> xhat: array<f32>;
@group(0) @binding(2) var<storage, read_write> dweight: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c = id.x;
  let i = id.y;
  if (c >= shape.C || i >= shape.I) { return; }
  var sum = 0.0;
  for (var n = 0u; n < shape.N; n++) {
    let at = i * shape.slot + n * shape.C + c;
    sum += dy[at] * xhat[at];
  }
  dweight[i * shape.pitch + c] += sum;
}
