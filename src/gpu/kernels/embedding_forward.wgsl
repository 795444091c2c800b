// embedding_forward: x[n,c] = table[token(n), c], n = (m,t): token t of batch row rows[m]
// Shapes    record (B,T) packed token | role << 16 | state << 24; rows (M) batch row or 0xffffffff for none; table
//           (V,C); x (N,C), N = M·T.
// Parallel  one thread per element of x: x walks C, y walks N. No shared memory.
// Numerics  f32 copy. A row of none is embedded as token 0; nothing downstream counts it.
struct Shape { N: u32, C: u32, T: u32 }
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> table: array<f32>;
@group(0) @binding(3) var<storage, read_write> x: array<f32>;
@group(0) @binding(4) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c = id.x;
  let n = id.y + id.z * 65532u;
  if (c >= shape.C || n >= shape.N) { return; }
  let row = rows[n / shape.T];
  var token = 0u;
  if (row != 0xffffffffu) { token = record[row * shape.T + n % shape.T] & 0xffffu; }
  x[n * shape.C + c] = table[token * shape.C + c];
}
