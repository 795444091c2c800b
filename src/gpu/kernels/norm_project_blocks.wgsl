// norm_project_blocks: p = RMSNorm(x)·projectionᵀ, with the norm applied on load (barrier-free variant).
//     Columns are taken in pairs (lo, hi):
//     SwiGLU: lo is a gate, hi an up; act = silu(gate)·up.
//     Rotary: (lo, hi) of a head of q or k is rotated by the angle of the row's position:
//     (lo·cos − hi·sin, hi·cos + lo·sin)
// Shapes    x, xhat (N,C); inv (N); weights (P), all parameters of the network, with the norm's weight (C) at norm_at,
//           the projection (M,C) at projection_at and the bias (M) at bias_at; p (N,M); act (N, M/2); table (P, D/2, 2)
//           of cos and sin. lo and hi are `half` apart, in blocks of 2·half columns: half is F for gates and ups, D/2
//           for heads. The first `turned` blocks (heads) are rotated.
// Parallel  a thread owns 8 rows and 4 pairs in registers; its pairs are 8 apart. x covers M/64, y covers N/64. 17
//           loads for 64 multiply-adds. The threads of a row divide the work of writing its xhat. No shared memory, no
//           barrier.
// Numerics  f32, c in order. Each thread sums the squares of its rows as it goes and scales at the end, so all threads
//           get the same bits. save 1 also writes xhat and inv for the backward pass. −gate is capped at 80, so exp
//           stays finite.
override EPS: f32 = 1e-5;
alias Weight = f32; // or f16
alias Kept = f32; // or f16
struct Shape {
  N: u32, C: u32, M: u32, half: u32, turned: u32, norm_at: u32, projection_at: u32, bias_at: u32, save: u32,
  block: u32, swiglu: u32, bias: u32,
}
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weights: array<Weight>;
@group(0) @binding(2) var<storage, read> positions: array<u32>;
@group(0) @binding(3) var<storage, read> table: array<f32>; // cos, sin
@group(0) @binding(4) var<storage, read_write> p: array<Kept>;
@group(0) @binding(5) var<storage, read_write> act: array<Kept>;
@group(0) @binding(6) var<storage, read_write> xhat: array<Kept>;
@group(0) @binding(7) var<storage, read_write> inv: array<f32>;
@group(0) @binding(8) var<uniform> shape: Shape;

//! piece quads

// adds the outer product of u, one k of four rows, and b, the same k of four columns
fn outer(u: vec4f, b: vec4f, c: mat4x4f) -> mat4x4f {
  return mat4x4f(
    fma(vec4f(u.x), b, c[0]), fma(vec4f(u.y), b, c[1]), fma(vec4f(u.z), b, c[2]), fma(vec4f(u.w), b, c[3]));
}

fn component(v: vec4f, q: u32) -> f32 { return select(select(v.x, v.y, q == 1u), select(v.z, v.w, q == 3u), q > 1u); }

fn finish(n: u32, pair: u32, column: u32, first: f32, second: f32) {
  var lo = first;
  var hi = second;
  if (shape.bias == 1u) {
    lo += f32(weights[shape.bias_at + column]);
    hi += f32(weights[shape.bias_at + column + shape.half]);
  }
  if (shape.swiglu == 1u) {
    act[n * (shape.M / 2u) + pair] = Kept(lo / (1.0 + exp(min(-lo, 80.0))) * hi);
    if (shape.save == 0u) { return; }
  } else if (pair < shape.half * shape.turned) {
    let at = 2u * (positions[n] * shape.half + 2u * pair - column);
    let c = table[at];
    let s = table[at + 1u];
    let turned = lo * c - hi * s;
    hi = hi * c + lo * s;
    lo = turned;
  }
  p[n * shape.M + column] = Kept(lo);
  p[n * shape.M + column + shape.half] = Kept(hi);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let n0 = id.y * 8u;
  if (n0 >= shape.N) { return; }
  let pairs = shape.M / 2u;
  let own = vec4u(id.x * 4u - 3u * local.x) + vec4u(0, 8, 16, 24);
  let mine = min(own, vec4u(pairs - 1u));
  let columns = 2u * mine - mine % shape.half;
  let lows = columns * shape.C + shape.projection_at;
  let highs = lows + shape.half * shape.C;
  let top = min(vec4u(n0) + vec4u(0, 1, 2, 3), vec4u(shape.N - 1u)) * shape.C;
  let low = min(vec4u(n0) + vec4u(4, 5, 6, 7), vec4u(shape.N - 1u)) * shape.C;
  // sums of the first four rows, then (low_…) of the last four
  var squares = vec4f();
  var lo = mat4x4f(); // column n holds four pairs of row n
  var hi = mat4x4f();
  var low_squares = vec4f();
  var low_lo = mat4x4f();
  var low_hi = mat4x4f();
  for (var k = 0u; k < shape.C; k++) {
    let gain = f32(weights[shape.norm_at + k]);
    let a = gain * vec4f(vec4(weights[lows.x + k], weights[lows.y + k], weights[lows.z + k], weights[lows.w + k]));
    let b = gain * vec4f(vec4(weights[highs.x + k], weights[highs.y + k], weights[highs.z + k], weights[highs.w + k]));
    let u = vec4f(x[top.x + k], x[top.y + k], x[top.z + k], x[top.w + k]);
    squares = fma(u, u, squares);
    lo = outer(u, a, lo);
    hi = outer(u, b, hi);
    let v = vec4f(x[low.x + k], x[low.y + k], x[low.z + k], x[low.w + k]);
    low_squares = fma(v, v, low_squares);
    low_lo = outer(v, a, low_lo);
    low_hi = outer(v, b, low_hi);
  }
  let across = (shape.M + 63u) / 64u * 8u; // threads per row
  // The bound 8 comes from the shape (`block`), so that the compiler does not unroll these loops: unrolled, they would
  // take longer to compile than the rest of the kernel.
  for (var r = 0u; r < min(shape.block, shape.N - n0); r++) {
    let n = n0 + r;
    var los = lo;
    var his = hi;
    var sums = squares;
    if (r >= 4u) {
      los = low_lo;
      his = low_hi;
      sums = low_squares;
    }
    let scale = 1.0 / sqrt(component(sums, r % 4u) / f32(shape.C) + EPS);
    let first = pick(los, r % 4u) * scale;
    let second = pick(his, r % 4u) * scale;
    for (var q = 0u; q < shape.block / 2u; q++) {
      let pair = own.x + q * 8u;
      if (pair >= pairs) { break; }
      let column = select(select(columns.x, columns.y, q == 1u), select(columns.z, columns.w, q == 3u), q > 1u);
      finish(n, pair, column, component(first, q), component(second, q));
    }
    if (shape.save == 0u) { continue; }
    if (id.x == 0u) { inv[n] = scale; }
    for (var at = n * shape.C + id.x; at < (n + 1u) * shape.C; at += across) { xhat[at] = Kept(x[at] * scale); }
  }
}
