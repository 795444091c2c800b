// token_places: the positions of each token among the N token rows of a micro-batch, for the embedding's gradient
// Shapes    record (B,T), packed as token | role << 16 | state << 24; rows: batch rows, 0xffffffff: no row. places:
//           first (N), for each span of `span` token rows the indices n, sorted by token; then (⌈N/span⌉, V + 1), for
//           each span the index in the first part where the n of token v begin, and for v = V where those of token
//           V − 1 end. Token rows without a batch row are left out.
// Parallel  one thread per span and v. It counts the span's tokens below v, which gives the index where the n of v
//           begin, and then lists the n of v. No shared memory.
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
  // Both passes share their loads. The bound comes from the shape, so that the compiler does not unroll the loop.
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
