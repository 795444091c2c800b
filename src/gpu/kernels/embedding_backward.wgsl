// embedding_backward: dtable[v,c] += sum over n with token(n) = v of dx[n,c]
// Shapes    places of embedding_forward; dx (N,C); dtable (V,C), in slabs `slab` apart.
// Parallel  one thread per four elements of a row of dtable and part: x walks C/4, y walks V, z walks parts; part p
//           takes spans p, p + parts, …, gathers the n listed there in order and adds to slab p: no atomics, the same
//           bits every time.
// Numerics  f32 sums in that order. Rows of none are left out.
struct Shape { N: u32, C: u32, V: u32, span: u32, parts: u32, slab: u32 }
@group(0) @binding(0) var<storage, read> places: array<u32>;
@group(0) @binding(1) var<storage, read> dx: array<f32>;
@group(0) @binding(2) var<storage, read_write> dtable: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c = id.x * 4u;
  let v = id.y;
  if (c >= shape.C || v >= shape.V) { return; }
  let lane = min(vec4u(c) + vec4u(0, 1, 2, 3), vec4u(shape.C - 1u));
  var sum = vec4f();
  for (var s = id.z; s * shape.span < shape.N; s += shape.parts) {
    let begins = shape.N + s * (shape.V + 1u) + v;
    let end = places[begins + 1u];
    for (var i = places[begins]; i < end; i++) {
      let at = lane + places[i] * shape.C;
      sum += vec4f(dx[at.x], dx[at.y], dx[at.z], dx[at.w]);
    }
  }
  let out = id.z * shape.slab + v * shape.C + c;
  for (var d = 0u; d < min(4u, shape.C - c); d++) { dtable[out + d] += sum[d]; }
}
