// matmul_tiles: c[z,i,j] (+)= sum_k a[z,i,k]·b[z,k,j], any transposes through strides (for sizes divisible by 4)
// Shapes    a (Z,I,K), b (Z,K,J), c (Z,I,J) as in matmul_tiles; J, K, every stride but 1 and, where i is contiguous in
//           a, I are multiples of 4. add 1 adds to c. With swiglu 1 the product is dact and c the gradient of gates and
//           ups (see swiglu_backward): c and gate_up (I, 2·J).
// Split     K may be cut into `parts` of `chunk` (a multiple of 16): z walks Z·parts, and part p adds to c at p·cp on.
// Parallel  a workgroup of 8×8 threads owns a 32×32 tile of c, each thread a 4×4 block in registers. Slices of 16 k are
//           staged in 4 KiB of shared memory, a barrier before and after each is used: half the threads load, turn and
//           store a 4×4 block of a, the others one of b. 2 loads for 16 multiply-adds.
// Numerics  f32, k in order. Past the edge k counts as 0, rows and columns are clamped on load and never stored.
// Why       one pipeline for every product, as each takes its time to compile; loads of four scalars.
alias A = f32; // or f16, as are the others
alias B = f32;
alias C = f32;
alias Kept = f32;
struct Shape {
  I: u32, J: u32, K: u32, ai: u32, ak: u32, az: u32, bk: u32, bj: u32, bz: u32, ci: u32, cz: u32,
  parts: u32, chunk: u32, cp: u32, add: u32, block: u32, swiglu: u32,
}
@group(0) @binding(0) var<storage, read> a: array<vec4<A>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<B>>;
@group(0) @binding(2) var<storage, read> gate_up: array<vec4<Kept>>; // or a stand-in
@group(0) @binding(3) var<storage, read_write> c: array<vec4<C>>;
@group(0) @binding(4) var<uniform> shape: Shape;
var<workgroup> tile: array<vec4f, 256>; // of a: [k][i / 4], then of b: [k][j / 4]

fn store(at: u32, d: vec4f) {
  if (shape.swiglu == 1u) {
    let gate = vec4f(gate_up[at]);
    let up = vec4f(gate_up[at + shape.J / 4u]);
    let s = 1.0 / (1.0 + exp(min(-gate, vec4f(80.0))));
    c[at] = vec4<C>(d * up * s * (1.0 + gate * (1.0 - s)));
    c[at + shape.J / 4u] = vec4<C>(d * gate * s);
  } else if (shape.add == 1u) {
    c[at] = vec4<C>(vec4f(c[at]) + d);
  } else {
    c[at] = vec4<C>(d);
  }
}

// one row of c against four k of it in u, column n of b the n-th k
fn row(c: vec4f, u: vec4f, b: mat4x4f) -> vec4f { return c + u.x * b[0] + u.y * b[1] + u.z * b[2] + u.w * b[3]; }

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(workgroup_id) group: vec3u,
        @builtin(local_invocation_id) local: vec3u, @builtin(local_invocation_index) lane: u32) {
  let z = group.z / shape.parts;
  let part = group.z % shape.parts;
  let start = part * shape.chunk;
  let end = min(start + shape.chunk, shape.K);
  // what a thread stages: a block of a or b, neighbours in memory for neighbouring threads
  let of_a = lane < 32u;
  let along_k = select(shape.bk, shape.ak, of_a) == 1u;
  let q = select(lane / 8u % 4u, lane % 4u, along_k) * 4u; // its first k
  let e = select(lane % 8u, lane / 4u % 8u, along_k); // its quarter of the tile's rows or columns
  let first = select(group.x, group.y, of_a) * 32u + e * 4u;
  let last = select(shape.J, shape.I, of_a) - 1u;
  let across = select(shape.bj, shape.ai, of_a);
  let down = select(shape.bk, shape.ak, of_a);
  var source = min(vec4u(0, 1, 2, 3) + first, vec4u(last)) * across;
  if (!along_k) { source = min(first, last - 3u) + vec4u(0, 1, 2, 3) * down; }
  source += z * select(shape.bz, shape.az, of_a);
  let to = select(128u, 0u, of_a) + q * 8u + e;
  var c0 = vec4f();
  var c1 = vec4f();
  var c2 = vec4f();
  var c3 = vec4f();
  for (var k0 = start; k0 < end; k0 += 16u) {
    let at = (source + min(k0 + q, shape.K - 4u) * down) / 4u;
    var m = mat4x4f();
    if (k0 + q < end) {
      if (of_a) { m = mat4x4f(vec4f(a[at.x]), vec4f(a[at.y]), vec4f(a[at.z]), vec4f(a[at.w])); }
      else { m = mat4x4f(vec4f(b[at.x]), vec4f(b[at.y]), vec4f(b[at.z]), vec4f(b[at.w])); }
    }
    if (along_k) { m = transpose(m); }
    tile[to] = m[0];
    tile[to + 8u] = m[1];
    tile[to + 16u] = m[2];
    tile[to + 24u] = m[3];
    workgroupBarrier();
    // the block's 4 comes from the shape: unrolled, such loops would compile for longer than all the rest
    for (var s = 0u; s < shape.block; s++) {
      let i = s * 32u + local.y;
      let j = s * 32u + 128u + local.x;
      let u = transpose(mat4x4f(tile[i], tile[i + 8u], tile[i + 16u], tile[i + 24u]));
      let v = mat4x4f(tile[j], tile[j + 8u], tile[j + 16u], tile[j + 24u]);
      c0 = row(c0, u[0], v);
      c1 = row(c1, u[1], v);
      c2 = row(c2, u[2], v);
      c3 = row(c3, u[3], v);
    }
    workgroupBarrier();
  }
  let i = id.y * 4u;
  let j = id.x * 4u;
  if (i >= shape.I || j >= shape.J) { return; }
  let at = (z * shape.cz + part * shape.cp + i * shape.ci + j) / 4u;
  for (var n = 0u; n < min(shape.block, shape.I - i); n++) {
    let value = select(select(c0, c1, n == 1u), select(c2, c3, n == 3u), n > 1u);
    store(at + n * (shape.ci / 4u), value);
  }
}
