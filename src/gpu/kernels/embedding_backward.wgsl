// embedding_backward: dtable[v,c] += sum of dx[n,c] over the nodes n of token v
// Shapes    places of token_places; dx (N,C); dtable (V,C), in partial gradients that are `slab` scalars apart.
// Parallel  one thread per element of dtable and part: x covers C, y covers V, z covers parts. Part p takes the spans
//           p, p + parts, …, sums over the n listed there in order, and adds to partial gradient p. Without atomics, so
//           the bits are always the same.
// Numerics  f32 sums in that order.
struct Shape { N: u32, C: u32, V: u32, span: u32, parts: u32, slab: u32 }
@group(0) @binding(0) var<storage, read> places: array<u32>;
@group(0) @binding(1) var<storage, read> dx: array<f32>;
@group(0) @binding(2) var<storage, read_write> dtable: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c = id.x;
  let v = id.y;
  if (c >= shape.C || v >= shape.V) { return; }
  var sum = 0.0;
  for (var s = id.z; s * shape.span < shape.N; s += shape.parts) {
    let begins = shape.N + s * (shape.V + 1u) + v;
    let end = places[begins + 1u];
    for (var i = places[begins]; i < end; i++) { sum += dx[places[i] * shape.C + c]; }
  }
  dtable[id.z * shape.slab + v * shape.C + c] += sum;
}
