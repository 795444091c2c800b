// embedding_forward: x[n,c] = table[token of node n, c]
// Shapes    nodes (N): token first; table (V,C); x (N,C).
// Parallel  several threads share a row of x: of 16·⌈C/128⌉ threads, each takes about eight elements, that many apart.
//           x covers C/8, y covers N. No shared memory.
// Numerics  f32 copy.
alias Weight = f32; // or f16
struct Shape { N: u32, C: u32 }
@group(0) @binding(0) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(1) var<storage, read> table: array<Weight>;
@group(0) @binding(2) var<storage, read_write> x: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let n = id.y + id.z * 65532u;
  if (n >= shape.N) { return; }
  let token = nodes[n].x;
  for (var c = id.x; c < shape.C; c += groups.x * 16u) { x[n * shape.C + c] = f32(table[token * shape.C + c]); }
}
