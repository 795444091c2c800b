// embedding_forward: x[n,c] = table[token(n), c], n = (m,t): token t of batch row rows[m]; for the backward pass also
//     where each token stands, so that it need not look for it
// Shapes    record (B,T) packed token | role << 16 | state << 24; rows (M) batch row or 0xffffffff for none; table
//           (V,C); x (N,C), N = M·T. places: for each span of `span` n, those n sorted by token, in (N); after that
//           (N / span rounded up, V + 1): where in it the n of token v begin, and for v = V where those of V − 1 end.
//           Rows of none stand nowhere.
// Parallel  one thread per element of x: x walks C, y walks N; the rows after N are one thread per span and v, which
//           counts the span's tokens below v and then lists those that are v. V 0: no places. No shared memory.
// Numerics  f32 copy. A row of none is embedded as token 0; nothing downstream counts it.
alias Weight = f32; // or f16
struct Shape { N: u32, C: u32, T: u32, V: u32, span: u32 }
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> table: array<Weight>;
@group(0) @binding(3) var<storage, read_write> x: array<f32>;
@group(0) @binding(4) var<storage, read_write> places: array<u32>;
@group(0) @binding(5) var<uniform> shape: Shape;

// Passes over tokens first … end − 1: `start` plus how many are below v or, with `list`, are v, whose n go to places.
fn pass_over(first: u32, end: u32, v: u32, start: u32, list: bool) -> u32 {
  var at = start;
  var n = first;
  while (n < end) {
    let row = rows[n / shape.T];
    let t = n % shape.T;
    let steps = min(shape.T - t, end - n);
    if (row != 0xffffffffu) {
      for (var i = 0u; i < steps; i++) {
        let token = record[row * shape.T + t + i] & 0xffffu;
        if (list && token == v) { places[at] = n + i; }
        at += u32(select(token < v, token == v, list));
      }
    }
    n += steps;
  }
  return at;
}

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let c = id.x;
  let n = id.y + id.z * 65532u;
  if (n >= shape.N) {
    let item = (n - shape.N) * groups.x * 16u + c;
    let v = item % (shape.V + 1u);
    let first = item / (shape.V + 1u) * shape.span;
    if (shape.V == 0u || first >= shape.N) { return; }
    let end = min(first + shape.span, shape.N);
    let start = pass_over(first, end, v, first, false);
    places[shape.N + item] = start;
    _ = pass_over(first, end, v, start, true);
    return;
  }
  if (c >= shape.C) { return; }
  let row = rows[n / shape.T];
  var token = 0u;
  if (row != 0xffffffffu) { token = record[row * shape.T + n % shape.T] & 0xffffu; }
  x[n * shape.C + c] = f32(table[token * shape.C + c]);
}
