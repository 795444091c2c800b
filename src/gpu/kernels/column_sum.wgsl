// column_sum: out[i,c] += sum_n x[i,n,c]: the bias gradients of all layers at once
// Shapes    x (I, N·C padded to `slot`); out (I, C padded to `pitch`), in partial gradients that are `slab` scalars
//           apart.
// Parallel  one thread per (i,c) and part of `chunk` n: x covers C, y covers I, z covers parts. Each sums over its n in
//           order and adds to the partial gradient of its part. No shared memory.
// Numerics  f32 sums in index order.
struct Shape { I: u32, N: u32, C: u32, slot: u32, pitch: u32, chunk: u32, slab: u32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c = id.x;
  let i = id.y;
  if (c >= shape.C || i >= shape.I) { return; }
  var sum = 0.0;
  for (var n = id.z * shape.chunk; n < min((id.z + 1u) * shape.chunk, shape.N); n++) {
    sum += x[i * shape.slot + n * shape.C + c];
  }
  out[id.z * shape.slab + i * shape.pitch + c] += sum;
}
