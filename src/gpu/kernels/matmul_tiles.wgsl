// matmul_tiles: c[z,i,j] (+)= sum_k a[z,i,k]·b[z,k,j], any transposes through strides
// Shapes    a (Z,I,K), b (Z,K,J), c (Z,I,J) with element (z,i,k) of a at z·az + i·ai + k·ak, likewise b; c at z·cz +
//           i·ci + j.
// Split     K may be cut into `parts` of `chunk` (a multiple of 16): z walks Z·parts, and part p adds to c at p·cp on.
// Parallel  a workgroup of 8×8 threads owns a 32×32 tile of c, each thread a 4×4 block in registers; slices of 16 k are
//           staged in 4 KiB of shared memory, a barrier before and after each slice is used.
// Numerics  f32, k in order. Loads past the edge are 0, stores past it are skipped, so sizes may be odd.
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
var<workgroup> ta: array<f32, 512>; // [k][i]
var<workgroup> tb: array<vec4f, 128>; // [k][j / 4]

fn loadB(k: u32, j: u32, z: u32) -> f32 {
  if (k >= shape.K || j >= shape.J) { return 0.0; }
  return f32(b[z * shape.bz + k * shape.bk + j * shape.bj]);
}

fn store(i: u32, j: u32, z: u32, value: vec4f) {
  if (i >= shape.I || j >= shape.J) { return; }
  let at = z / shape.parts * shape.cz + z % shape.parts * shape.cp + i * shape.ci + j;
  for (var d = 0u; d < min(4u, shape.J - j); d++) {
    if (ACCUMULATE == 1u) { c[at + d] = C(f32(c[at + d]) + value[d]); } else { c[at + d] = C(value[d]); }
  }
}

@compute @workgroup_size(8, 8)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u,
        @builtin(local_invocation_index) lane: u32) {
  let i0 = group.y * 32u;
  let j0 = group.x * 32u;
  let z = group.z / shape.parts;
  let start = group.z % shape.parts * shape.chunk;
  var c0 = vec4f();
  var c1 = vec4f();
  var c2 = vec4f();
  var c3 = vec4f();
  for (var k0 = start; k0 < min(start + shape.chunk, shape.K); k0 += 16u) {
    for (var s = lane; s < 512u; s += 64u) {
      // neighbours in memory go to neighbouring threads, whichever way a is stored
      let k = select(s / 32u, s % 16u, shape.ak == 1u);
      let i = select(s % 32u, s / 16u, shape.ak == 1u);
      var v = 0.0;
      let at = z * shape.az + (i0 + i) * shape.ai + (k0 + k) * shape.ak;
      if (k0 + k < shape.K && i0 + i < shape.I) { v = f32(a[at]); }
      ta[k * 32u + i] = v;
    }
    for (var s = lane; s < 128u; s += 64u) {
      let k = k0 + s / 8u;
      let j = j0 + (s % 8u) * 4u;
      tb[s] = vec4f(loadB(k, j, z), loadB(k, j + 1u, z), loadB(k, j + 2u, z), loadB(k, j + 3u, z));
    }
    workgroupBarrier();
    for (var k = 0u; k < 16u; k++) {
      let bv = tb[k * 8u + local.x];
      let at = k * 32u + local.y * 4u;
      c0 += ta[at] * bv;
      c1 += ta[at + 1u] * bv;
      c2 += ta[at + 2u] * bv;
      c3 += ta[at + 3u] * bv;
    }
    workgroupBarrier();
  }
  let i = i0 + local.y * 4u;
  let j = j0 + local.x * 4u;
  store(i, j, group.z, c0);
  store(i + 1u, j, group.z, c1);
  store(i + 2u, j, group.z, c2);
  store(i + 3u, j, group.z, c3);
}
