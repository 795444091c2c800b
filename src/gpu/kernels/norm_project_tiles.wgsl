// norm_project_tiles: p = RMSNorm(x)·projectionᵀ, with the norm applied on load (for sizes that are multiples of 4).
//     Columns are taken in pairs (lo, hi):
//     SwiGLU: lo is a gate, hi an up; act = silu(gate)·up.
//     Rotary: (lo, hi) of a head of q or k is rotated by the angle of the row's position:
//     (lo·cos − hi·sin, hi·cos + lo·sin)
// Shapes    x, xhat (N,C); inv (N); weights (P), all parameters of the network, with the norm's weight (C) at norm_at,
//           the projection (M,C) at projection_at and the bias (M) at bias_at; p (N,M); act (N, M/2); table (P, D/2, 2)
//           of cos and sin. lo and hi are `half` apart, in blocks of 2·half columns: half is F for gates and ups, D/2
//           for heads. The first `turned` blocks (heads) are rotated.
// Parallel  a workgroup of 8×8 threads owns 64 rows and 32 pairs, each thread 8 rows of 4 pairs in registers: 4 loads of
//           four scalars for 64 multiply-adds. Where few such tiles cover p, ROWS is 1: 32 rows, 4 a thread. Slices of 8
//           c are staged in 8 KiB of shared memory, which holds two of them: while one is used, the next is loaded. x
//           covers M/64, y covers N/(32·ROWS). The threads of a row divide the work of writing its xhat.
// Numerics  f32, c in order. Each thread sums the squares of its rows as it goes and scales at the end, so all threads
//           get the same bits. save 1 also writes xhat and inv for the backward pass. −gate is capped at 80, so exp
//           stays finite.
//! piece norm_project_operands
//! piece quads
const SQUARES = true;

fn terms(group: vec3u) -> vec2u { return vec2u(0u, shape.C); }

fn is_along_k(of_a: bool) -> bool { return true; }

// four rows of x; or the projection's columns of four pairs, lo for e < 8, hi otherwise
fn source_of(group: vec3u, of_a: bool, e: u32) -> Source {
  let rows = min(vec4u(0, 1, 2, 3) + group.y * ROWS * 32u + e * 4u, vec4u(shape.N - 1u)) * shape.C;
  let pairs = min(vec4u(0, 1, 2, 3) + group.x * 32u + e % 8u * 4u, vec4u(shape.M / 2u - 1u));
  let columns = 2u * pairs - pairs % shape.half + e / 8u * shape.half;
  return Source(select(columns * shape.C + shape.projection_at, rows, of_a), 1u, true);
}

fn rows_of_a(at: vec4u) -> mat4x4f { return mat4x4f(x[at.x], x[at.y], x[at.z], x[at.w]); }

// gain times projection
fn columns_of_b(at: vec4u, k: u32) -> mat4x4f {
  let gain = vec4f(weights[(shape.norm_at + k) / 4u]);
  return mat4x4f(gain * vec4f(weights[at.x]), gain * vec4f(weights[at.y]),
                 gain * vec4f(weights[at.z]), gain * vec4f(weights[at.w]));
}

fn finish(group: vec3u, across: u32, n: u32, left: vec4f, right: vec4f, squares: f32) {
  let own = group.x * 8u + across;
  let pair = own * 4u;
  if (n >= shape.N || pair >= shape.M / 2u) { return; }
  let scale = 1.0 / sqrt(squares / f32(shape.C) + EPS);
  store(n, pair, left * scale, right * scale);
  if (shape.save == 0u) { return; }
  if (pair == 0u) { inv[n] = scale; }
  let end = (n + 1u) * shape.C / 4u;
  for (var at = end - shape.C / 4u + own; at < end; at += shape.M / 8u) { xhat[at] = vec4<Kept>(x[at] * scale); }
}

fn store(n: u32, pair: u32, lo: vec4f, hi: vec4f) {
  let i = pair % shape.half;
  let column = 2u * pair - i;
  var first = lo;
  var second = hi;
  if (shape.bias == 1u) {
    first += vec4f(weights[(shape.bias_at + column) / 4u]);
    second += vec4f(weights[(shape.bias_at + column + shape.half) / 4u]);
  }
  if (shape.swiglu == 1u) {
    act[(n * shape.M / 2u + pair) / 4u] = vec4<Kept>(gated(first, second));
    if (shape.save == 0u) { return; }
  } else if (pair / shape.half < shape.turned) {
    let turn = turn_of(n, i);
    let turned = first * turn.cosines - second * turn.sines;
    second = second * turn.cosines + first * turn.sines;
    first = turned;
  }
  p[(n * shape.M + column) / 4u] = vec4<Kept>(first);
  p[(n * shape.M + column + shape.half) / 4u] = vec4<Kept>(second);
}
//! piece tile_workgroup
