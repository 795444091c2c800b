// decode_prefill: x[n] = table[token in seat n]; also writes forced tokens into the record
// Shapes    seats (3,P): positions, rows (0xffffffff: empty seat), words: token | role << 16, role 0 if the record has
//           the token already; record (B,T); table (V,C); x (P,C).
// Parallel  one thread per element of x: x covers C, y covers the first N seats. No shared memory.
// Numerics  f32 copy; zeros for an empty seat.
alias Weight = f32; // or f16
struct Shape { N: u32, P: u32, C: u32, T: u32 }
@group(0) @binding(0) var<storage, read> seats: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<Weight>;
@group(0) @binding(2) var<storage, read_write> record: array<u32>;
@group(0) @binding(3) var<storage, read_write> x: array<f32>;
@group(0) @binding(4) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c = id.x;
  let n = id.y + id.z * 65532u;
  if (c >= shape.C || n >= shape.N) { return; }
  let row = seats[shape.P + n];
  if (row == 0xffffffffu) {
    x[n * shape.C + c] = 0.0;
    return;
  }
  let word = seats[2u * shape.P + n];
  if (c == 0u && word >= 0x10000u) { record[row * shape.T + seats[n]] = word; }
  x[n * shape.C + c] = f32(table[(word & 0xffffu) * shape.C + c]);
}
