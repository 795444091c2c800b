// norm_project_broadcast: p = RMSNorm(x)·projectionᵀ with the norm applied on load, columns taken in pairs (lo, hi):
//     SwiGLU: lo is a gate, hi an up: act = silu(gate)·up.  Rotary: (lo, hi) of a head of q or k, turned by the angle
//     of the row's position: (lo·cos − hi·sin, hi·cos + lo·sin)     (subgroup variant for sizes divisible by 4)
// Shapes    x, xhat (N,C); inv (N); weights (P), a pool with the norm's weight (C) at norm_at, projection (M,C) at
//           projection_at, bias (M) at bias_at; p (N,M); act (N, M/2); table (P, D/2, 2) of cos and sin. Pairs `half`
//           apart in blocks of 2·half: F for gates and ups, V/2 for logits, D/2 for heads, the first `turned` turn.
// Parallel  a thread owns 16 rows and `columns` columns in registers; all threads of a workgroup share the rows. x
//           walks M/(columns·WIDTH), y walks N/16. Of eight lanes of a subgroup four own lo and four the hi of the same
//           pairs, four columns each, and they shuffle them at the end; four lanes own both, eight columns, as
//           broadcasts are dear in SwiftShader. Eight lanes load two vectors of x each (four lanes, four) and broadcast
//           them. No shared memory, no barrier; subgroups of 4 or more, threads in their order.
// Numerics  f32, c in order; the lane that loads a row sums its squares. save 1 keeps xhat and inv for the backward
//           pass; −gate is capped at 80, so exp stays finite. One pipeline for both: each takes its time to compile.
enable subgroups;
override WIDTH: u32 = 16; // threads of a workgroup
override WIDE: u32 = 0; // 1: subgroups have 8 lanes or more
override EPS: f32 = 1e-5;
override BIAS: u32 = 0; // 1: the model has biases; shape.bias says whether this projection does
alias Weight = f32; // or f16
alias Kept = f32; // or f16
struct Shape {
  N: u32, C: u32, M: u32, half: u32, turned: u32, norm_at: u32, projection_at: u32, bias_at: u32, save: u32,
  block: u32, swiglu: u32, bias: u32, columns: u32,
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

// what lane 4 … 7 of a wide subgroup holds in v; a narrow one keeps it in w of lane 0 … 3
fn lane4(v: vec4f, w: vec4f) -> vec4f {
  if (WIDE == 1u) { return subgroupBroadcast(v, 4u); }
  return subgroupBroadcast(w, 0u);
}
fn lane5(v: vec4f, w: vec4f) -> vec4f {
  if (WIDE == 1u) { return subgroupBroadcast(v, 5u); }
  return subgroupBroadcast(w, 1u);
}
fn lane6(v: vec4f, w: vec4f) -> vec4f {
  if (WIDE == 1u) { return subgroupBroadcast(v, 6u); }
  return subgroupBroadcast(w, 2u);
}
fn lane7(v: vec4f, w: vec4f) -> vec4f {
  if (WIDE == 1u) { return subgroupBroadcast(v, 7u); }
  return subgroupBroadcast(w, 3u);
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

// Four pairs of row n from the i-th of a block on: this lane holds their lo, or their hi, as `own`. In eight lanes
// `other` belongs to the partner, in four to this lane as well.
fn finish(n: u32, block: u32, i: u32, own: vec4f, other: vec4f, hi: bool) {
  var value = own;
  var second = other;
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
    let c = vec4f(t.xz, u.xz);
    let s = vec4f(t.yw, u.yw);
    value = own * c + select(-other, other, hi) * s;
    second = other * c + own * s;
  }
  let at = n * shape.M + block * 2u * shape.half + i;
  p[(at + select(0u, shape.half, hi)) / 4u] = vec4<Kept>(value);
  if (WIDE == 0u) { p[(at + shape.half) / 4u] = vec4<Kept>(second); }
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let i0 = group.y * 16u;
  let quarter = shape.C / 4u;
  let lanes = 4u + 4u * WIDE;
  let part = thread % lanes;
  let hi = WIDE == 1u && part >= 4u;
  var own = group.x * WIDTH + thread;
  if (WIDE == 1u) { own = group.x * (WIDTH / 2u) + thread / 8u * 4u + part % 4u; }
  own *= 4u;
  let pair = min(own, shape.M / 2u - 4u);
  let block = pair / shape.half;
  let i = pair % shape.half;
  let column = block * 2u * shape.half + i + select(0u, shape.half, hi);
  let px = min(vec4u(i0 + part) + vec4u(0, 8, 4, 12), vec4u(shape.N - 1u)) * quarter;
  let m_at = (shape.projection_at + column * shape.C) / 4u;
  var gains = vec4f(); // of eight k, one a lane
  var squares = vec4f();
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
  var d0 = vec4f();
  var d1 = vec4f();
  var d2 = vec4f();
  var d3 = vec4f();
  var d4 = vec4f();
  var d5 = vec4f();
  var d6 = vec4f();
  var d7 = vec4f();
  var d8 = vec4f();
  var d9 = vec4f();
  var d10 = vec4f();
  var d11 = vec4f();
  var d12 = vec4f();
  var d13 = vec4f();
  var d14 = vec4f();
  var d15 = vec4f();
  for (var k = 0u; k < quarter; k++) {
    var gain = gains;
    if (WIDE == 1u) {
      if (k % 8u == 0u) { gains = vec4f(weights[shape.norm_at / 4u + min(k + part, quarter - 1u)]); }
      gain = subgroupShuffle(gains, k % 8u);
    } else {
      gain = vec4f(weights[shape.norm_at / 4u + k]);
    }
    let x0 = x[px.x + k];
    let x1 = x[px.y + k];
    var y0 = x0;
    var y1 = x1;
    if (WIDE == 0u) {
      y0 = x[px.z + k];
      y1 = x[px.w + k];
    }
    squares += vec4f(dot(x0, x0), dot(x1, x1), dot(y0, y0), dot(y1, y1));
    let a0 = x0 * gain;
    let a1 = x1 * gain;
    let w0 = y0 * gain;
    let w1 = y1 * gain;
    let m = projection(m_at + k, quarter);
    let u0 = subgroupBroadcast(a0, 0u);
    c0 = row(c0, u0, m);
    let u1 = subgroupBroadcast(a0, 1u);
    c1 = row(c1, u1, m);
    let u2 = subgroupBroadcast(a0, 2u);
    c2 = row(c2, u2, m);
    let u3 = subgroupBroadcast(a0, 3u);
    c3 = row(c3, u3, m);
    let u4 = lane4(a0, w0);
    c4 = row(c4, u4, m);
    let u5 = lane5(a0, w0);
    c5 = row(c5, u5, m);
    let u6 = lane6(a0, w0);
    c6 = row(c6, u6, m);
    let u7 = lane7(a0, w0);
    c7 = row(c7, u7, m);
    let u8 = subgroupBroadcast(a1, 0u);
    c8 = row(c8, u8, m);
    let u9 = subgroupBroadcast(a1, 1u);
    c9 = row(c9, u9, m);
    let u10 = subgroupBroadcast(a1, 2u);
    c10 = row(c10, u10, m);
    let u11 = subgroupBroadcast(a1, 3u);
    c11 = row(c11, u11, m);
    let u12 = lane4(a1, w1);
    c12 = row(c12, u12, m);
    let u13 = lane5(a1, w1);
    c13 = row(c13, u13, m);
    let u14 = lane6(a1, w1);
    c14 = row(c14, u14, m);
    let u15 = lane7(a1, w1);
    c15 = row(c15, u15, m);
    if (WIDE == 0u) {
      let m_hi = projection(m_at + shape.half * quarter + k, quarter);
      d0 = row(d0, u0, m_hi);
      d1 = row(d1, u1, m_hi);
      d2 = row(d2, u2, m_hi);
      d3 = row(d3, u3, m_hi);
      d4 = row(d4, u4, m_hi);
      d5 = row(d5, u5, m_hi);
      d6 = row(d6, u6, m_hi);
      d7 = row(d7, u7, m_hi);
      d8 = row(d8, u8, m_hi);
      d9 = row(d9, u9, m_hi);
      d10 = row(d10, u10, m_hi);
      d11 = row(d11, u11, m_hi);
      d12 = row(d12, u12, m_hi);
      d13 = row(d13, u13, m_hi);
      d14 = row(d14, u14, m_hi);
      d15 = row(d15, u15, m_hi);
    }
  }
  let scale = vec4f(inverse(squares.x), inverse(squares.y), inverse(squares.z), inverse(squares.w));
  if (shape.save == 1u && group.x == 0u) {
    for (var r = 0u; r < shape.block / lanes; r++) {
      keep(i0 + part + 8u * (r % 2u) + 4u * (r / 2u), scale[r], thread / lanes, WIDTH / lanes);
    }
  }
  // A loop the compiler cannot unroll, as the block's 16 comes from the shape: unrolled, it compiles for longer than
  // all the rest.
  for (var n = 0u; n < min(shape.block, shape.N - i0); n++) {
    var out = mat4x4f(c0, c1, c2, c3);
    if (n >= 4u) { out = mat4x4f(c4, c5, c6, c7); }
    if (n >= 8u) { out = mat4x4f(c8, c9, c10, c11); }
    if (n >= 12u) { out = mat4x4f(c12, c13, c14, c15); }
    let f = n / 4u;
    let scales = select(select(scale.x, scale.z, f == 1u), select(scale.y, scale.w, f == 3u), f > 1u);
    let s = subgroupShuffle(scales, n % lanes);
    var value = pick(out, n % 4u) * s;
    var other = value;
    if (BIAS == 1u && shape.bias == 1u) { value += vec4f(weights[(shape.bias_at + column) / 4u]); }
    if (WIDE == 1u) {
      other = subgroupShuffleXor(value, 4u);
    } else {
      out = mat4x4f(d0, d1, d2, d3);
      if (n >= 4u) { out = mat4x4f(d4, d5, d6, d7); }
      if (n >= 8u) { out = mat4x4f(d8, d9, d10, d11); }
      if (n >= 12u) { out = mat4x4f(d12, d13, d14, d15); }
      other = pick(out, n % 4u) * s;
      if (BIAS == 1u && shape.bias == 1u) { other += vec4f(weights[(shape.bias_at + column + shape.half) / 4u]); }
    }
    if (own < shape.M / 2u) { finish(i0 + n, block, i, value, other, hi); }
  }
}
