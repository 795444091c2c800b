// norm_project_blocks4: p = RMSNorm(x)·projectionᵀ with the norm applied on load, columns taken in pairs (lo, hi):
//     SwiGLU: lo is a gate, hi an up: act = silu(gate)·up.  Rotary: (lo, hi) of a head of q or k, turned by the angle
//     of the row's position: (lo·cos − hi·sin, hi·cos + lo·sin)     (barrier-free variant for sizes divisible by 4)
// Shapes    x, xhat (N,C); inv (N); weights (P), a pool with the norm's weight (C) at norm_at, projection (M,C) at
//           projection_at, bias (M) at bias_at; p (N,M); act (N, M/2); table (P, D/2, 2) of cos and sin. Pairs `half`
//           apart in blocks of 2·half: F for gates and ups, D/2 for heads, of which the first `turned` blocks turn.
// Parallel  a thread owns 4 rows and 4 pairs in registers: 13 loads for 128 multiply-adds. x walks M/8, y walks N/4.
//           The threads of a row share out its xhat. No shared memory, no barrier.
// Numerics  f32, c in order; each thread sums its rows' squares as it goes and scales at the end: the same bits in all.
//           save 1 keeps xhat and inv for the backward pass; −gate is capped at 80, so exp stays finite.
override EPS: f32 = 1e-5;
override BIAS: u32 = 0; // 1: the model has biases; shape.bias says whether this projection does
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

fn projection(first: u32, step: u32) -> mat4x4f {
  let m0 = vec4f(weights[first]);
  let m1 = vec4f(weights[first + step]);
  let m2 = vec4f(weights[first + 2u * step]);
  let m3 = vec4f(weights[first + 3u * step]);
  return transpose(mat4x4f(m0, m1, m2, m3));
}

fn finish(n: u32, pair: u32, lo: vec4f, hi: vec4f) {
  let i = pair % shape.half;
  let column = 2u * pair - i;
  var first = lo;
  var second = hi;
  if (BIAS == 1u && shape.bias == 1u) {
    first += vec4f(weights[(shape.bias_at + column) / 4u]);
    second += vec4f(weights[(shape.bias_at + column + shape.half) / 4u]);
  }
  if (shape.swiglu == 1u) {
    let gated = first / (1.0 + exp(min(-first, vec4f(80.0)))) * second;
    act[(n * shape.M / 2u + pair) / 4u] = vec4<Kept>(gated);
    if (shape.save == 0u) { return; }
  } else if (pair / shape.half < shape.turned) {
    let at = (positions[n] * shape.half + i) / 2u;
    let c = vec4f(table[at].xz, table[at + 1u].xz);
    let s = vec4f(table[at].yw, table[at + 1u].yw);
    let turned = first * c - second * s;
    second = second * c + first * s;
    first = turned;
  }
  p[(n * shape.M + column) / 4u] = vec4<Kept>(first);
  p[(n * shape.M + column + shape.half) / 4u] = vec4<Kept>(second);
}

// one row against four columns: its k-vector u, column n of b the n-th k
fn row(c: vec4f, u: vec4f, b: mat4x4f) -> vec4f { return c + u.x * b[0] + u.y * b[1] + u.z * b[2] + u.w * b[3]; }

fn rows(c: mat4x4f, u: mat4x4f, b: mat4x4f) -> mat4x4f {
  return mat4x4f(row(c[0], u[0], b), row(c[1], u[1], b), row(c[2], u[2], b), row(c[3], u[3], b));
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n0 = id.y * 4u;
  let pair = id.x * 4u;
  if (n0 >= shape.N || pair >= shape.M / 2u) { return; }
  let quarter = shape.C / 4u;
  let at = min(vec4u(0, 1, 2, 3) + n0, vec4u(shape.N - 1u)) * quarter;
  let lo_at = (shape.projection_at + (2u * pair - pair % shape.half) * shape.C) / 4u;
  let hi_at = lo_at + shape.half * quarter;
  var squares = vec4f();
  var c = mat4x4f(); // lo and hi, a column a row
  var d = mat4x4f();
  for (var k = 0u; k < quarter; k++) {
    let gain = vec4f(weights[shape.norm_at / 4u + k]);
    let u = mat4x4f(x[at.x + k], x[at.y + k], x[at.z + k], x[at.w + k]);
    squares += vec4f(dot(u[0], u[0]), dot(u[1], u[1]), dot(u[2], u[2]), dot(u[3], u[3]));
    let v = mat4x4f(u[0] * gain, u[1] * gain, u[2] * gain, u[3] * gain);
    c = rows(c, v, projection(lo_at + k, quarter));
    d = rows(d, v, projection(hi_at + k, quarter));
  }
  let scale = 1.0 / sqrt(squares / f32(shape.C) + EPS);
  // the block's 4 comes from the shape: unrolled, this would compile for longer than all the rest
  for (var r = 0u; r < min(shape.block, shape.N - n0); r++) {
    let s = scale[r];
    let lo = select(select(c[0], c[1], r == 1u), select(c[2], c[3], r == 3u), r > 1u) * s;
    let hi = select(select(d[0], d[1], r == 1u), select(d[2], d[3], r == 3u), r > 1u) * s;
    finish(n0 + r, pair, lo, hi);
    if (shape.save == 0u) { continue; }
    if (pair == 0u) { inv[n0 + r] = s; }
    let end = (n0 + r + 1u) * quarter;
    for (var at = end - quarter + id.x; at < end; at += shape.M / 8u) { xhat[at] = vec4<Kept>(x[at] * s); }
  }
}
