// value_head: v = hidden(t)·weight + bias, the value of the state before token t + 1
// Shapes    hidden (M·T, C); weight (C); bias (1); record (B,T); rows (M); values (B,T), 0 at index 0 and at padding.
// Parallel  one thread per (m,t), which writes the value at index t + 1 of its row; the last position writes index 0.
//           No shared memory.
// Numerics  f32, sum in index order.
alias Kept = f32; // or f16
alias Weight = f32; // or f16
struct Shape { N: u32, C: u32, T: u32 }
@group(0) @binding(0) var<storage, read> hidden: array<Kept>;
@group(0) @binding(1) var<storage, read> weight: array<Weight>;
@group(0) @binding(2) var<storage, read> bias: array<Weight>;
@group(0) @binding(3) var<storage, read> record: array<u32>;
@group(0) @binding(4) var<storage, read> rows: array<u32>;
@group(0) @binding(5) var<storage, read_write> values: array<f32>;
@group(0) @binding(6) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x + id.y * 4194240u;
  if (n >= shape.N) { return; }
  let row = rows[n / shape.T];
  if (row == 0xffffffffu) { return; }
  let t = (n + 1u) % shape.T;
  let at = row * shape.T + t;
  var value = 0.0;
  if (t > 0u && ((record[at] >> 16u) & 3u) != 0u) {
    value = f32(bias[0]);
    for (var c = 0u; c < shape.C; c++) { value += f32(hidden[n * shape.C + c]) * f32(weight[c]); }
  }
  values[at] = value;
}
