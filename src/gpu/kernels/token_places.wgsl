// token_places: where each token is among the N nodes of a micro-batch, for the embedding's gradient
// Shapes    nodes (N): token first. places: first (N), for each span of `span` nodes the indices n, sorted by token;
//           then (⌈N/span⌉, V + 1), for each span the index in the first part where the n of token v begin, and for
//           v = V where those of token V − 1 end.
// Parallel  one thread per span and v. It counts the span's tokens below v, which gives the index where the n of v
//           begin, and then lists the n of v. No shared memory.
// Numerics  integers.
struct Shape { N: u32, V: u32, span: u32 }
@group(0) @binding(0) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> places: array<u32>;
@group(0) @binding(2) var<uniform> shape: Shape;

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
    for (var n = first; n < end; n++) {
      let token = nodes[n].x;
      if (turn == 1u && token == v) { places[at] = n; }
      at += u32(select(token < v, token == v, turn == 1u));
    }
    if (turn == 0u) { places[shape.N + item] = at; }
  }
}
