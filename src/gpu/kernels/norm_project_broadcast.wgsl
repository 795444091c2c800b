// norm_project_broadcast: p = RMSNorm(x)·projectionᵀ with the norm applied on load, columns taken in pairs (lo, hi):
//     SwiGLU: lo is a gate, hi an up: act = silu(gate)·up.  Rotary: (lo, hi) of a head of q or k, turned by the angle
//     of the row's position: (lo·cos − hi·sin, hi·cos + lo·sin)     (subgroup variant for sizes divisible by 4)
// Shapes    x, xhat (N,C); inv (N); weights (P), a pool with the norm's weight (C) at norm_at, projection (M,C) at
//           projection_at, bias (M) at bias_at; p (N,M); act (N, M/2); table (P, D/2, 2) of cos and sin. Pairs `half`
//           apart in blocks of 2·half: F for gates and ups, D/2 for heads, the first `turned` turn.
// Parallel  a thread owns 16 rows and 4 columns in registers; all threads of a workgroup share the rows. x walks
//           M/(4·WIDTH), y walks N/16. Of eight lanes of a subgroup four own lo and four the hi of the same pairs, and
//           they shuffle them at the end. The eight load two vectors of x each and broadcast them. No shared memory,
//           no barrier; subgroups of 8 or more, threads in their order.
// Numerics  f32, c in order; the lane that loads a row sums its squares. save 1 keeps xhat and inv for the backward
//           pass; −gate is capped at 80, so exp stays finite. One pipeline for both: each takes its time to compile.
enable subgroups;
override WIDTH: u32 = 16; // threads of a workgroup
override EPS: f32 = 1e-5;
alias Weight = f32; // or f16
alias Kept = f32; // or f16
struct Shape {
  N: u32, C: u32, M: u32, half: u32, turned: u32, norm_at: u32, projection_at: u32, bias_at: u32, save: u32,
  block: u32, swiglu: u32, bias: u32,
}
@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read> weights: array<vec4<Weight>>;
@group(0) @binding(2) var<storage, read> positions: array<u32>;
@group(0) @binding(3) var<storage, read> table: array<vec4f>; // cos, sin, cos, sin
@group(0) @binding(4) var<storage, read_write> p: array<vec4<Kept>>;
@group(0) @binding(5) var<storage, read_write> act: array<vec4<Kept>>;
@group(0) @binding(6) var<storage, read_write> xhat: array<vec4<Kept>>;
@group(0) @binding(7) var<storage, read_write> inv: array<f32>;
@group(0) @binding(8) var<uniform> shape: Shape;

// one row against four columns: its k-vector u, column n of b the n-th k
fn row(c: vec4f, u: vec4f, b: mat4x4f) -> vec4f {
  return fma(vec4f(u.w), b[3], fma(vec4f(u.z), b[2], fma(vec4f(u.y), b[1], fma(vec4f(u.x), b[0], c))));
}

fn projection(first: u32, step: u32) -> mat4x4f {
  let m0 = vec4f(weights[first]);
  let m1 = vec4f(weights[first + step]);
  let m2 = vec4f(weights[first + 2u * step]);
  let m3 = vec4f(weights[first + 3u * step]);
  return transpose(mat4x4f(m0, m1, m2, m3));
}

fn pick(rows: mat4x4f, r: u32) -> vec4f {
  return select(select(rows[0], rows[1], r == 1u), select(rows[2], rows[3], r == 3u), r > 1u);
}

fn inverse(squares: f32) -> f32 { return 1.0 / sqrt(squares / f32(shape.C) + EPS); }

fn keep(n: u32, scale: f32, first: u32, step: u32) {
  if (n >= shape.N) { return; }
  if (first == 0u) { inv[n] = scale; }
  let row = n * (shape.C / 4u);
  for (var c = first; c < shape.C / 4u; c += step) { xhat[row + c] = vec4<Kept>(x[row + c] * scale); }
}

// Four pairs of row n from the i-th of a block on: this lane holds their lo, or their hi, as `own`, its partner the
// other.
fn finish(n: u32, block: u32, i: u32, own: vec4f, other: vec4f, hi: bool) {
  var value = own;
  if (shape.swiglu == 1u) {
    if (!hi) {
      let gated = own / (1.0 + exp(min(-own, vec4f(80.0)))) * other;
      act[(n * shape.M / 2u + block * shape.half + i) / 4u] = vec4<Kept>(gated);
    }
    if (shape.save == 0u) { return; }
  } else if (block < shape.turned) {
    let at = (positions[n] * shape.half + i) / 2u;
    let t = table[at];
    let u = table[at + 1u];
    value = own * vec4f(t.xz, u.xz) + select(-other, other, hi) * vec4f(t.yw, u.yw);
  }
  p[(n * shape.M + block * 2u * shape.half + i + select(0u, shape.half, hi)) / 4u] = vec4<Kept>(value);
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let i0 = group.y * 16u;
  let quarter = shape.C / 4u;
  let part = thread % 8u;
  let hi = part >= 4u;
  let own = 4u * (group.x * (WIDTH / 2u) + thread / 8u * 4u + part % 4u);
  let pair = min(own, shape.M / 2u - 4u);
  let block = pair / shape.half;
  let i = pair % shape.half;
  let column = block * 2u * shape.half + i + select(0u, shape.half, hi);
  let px = min(vec2u(i0 + part) + vec2u(0, 8), vec2u(shape.N - 1u)) * quarter;
  let m_at = (shape.projection_at + column * shape.C) / 4u;
  var gains = vec4f(); // of eight k, one a lane
  var squares = vec2f();
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
  for (var k = 0u; k < quarter; k++) {
    if (k % 8u == 0u) { gains = vec4f(weights[shape.norm_at / 4u + min(k + part, quarter - 1u)]); }
    let gain = subgroupShuffle(gains, k % 8u);
    let x0 = x[px.x + k];
    let x1 = x[px.y + k];
    squares += vec2f(dot(x0, x0), dot(x1, x1));
    let a0 = x0 * gain;
    let a1 = x1 * gain;
    let m = projection(m_at + k, quarter);
    let u0 = subgroupBroadcast(a0, 0u);
    c0 = row(c0, u0, m);
    let u1 = subgroupBroadcast(a0, 1u);
    c1 = row(c1, u1, m);
    let u2 = subgroupBroadcast(a0, 2u);
    c2 = row(c2, u2, m);
    let u3 = subgroupBroadcast(a0, 3u);
    c3 = row(c3, u3, m);
    let u4 = subgroupBroadcast(a0, 4u);
    c4 = row(c4, u4, m);
    let u5 = subgroupBroadcast(a0, 5u);
    c5 = row(c5, u5, m);
    let u6 = subgroupBroadcast(a0, 6u);
    c6 = row(c6, u6, m);
    let u7 = subgroupBroadcast(a0, 7u);
    c7 = row(c7, u7, m);
    let u8 = subgroupBroadcast(a1, 0u);
    c8 = row(c8, u8, m);
    let u9 = subgroupBroadcast(a1, 1u);
    c9 = row(c9, u9, m);
    let u10 = subgroupBroadcast(a1, 2u);
    c10 = row(c10, u10, m);
    let u11 = subgroupBroadcast(a1, 3u);
    c11 = row(c11, u11, m);
    let u12 = subgroupBroadcast(a1, 4u);
    c12 = row(c12, u12, m);
    let u13 = subgroupBroadcast(a1, 5u);
    c13 = row(c13, u13, m);
    let u14 = subgroupBroadcast(a1, 6u);
    c14 = row(c14, u14, m);
    let u15 = subgroupBroadcast(a1, 7u);
    c15 = row(c15, u15, m);
  }
  let scale = vec2f(inverse(squares.x), inverse(squares.y));
  if (shape.save == 1u && group.x == 0u) {
    for (var r = 0u; r < shape.block / 8u; r++) {
      keep(i0 + part + 8u * r, scale[r], thread / 8u, WIDTH / 8u);
    }
  }
  // A loop the compiler cannot unroll, as the block's 16 comes from the shape: unrolled, it compiles for longer than
  // all the rest.
  for (var n = 0u; n < min(shape.block, shape.N - i0); n++) {
    var out = mat4x4f(c0, c1, c2, c3);
    if (n >= 4u) { out = mat4x4f(c4, c5, c6, c7); }
    if (n >= 8u) { out = mat4x4f(c8, c9, c10, c11); }
    if (n >= 12u) { out = mat4x4f(c12, c13, c14, c15); }
    var value = pick(out, n % 4u) * subgroupShuffle(select(scale.x, scale.y, n >= 8u), n % 8u);
    if (shape.bias == 1u) { value += vec4f(weights[(shape.bias_at + column) / 4u]); }
    let other = subgroupShuffleXor(value, 4u);
    if (own < shape.M / 2u) { finish(i0 + n, block, i, value, other, hi); }
  }
}
