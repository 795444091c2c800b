// matmul_blocks4: c[z,i,j] (+)= sum_k a[z,i,k]·b[z,k,j], any transposes (barrier-free variant for sizes divisible by 4)
// Shapes    a (Z,I,K), b (Z,K,J), c (Z,I,J) as in matmul_blocks; I, J, K and every stride but 1 are multiples of 4.
// Split     K may be cut into `parts` of `chunk` (a multiple of 16): z walks Z·parts, and part p adds to c at p·cp on.
// Parallel  one thread owns a 4×4 block of c in registers; x walks J/4, y walks I/4, z walks Z. No shared memory.
// Numerics  f32, k in order, four at a time.
// Why       loads of four scalars: 8 loads for 64 multiply-adds, against 32 in matmul_blocks.
override ACCUMULATE: u32 = 0;
override A_ALONG_K: u32 = 1; // 1: k is contiguous in a, 0: i is
override B_ALONG_K: u32 = 1; // 1: k is contiguous in b, 0: j is
alias A = f32; // or f16, as are B and C
alias B = f32;
alias C = f32;
struct Shape {
  I: u32, J: u32, K: u32, ai: u32, ak: u32, az: u32, bk: u32, bj: u32, bz: u32, ci: u32, cz: u32,
  parts: u32, chunk: u32, cp: u32,
}
@group(0) @binding(0) var<storage, read> a: array<vec4<A>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<B>>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4<C>>;
@group(0) @binding(3) var<uniform> shape: Shape;

// four loaded vectors, turned where needed so that column n holds the n-th k
fn turned(m: mat4x4f, along_k: bool) -> mat4x4f {
  if (along_k) { return transpose(m); }
  return m;
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let j = id.x * 4u;
  let i = id.y * 4u;
  if (i >= shape.I || j >= shape.J) { return; }
  let a_step = select(shape.ak, shape.ai, A_ALONG_K == 1u) / 4u;
  let b_step = select(shape.bk, shape.bj, B_ALONG_K == 1u) / 4u;
  let a_next = select(shape.ak, 1u, A_ALONG_K == 1u);
  let b_next = select(shape.bk, 1u, B_ALONG_K == 1u);
  let z = id.z / shape.parts;
  let part = id.z % shape.parts;
  let k0 = part * shape.chunk;
  var pa = (z * shape.az + i * shape.ai) / 4u + k0 / 4u * a_next;
  var pb = (z * shape.bz + j * shape.bj) / 4u + k0 / 4u * b_next;
  var c0 = vec4f();
  var c1 = vec4f();
  var c2 = vec4f();
  var c3 = vec4f();
  for (var k = k0; k < min(k0 + shape.chunk, shape.K); k += 4u) {
    let a2 = mat4x4f(vec4f(a[pa]), vec4f(a[pa + a_step]), vec4f(a[pa + 2u * a_step]), vec4f(a[pa + 3u * a_step]));
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
  let row = shape.ci / 4u;
  if (ACCUMULATE == 1u) {
    c0 += vec4f(c[at]);
    c1 += vec4f(c[at + row]);
    c2 += vec4f(c[at + 2u * row]);
    c3 += vec4f(c[at + 3u * row]);
  }
  c[at] = vec4<C>(c0);
  c[at + row] = vec4<C>(c1);
  c[at + 2u * row] = vec4<C>(c2);
  c[at + 3u * row] = vec4<C>(c3);
}
