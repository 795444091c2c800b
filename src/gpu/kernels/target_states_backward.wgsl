// target_states_backward: dx[node of target start + i] += dstates[i], i < N. Several targets may have the same node
// Shapes    targets (·) of (node (0xffffffff: empty), token, state, 0); dstates (N,C), dx (·,C), C a multiple of 4.
// Parallel  one thread per four columns, which takes the targets one after the other. No shared memory.
// Numerics  f32; targets in order, so the bits are always the same.
struct Shape { N: u32, C: u32, start: u32 }
@group(0) @binding(0) var<storage, read> targets: array<vec4u>;
@group(0) @binding(1) var<storage, read> dstates: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> dx: array<vec4f>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let quads = shape.C / 4u;
  if (id.x >= quads) { return; }
  for (var i = 0u; i < shape.N; i++) {
    let node = targets[shape.start + i].x;
    if (node == 0xffffffffu) { continue; }
    dx[node * quads + id.x] += dstates[i * quads + id.x];
  }
}
