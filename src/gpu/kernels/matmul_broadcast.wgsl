// matmul_broadcast: c[z,i,j] (+)= sum_k a[z,i,k]·b[z,k,j], any transposes (subgroup variant for sizes divisible by 4)
// Shapes    a (Z,I,K), b (Z,K,J), c (Z,I,J) as in matmul_blocks; J, K, every stride but 1 and, unless k is contiguous
//           in a, I are multiples of 4. add 1 adds to c. With swiglu 1 the product is dact and c the gradient of gates
//           and ups (see swiglu_backward): c and gate_up (I, 2·J).
// Split     K may be cut into `parts` of `chunk` (a multiple of 16): z walks Z·parts, and part p adds to c at p·cp on.
// Parallel  a thread owns 16 rows and 4 columns of c in registers; all threads of a workgroup share the rows. x walks
//           J/(4·WIDTH), y walks I/16, z walks Z. Eight lanes of a subgroup load two vectors of a each and broadcast
//           them: 6 loads for 256 multiply-adds. No shared memory, no barrier; subgroups of 8 or more.
// Numerics  f32, k in order. Rows and columns past the edge are clamped on load and never stored.
// Why       every constant costs a compilation, of most of a second on software adapters: which way a and b lie is in
//           the shape, and turning what was loaded costs little beside loading it.
enable subgroups;
override WIDTH: u32 = 16; // threads of a workgroup
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

// Of the gate and the up one place loads both, and of what becomes of them one place stores both: each place takes
// long to compile on software adapters.
fn store(at: u32, d: vec4f) {
  let across = shape.J / 4u; // from a gate to its up
  var sum = d;
  var next = d;
  if (shape.swiglu == 1u) {
    var gate = vec4f();
    var up = vec4f();
    var half = 0u;
    loop {
      gate = up;
      up = vec4f(gate_up[at + half * across]);
      continuing {
        half++;
        break if half > shape.swiglu;
      }
    }
    let s = 1.0 / (1.0 + exp(min(-gate, vec4f(80.0))));
    sum = d * up * s * (1.0 + gate * (1.0 - s));
    next = d * gate * s;
  } else if (shape.add == 1u) {
    sum = vec4f(c[at]) + d;
  }
  var half = 0u;
  loop {
    c[at + half * across] = vec4<C>(sum);
    sum = next;
    continuing {
      half++;
      break if half > shape.swiglu;
    }
  }
}

// m, or its transpose: selects, as branches are dearer where all lanes take both
fn turned(m: mat4x4f, turn: bool) -> mat4x4f {
  return mat4x4f(m[0].x, select(m[0].y, m[1].x, turn), select(m[0].z, m[2].x, turn), select(m[0].w, m[3].x, turn),
    select(m[1].x, m[0].y, turn), m[1].y, select(m[1].z, m[2].y, turn), select(m[1].w, m[3].y, turn),
    select(m[2].x, m[0].z, turn), select(m[2].y, m[1].z, turn), m[2].z, select(m[2].w, m[3].z, turn),
    select(m[3].x, m[0].w, turn), select(m[3].y, m[1].w, turn), select(m[3].z, m[2].w, turn), m[3].w);
}

// one row of c: its k-vector u against four columns, column n of b the n-th k
fn row(c: vec4f, u: vec4f, b: mat4x4f) -> vec4f {
  return fma(vec4f(u.w), b[3], fma(vec4f(u.z), b[2], fma(vec4f(u.y), b[1], fma(vec4f(u.x), b[0], c))));
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32,
        @builtin(subgroup_invocation_id) lane: u32) {
  let i0 = group.y * 16u;
  let column = (group.x * WIDTH + thread) * 4u;
  let j = min(column, shape.J - 4u);
  let z = group.z / shape.parts;
  let k0 = group.z % shape.parts * shape.chunk;
  let part = lane % 8u;
  // Along k a lane loads four k of row i0 + 4·(part % 4) + part / 4 and of the row two on; along i those four rows from
  // i0 + 4·(part % 4) on, of k + part / 4 and of k two on.
  let a_along_k = shape.ak == 1u;
  let b_along_k = shape.bk == 1u;
  let near = vec2u(part / 4u) + vec2u(0, 2);
  let far = 4u * (part % 4u) + i0;
  let a_rows = min(near + far, vec2u(shape.I - 1u)) * shape.ai;
  let a_columns = near * shape.ak + min(far, shape.I - 4u);
  let a_next = select(shape.ak, 1u, a_along_k);
  var pa = (select(a_columns, a_rows, a_along_k) + z * shape.az) / 4u + k0 / 4u * a_next;
  let b_step = select(shape.bk, shape.bj, b_along_k) / 4u;
  let b_next = select(shape.bk, 1u, b_along_k);
  var pb = (z * shape.bz + j * shape.bj) / 4u + k0 / 4u * b_next;
  var c0 = vec4f();
  var c1 = vec4f();
  var c2 = vec4f();
  var c3 = vec4f();
  var c4 = vec4f();
  var c5 = vec4f();
  var c6 = vec4f();
  var c7 = vec4f();
  var c8 = vec4f();
  var c9 = vec4f();
  var c10 = vec4f();
  var c11 = vec4f();
  var c12 = vec4f();
  var c13 = vec4f();
  var c14 = vec4f();
  var c15 = vec4f();
  for (var k = k0; k < min(k0 + shape.chunk, shape.K); k += 4u) {
    // Loads in two turns of a loop the compiler cannot unroll: that compiles faster and runs as fast.
    var a0 = vec4f();
    var a1 = vec4f();
    var b0 = vec4f();
    var b1 = vec4f();
    var b2 = vec4f();
    var b3 = vec4f();
    var own = pa.x;
    var q = 0u;
    loop {
      a0 = a1;
      a1 = vec4f(a[own]);
      own = pa.y;
      b0 = b2;
      b1 = b3;
      b2 = vec4f(b[pb + q * b_step]);
      b3 = vec4f(b[pb + (q + 1u) * b_step]);
      continuing {
        q += 2u;
        break if q * 4u >= shape.block;
      }
    }
    let bm = turned(mat4x4f(b0, b1, b2, b3), b_along_k);
    var u0 = mat4x4f(subgroupBroadcast(a0, 0u), subgroupBroadcast(a0, 4u),
                     subgroupBroadcast(a1, 0u), subgroupBroadcast(a1, 4u));
    u0 = turned(u0, !a_along_k);
    c0 = row(c0, u0[0], bm);
    c1 = row(c1, u0[1], bm);
    c2 = row(c2, u0[2], bm);
    c3 = row(c3, u0[3], bm);
    var u1 = mat4x4f(subgroupBroadcast(a0, 1u), subgroupBroadcast(a0, 5u),
                     subgroupBroadcast(a1, 1u), subgroupBroadcast(a1, 5u));
    u1 = turned(u1, !a_along_k);
    c4 = row(c4, u1[0], bm);
    c5 = row(c5, u1[1], bm);
    c6 = row(c6, u1[2], bm);
    c7 = row(c7, u1[3], bm);
    var u2 = mat4x4f(subgroupBroadcast(a0, 2u), subgroupBroadcast(a0, 6u),
                     subgroupBroadcast(a1, 2u), subgroupBroadcast(a1, 6u));
    u2 = turned(u2, !a_along_k);
    c8 = row(c8, u2[0], bm);
    c9 = row(c9, u2[1], bm);
    c10 = row(c10, u2[2], bm);
    c11 = row(c11, u2[3], bm);
    var u3 = mat4x4f(subgroupBroadcast(a0, 3u), subgroupBroadcast(a0, 7u),
                     subgroupBroadcast(a1, 3u), subgroupBroadcast(a1, 7u));
    u3 = turned(u3, !a_along_k);
    c12 = row(c12, u3[0], bm);
    c13 = row(c13, u3[1], bm);
    c14 = row(c14, u3[2], bm);
    c15 = row(c15, u3[3], bm);
    pa += a_next;
    pb += b_next;
  }
  if (column >= shape.J) { return; }
  // A loop the compiler cannot unroll, as the block's 16 comes from the shape: unrolled, the stores take longer to
  // compile than all the rest.
  let at = (z * shape.cz + group.z % shape.parts * shape.cp + i0 * shape.ci + j) / 4u;
  for (var n = 0u; n < min(shape.block, shape.I - i0); n++) {
    var out = mat4x4f(c0, c1, c2, c3);
    if (n >= 4u) { out = mat4x4f(c4, c5, c6, c7); }
    if (n >= 8u) { out = mat4x4f(c8, c9, c10, c11); }
    if (n >= 12u) { out = mat4x4f(c12, c13, c14, c15); }
    let r = n % 4u;
    let value = select(select(out[0], out[1], r == 1u), select(out[2], out[3], r == 3u), r > 1u);
    store(at + n * (shape.ci / 4u), value);
  }
}
