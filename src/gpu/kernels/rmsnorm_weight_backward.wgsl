// rmsnorm_weight_backward: dweight[i,c] += sum_n dy[i,n,c]·xhat[i,n,c] for all norms i of the model at once
// Shapes    dy, xhat (I, N·C padded to `slot`); dweight (I, C padded to `pitch`), in partial gradients that are `slab`
//           scalars apart.
// Parallel  one thread per (i,c) and part of `chunk` n: x covers C, y covers I, z covers parts. Each sums over its n in
//           order and adds to the partial gradient of its part. No shared memory.
// Numerics  f32 sums in index order.
alias Kept = f32; // or f16
struct Shape { I: u32, N: u32, C: u32, slot: u32, pitch: u32, chunk: u32, slab: u32 }
@group(0) @binding(0) var<storage, read> dy: array<f32>;
@group(0) @binding(1) var<storage, read> xhat: array<Kept>;
@group(0) @binding(2) var<storage, read_write> dweight: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c = id.x;
  let i = id.y;
  if (c >= shape.C || i >= shape.I) { return; }
  var sum = 0.0;
  for (var n = id.z * shape.chunk; n < min((id.z + 1u) * shape.chunk, shape.N); n++) {
    let at = i * shape.slot + n * shape.C + c;
    sum += dy[at] * f32(xhat[at]);
  }
  dweight[id.z * shape.slab + i * shape.pitch + c] += sum;
}
