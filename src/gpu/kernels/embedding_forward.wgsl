// embedding_forward: x[n,c] = table[token(n), c], n = (m,t): token t of batch row rows[m]
// Shapes    record (B,T), packed as token | role << 16 | state << 24; rows: batch rows, 0xffffffff: no row; table
//           (V,C); x (N,C).
// Parallel  several threads share a row of x: of 16·⌈C/128⌉ threads, each takes about eight elements, that many apart.
//           x covers C/8, y covers N. No shared memory.
// Numerics  f32 copy. Without a batch row token 0 is embedded; nothing reads the result.
alias Weight = f32; // or f16
struct Shape { N: u32, C: u32, T: u32 }
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> table: array<Weight>;
@group(0) @binding(3) var<storage, read_write> x: array<f32>;
@group(0) @binding(4) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let n = id.y + id.z * 65532u;
  if (n >= shape.N) { return; }
  let row = rows[n / shape.T];
  var token = 0u;
  if (row != 0xffffffffu) { token = record[row * shape.T + n % shape.T] & 0xffffu; }
  for (var c = id.x; c < shape.C; c += groups.x * 16u) { x[n * shape.C + c] = f32(table[token * shape.C + c]); }
}
