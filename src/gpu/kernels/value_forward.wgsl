// value_forward: value of the state before token t + 1 = hidden(t)·weight + bias
// Shapes    hidden (M·T, C); weight (C); bias (1); record (B,T); rows (M); values (B,T), index 0 and pads are 0.
// Parallel  one thread per (m,t). No shared memory.
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
  let n = id.x;
  if (n >= shape.N) { return; }
  let row = rows[n / shape.T];
  let t = n % shape.T + 1u;
  if (row == 0xffffffffu || t >= shape.T) { return; }
  let at = row * shape.T + t;
  var sum = f32(bias[0]);
  for (var c = 0u; c < shape.C; c++) { sum += f32(hidden[n * shape.C + c]) * f32(weight[c]); }
  values[at] = select(0.0, sum, ((record[at] >> 16u) & 3u) != 0u);
}
