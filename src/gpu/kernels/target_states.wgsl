// target_states: states[i] = x[node of target start + i]: the hidden states from which the language head predicts the
//     targets
// Shapes    targets (·) of (node (0xffffffff: empty), token, state, 0); x (·,C), states (N,C), C a multiple of 4.
// Parallel  one thread per four scalars: x covers C/4, y covers N. No shared memory.
// Numerics  f32 copy; 0 for an empty target.
struct Shape { N: u32, C: u32, start: u32 }
@group(0) @binding(0) var<storage, read> targets: array<vec4u>;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> states: array<vec4f>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let quads = shape.C / 4u;
  if (id.x >= quads || id.y >= shape.N) { return; }
  let node = targets[shape.start + id.y].x;
  let there = node != 0xffffffffu;
  states[id.y * quads + id.x] = select(vec4f(), x[select(0u, node, there) * quads + id.x], there);
}
