// matmul_blocks: c[z,i,j] (+)= sum_k a[z,i,k]·b[z,k,j], any transposes through strides (barrier-free variant)
// Shapes    a (Z,I,K), b (Z,K,J), c (Z,I,J) with element (z,i,k) of a at z·az + i·ai + k·ak, likewise b; c at z·cz +
//           i·ci + j.
// Split     K may be cut into `parts` of `chunk` (a multiple of 16): z walks Z·parts, and part p adds to c at p·cp on.
// Parallel  one thread owns a 4×4 block of c in registers; x walks J/4, y walks I/4, z walks Z. No shared memory, no
//           barrier.
// Numerics  f32, k in order. Rows and columns past the edge are clamped on load and never stored, so sizes may be odd.
override ACCUMULATE: u32 = 0;
alias A = f32; // or f16, as are B and C
alias B = f32;
alias C = f32;
struct Shape {
  I: u32, J: u32, K: u32, ai: u32, ak: u32, az: u32, bk: u32, bj: u32, bz: u32, ci: u32, cz: u32,
  parts: u32, chunk: u32, cp: u32,
}
@group(0) @binding(0) var<storage, read> a: array<A>;
@group(0) @binding(1) var<storage, read> b: array<B>;
@group(0) @binding(2) var<storage, read_write> c: array<C>;
@group(0) @binding(3) var<uniform> shape: Shape;

fn store(i: u32, j: u32, z: u32, value: vec4f) {
  if (i >= shape.I) { return; }
  let at = z / shape.parts * shape.cz + z % shape.parts * shape.cp + i * shape.ci + j;
  for (var d = 0u; d < min(4u, shape.J - j); d++) {
    if (ACCUMULATE == 1u) { c[at + d] = C(f32(c[at + d]) + value[d]); } else { c[at + d] = C(value[d]); }
  }
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let j = id.x * 4u;
  let i = id.y * 4u;
  if (i >= shape.I || j >= shape.J) { return; }
  let lastI = shape.I - 1u;
  let lastJ = shape.J - 1u;
  let k0 = id.z % shape.parts * shape.chunk;
  let zb = id.z / shape.parts * shape.bz + k0 * shape.bk;
  let za = id.z / shape.parts * shape.az + k0 * shape.ak;
  var pa = vec4u(i, min(i + 1u, lastI), min(i + 2u, lastI), min(i + 3u, lastI)) * shape.ai + za;
  var pb = vec4u(j, min(j + 1u, lastJ), min(j + 2u, lastJ), min(j + 3u, lastJ)) * shape.bj + zb;
  var c0 = vec4f();
  var c1 = vec4f();
  var c2 = vec4f();
  var c3 = vec4f();
  for (var k = k0; k < min(k0 + shape.chunk, shape.K); k++) {
    let bv = vec4f(vec4(b[pb.x], b[pb.y], b[pb.z], b[pb.w]));
    c0 += f32(a[pa.x]) * bv;
    c1 += f32(a[pa.y]) * bv;
    c2 += f32(a[pa.z]) * bv;
    c3 += f32(a[pa.w]) * bv;
    pa += shape.ak;
    pb += shape.bk;
  }
  store(i, j, id.z, c0);
  store(i + 1u, j, id.z, c1);
  store(i + 2u, j, id.z, c2);
  store(i + 3u, j, id.z, c3);
}
