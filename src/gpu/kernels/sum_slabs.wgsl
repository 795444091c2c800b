// sum_slabs: adds all partial gradients (slabs) into the first one: grads[0,i] = Σ_s grads[s,i]
// Shapes    grads (slabs, P).
// Parallel  one thread per scalar; y continues x past 65,535 workgroups. No shared memory.
// Numerics  f32, partial gradients in order, so the bits are always the same.
struct Shape { P: u32, slabs: u32 }
@group(0) @binding(0) var<storage, read_write> grads: array<f32>;
@group(0) @binding(1) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x + id.y * 4194240u;
  if (i >= shape.P) { return; }
  var sum = grads[i];
  for (var slab = 1u; slab < shape.slabs; slab++) { sum += grads[slab * shape.P + i]; }
  grads[i] = sum;
}
