// decode_append: appends the keys and values of all seats to the cache, each at its row's position
// Shapes    qkv (N,W), W = (H + 2·G)·D, rotated; seats (·,P): positions, then rows (0xffffffff: empty); cache
//           (2, B, T, G·D).
// Parallel  one thread per scalar of a key, which also copies the scalar of the value: x covers G·D, y covers N. No
//           shared memory.
// Numerics  a copy.
alias Kept = f32; // or f16
struct Shape { N: u32, P: u32, B: u32, T: u32, Q: u32, E: u32 } // Q = H·D, E = G·D
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> seats: array<u32>;
@group(0) @binding(2) var<storage, read_write> cache: array<Kept>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let e = id.x;
  let n = id.y + id.z * 65532u;
  if (e >= shape.E || n >= shape.N || seats[shape.P + n] == 0xffffffffu) { return; }
  let source = n * (shape.Q + 2u * shape.E) + shape.Q + e;
  let place = (seats[shape.P + n] * shape.T + seats[n]) * shape.E + e;
  cache[place] = qkv[source];
  cache[shape.B * shape.T * shape.E + place] = qkv[source + shape.E];
}
