// token_places: where each token stands among the N token rows of a micro-batch, for the embedding's gradient
// Shapes    record (B,T) packed token | role << 16 | state << 24; rows batch row or 0xffffffff for none. places: for
//           each span of `span` n, those n sorted by token, in (N); after that (N / span rounded up, V + 1): where in
//           it the n of token v begin, and for v = V where those of V − 1 end. Rows of none stand nowhere.
// Parallel  one thread per span and v: it counts the span's tokens below v, where its places begin, and then lists
//           those that are v. No shared memory.
// Numerics  integers.
struct Shape { N: u32, T: u32, V: u32, span: u32 }
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read_write> places: array<u32>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let item = id.x + id.y * 4194240u;
  let v = item % (shape.V + 1u);
  let first = item / (shape.V + 1u) * shape.span;
  if (first >= shape.N) { return; }
  let end = min(first + shape.span, shape.N);
  var at = first;
  // both passes share their loads; a bound from the shape keeps the loop rolled
  for (var turn = 0u; turn < min(2u, shape.N); turn++) {
    var n = first;
    while (n < end) {
      let row = rows[n / shape.T];
      let t = n % shape.T;
      let steps = min(shape.T - t, end - n);
      if (row != 0xffffffffu) {
        for (var i = 0u; i < steps; i++) {
          let token = record[row * shape.T + t + i] & 0xffffu;
          if (turn == 1u && token == v) { places[at] = n + i; }
          at += u32(select(token < v, token == v, turn == 1u));
        }
      }
      n += steps;
    }
    if (turn == 0u) { places[shape.N + item] = at; }
  }
}
