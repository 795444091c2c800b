// matmul_blocks4: c[z,i,j] (+)= sum_k a[z,i,k]·b[z,k,j], any transposes (barrier-free variant for sizes divisible by 4)
// Shapes    a (Z,I,K), b (Z,K,J), c (Z,I,J) as in matmul_blocks; J, K, every stride but 1 and, where i is contiguous in
//           a, I are multiples of 4. With shape.swiglu the product is dact and c the gradient of gates and ups (see
//           swiglu_backward): c and gate_up (I, 2·J).
// Split     K may be cut into `parts` of `chunk` (a multiple of 16): z walks Z·parts, and part p adds to c at p·cp on.
// Parallel  one thread owns a 4×4 block of c in registers; x walks J/4, y walks I/4, z walks Z. No shared memory.
// Numerics  f32, k in order, four at a time. Rows past the edge are clamped on load and never stored.
// Why       loads of four scalars: 8 loads for 64 multiply-adds, against 32 in matmul_blocks.
override ACCUMULATE: u32 = 0;
override A_ALONG_K: u32 = 1; // 1: k is contiguous in a, 0: i is
override B_ALONG_K: u32 = 1; // 1: k is contiguous in b, 0: j is
alias A = f32; // or f16, as are the others
alias B = f32;
alias C = f32;
alias Kept = f32;
struct Shape {
  I: u32, J: u32, K: u32, ai: u32, ak: u32, az: u32, bk: u32, bj: u32, bz: u32, ci: u32, cz: u32,
  parts: u32, chunk: u32, cp: u32, block: u32, swiglu: u32,
}
@group(0) @binding(0) var<storage, read> a: array<vec4<A>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<B>>;
@group(0) @binding(2) var<storage, read> gate_up: array<vec4<Kept>>; // or a stand-in
@group(0) @binding(3) var<storage, read_write> c: array<vec4<C>>;
@group(0) @binding(4) var<uniform> shape: Shape;

// four loaded vectors, turned where needed so that column n holds the n-th k
fn turned(m: mat4x4f, along_k: bool) -> mat4x4f {
  if (along_k) { return transpose(m); }
  return m;
}

fn store(at: u32, d: vec4f) {
  if (ACCUMULATE == 1u) {
    c[at] = vec4<C>(vec4f(c[at]) + d);
  } else if (shape.swiglu == 1u) {
    let gate = vec4f(gate_up[at]);
    let up = vec4f(gate_up[at + shape.J / 4u]);
    let s = 1.0 / (1.0 + exp(min(-gate, vec4f(80.0))));
    c[at] = vec4<C>(d * up * s * (1.0 + gate * (1.0 - s)));
    c[at + shape.J / 4u] = vec4<C>(d * gate * s);
  } else {
    c[at] = vec4<C>(d);
  }
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let j = id.x * 4u;
  let i = id.y * 4u;
  if (i >= shape.I || j >= shape.J) { return; }
  let b_step = select(shape.bk, shape.bj, B_ALONG_K == 1u) / 4u;
  let a_next = select(shape.ak, 1u, A_ALONG_K == 1u);
  let b_next = select(shape.bk, 1u, B_ALONG_K == 1u);
  let z = id.z / shape.parts;
  let part = id.z % shape.parts;
  let k0 = part * shape.chunk;
  // along k four rows of a, along i four k
  var pa = vec4u(0, 1, 2, 3) * shape.ak + i;
  if (A_ALONG_K == 1u) { pa = min(vec4u(0, 1, 2, 3) + i, vec4u(shape.I - 1u)) * shape.ai; }
  pa = (pa + z * shape.az) / 4u + k0 / 4u * a_next;
  var pb = (z * shape.bz + j * shape.bj) / 4u + k0 / 4u * b_next;
  var c0 = vec4f();
  var c1 = vec4f();
  var c2 = vec4f();
  var c3 = vec4f();
  for (var k = k0; k < min(k0 + shape.chunk, shape.K); k += 4u) {
    let a2 = mat4x4f(vec4f(a[pa.x]), vec4f(a[pa.y]), vec4f(a[pa.z]), vec4f(a[pa.w]));
    let b2 = mat4x4f(vec4f(b[pb]), vec4f(b[pb + b_step]), vec4f(b[pb + 2u * b_step]), vec4f(b[pb + 3u * b_step]));
    let am = turned(a2, A_ALONG_K == 1u);
    let bm = turned(b2, B_ALONG_K == 1u);
    c0 += am[0].x * bm[0] + am[1].x * bm[1] + am[2].x * bm[2] + am[3].x * bm[3];
    c1 += am[0].y * bm[0] + am[1].y * bm[1] + am[2].y * bm[2] + am[3].y * bm[3];
    c2 += am[0].z * bm[0] + am[1].z * bm[1] + am[2].z * bm[2] + am[3].z * bm[3];
    c3 += am[0].w * bm[0] + am[1].w * bm[1] + am[2].w * bm[2] + am[3].w * bm[3];
    pa += a_next;
    pb += b_next;
  }
  let at = (z * shape.cz + part * shape.cp + i * shape.ci + j) / 4u;
  let rows = mat4x4f(c0, c1, c2, c3);
  // A loop the compiler cannot unroll, as stores take longer to compile than all the rest.
  for (var n = 0u; n < min(shape.block, shape.I - i); n++) {
    let value = select(select(rows[0], rows[1], n == 1u), select(rows[2], rows[3], n == 3u), n > 1u);
    store(at + n * (shape.ci / 4u), value);
  }
}
