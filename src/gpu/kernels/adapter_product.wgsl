// adapter_product: c[c_at + i·ci + j·cj] (+)= SCALE·sum_k a[a_at + i·ai + k·ak]·b[b_at + k·bk + j·bj] for a small J:
//     the products with adapters, for any offsets, transposes and sizes
// Shapes    a, b and c as the strides say; they may be parts of larger tensors, or of matrices that several linear
//           layers share. With add 1 the product is added to c, otherwise it replaces c.
// Parallel  one thread per i and four j: x covers I, y covers J/4; neighbouring threads take neighbouring i. No shared
//           memory.
// Numerics  f32, k in order. Columns past the edge are clamped on load and never stored.
override SCALE: f32 = 1.0;
struct Shape {
  I: u32, J: u32, K: u32, a_at: u32, ai: u32, ak: u32, b_at: u32, bk: u32, bj: u32, c_at: u32, ci: u32, cj: u32,
  add: u32,
}
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x;
  let j = id.y * 4u;
  if (i >= shape.I || j >= shape.J) { return; }
  let columns = min(vec4u(j) + vec4u(0, 1, 2, 3), vec4u(shape.J - 1u)) * shape.bj + shape.b_at;
  let row = shape.a_at + i * shape.ai;
  var sum = vec4f();
  for (var k = 0u; k < shape.K; k++) {
    let at = columns + k * shape.bk;
    sum = fma(vec4f(a[row + k * shape.ak]), vec4f(b[at.x], b[at.y], b[at.z], b[at.w]), sum);
  }
  for (var n = 0u; n < min(4u, shape.J - j); n++) {
    let to = shape.c_at + i * shape.ci + (j + n) * shape.cj;
    c[to] = SCALE * sum[n] + select(0.0, c[to], shape.add == 1u);
  }
}
