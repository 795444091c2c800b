// embedding_backward: dtable[v,c] += sum over n with token(n) = v of dx[n,c]
// Shapes    record (B,T) packed token | role << 16 | state << 24; rows (M); dx (N,C), N = M·T; dtable (V,C).
// Parallel  one thread per four elements of a row of dtable gathers over all n in order: no atomics, the same bits
//           every time.
// Numerics  f32 sums in index order. Rows of none are left out.
struct Shape { N: u32, C: u32, V: u32, T: u32 }
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> dx: array<f32>;
@group(0) @binding(3) var<storage, read_write> dtable: array<f32>;
@group(0) @binding(4) var<uniform> shape: Shape;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c = id.x * 4u;
  let v = id.y;
  if (c >= shape.C || v >= shape.V) { return; }
  let lane = min(vec4u(c) + vec4u(0, 1, 2, 3), vec4u(shape.C - 1u));
  var sum = vec4f();
  for (var m = 0u; m < shape.N / shape.T; m++) {
    let row = rows[m];
    if (row == 0xffffffffu) { continue; }
    for (var t = 0u; t < shape.T; t++) {
      if ((record[row * shape.T + t] & 0xffffu) != v) { continue; }
      let at = lane + (m * shape.T + t) * shape.C;
      sum += vec4f(dx[at.x], dx[at.y], dx[at.z], dx[at.w]);
    }
  }
  for (var d = 0u; d < min(4u, shape.C - c); d++) { dtable[v * shape.C + c + d] += sum[d]; }
}
