// copies the table's rows for the tokens of seats. Empty seats become 0; seats whose token is in another part of the
// table are left as they are
struct Shape { N: u32, C: u32, first: u32, rows: u32 }
@group(0) @binding(0) var<storage, read> seats: array<vec4u>; // token, position, row (0xffffffff: empty), to draw
@group(0) @binding(2) var<storage, read_write> x: array<vec4f>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.y;
  let quads = shape.C / 4u;
  if (id.x >= quads || n >= shape.N) { return; }
  let seat = seats[n];
  let token = seat.x - shape.first;
  if (seat.z == 0xffffffffu) {
    x[n * quads + id.x] = vec4f();
  } else if (seat.x >= shape.first && token < shape.rows) {
    x[n * quads + id.x] = quad_of_b(token * quads + id.x);
  }
}
