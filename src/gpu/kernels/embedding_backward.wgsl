// embedding_backward: dtable[v,c] += sum over n with token(n) = v of dx[n,c]
// Shapes    record (B,T) packed token | role << 16 | state << 24; rows (M); dx (N,C), N = M·T; dtable (V,C).
// Parallel  one thread per element of dtable gathers over all n in order: no atomics, so the same bits every time.
// Numerics  f32 sums in index order. Rows of none are left out.
struct Shape { N: u32, C: u32, V: u32, T: u32 }
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> dx: array<f32>;
@group(0) @binding(3) var<storage, read_write> dtable: array<f32>;
@group(0) @binding(4) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c = id.x;
  let v = id.y;
  if (c >= shape.C || v >= shape.V) { return; }
  var sum = 0.0;
  for (var m = 0u; m < shape.N / shape.T; m++) {
    let row = rows[m];
    if (row == 0xffffffffu) { continue; }
    for (var t = 0u; t < shape.T; t++) {
      if ((record[row * shape.T + t] & 0xffffu) == v) { sum += dx[(m * shape.T + t) * shape.C + c]; }
    }
  }
  dtable[v * shape.C + c] += sum;
}
