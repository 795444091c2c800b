// computes rows of a merged matrix from the rows of a packed one and its adapter; another piece binds b
override SCALE: f32 = 1.0; // alpha / rank
struct Shape { C: u32, R: u32, first: u32, at: u32, base_at: u32, rank: u32, a_at: u32, b_at: u32 }
@group(0) @binding(0) var<storage, read> adapters: array<f32>;
@group(0) @binding(2) var<storage, read_write> merged: array<vec4f>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let quads = shape.C / 4u;
  let row = id.y + id.z * 65532u;
  if (id.x >= quads || row >= shape.R) { return; }
  var sum = vec4f();
  for (var r = 0u; r < shape.rank; r++) {
    let a = shape.a_at + r * shape.C + 4u * id.x;
    let factor = adapters[shape.b_at + (shape.first + row) * shape.rank + r];
    sum += factor * vec4f(adapters[a], adapters[a + 1u], adapters[a + 2u], adapters[a + 3u]);
  }
  merged[(shape.at + row) * quads + id.x] = quad_of_b((shape.base_at + row) * quads + id.x) + SCALE * sum;
}
