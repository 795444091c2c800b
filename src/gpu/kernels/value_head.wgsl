// value_head: v = hidden(n)·weight + bias, the value of the state before each token after node n
// Shapes    hidden (N,C); weight (C); bias (1); targets (M) of (node, (B,T) index of the token), 0xffffffff: none;
//           values (B,T).
// Parallel  one thread per target. No shared memory.
// Numerics  f32, sum in index order.
alias Kept = f32; // or f16
alias Weight = f32; // or f16
struct Shape { M: u32, C: u32 }
@group(0) @binding(0) var<storage, read> hidden: array<Kept>;
@group(0) @binding(1) var<storage, read> weight: array<Weight>;
@group(0) @binding(2) var<storage, read> bias: array<Weight>;
@group(0) @binding(3) var<storage, read> targets: array<vec2u>;
@group(0) @binding(4) var<storage, read_write> values: array<f32>;
@group(0) @binding(5) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let m = id.x + id.y * 4194240u;
  if (m >= shape.M) { return; }
  let found = targets[m];
  if (found.x == 0xffffffffu) { return; }
  var value = f32(bias[0]);
  for (var c = 0u; c < shape.C; c++) { value += f32(hidden[found.x * shape.C + c]) * f32(weight[c]); }
  values[found.y] = value;
}
