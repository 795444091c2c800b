// norm_project_tiles: p = RMSNorm(x)·projectionᵀ, with the norm applied on load (for sizes that are multiples of 4).
//     Columns are taken in pairs (lo, hi):
//     SwiGLU: lo is a gate, hi an up; act = silu(gate)·up.
//     Rotary: (lo, hi) of a head of q or k is rotated by the angle of the row's position:
//     (lo·cos − hi·sin, hi·cos + lo·sin)
// Shapes    x, xhat (N,C); inv (N); weights (P), all parameters of the network, with the norm's weight (C) at norm_at,
//           the projection (M,C) at projection_at and the bias (M) at bias_at; p (N,M); act (N, M/2); table (P, D/2, 2)
//           of cos and sin. lo and hi are `half` apart, in blocks of 2·half columns: half is F for gates and ups, D/2
//           for heads. The first `turned` blocks (heads) are rotated.
// Parallel  a workgroup of 8×8 threads owns 32 rows and 32 pairs, each thread 4 of both in registers. Slices of 16 c
//           are staged in 6 KiB of shared memory, with a barrier before and after each is used. x covers M/64, y covers
//           N/32. The threads of a row divide the work of writing its xhat.
// Numerics  f32, c in order. Each thread sums the squares of its rows as it goes and scales at the end, so all threads
//           get the same bits. save 1 also writes xhat and inv for the backward pass. −gate is capped at 80, so exp
//           stays finite.
//! piece norm_project_operands
//! piece quads
// each element has four scalars along c; indices: [c / 4][(row or pair) % 4][(row or pair) / 4]
var<workgroup> tx: array<vec4f, 128>;
var<workgroup> tlo: array<vec4f, 128>; // gain times projection
var<workgroup> thi: array<vec4f, 128>;

fn finish(n: u32, pair: u32, lo: vec4f, hi: vec4f) {
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

fn rows(c: mat4x4f, u: mat4x4f, b: mat4x4f) -> mat4x4f {
  return mat4x4f(row(c[0], u[0], b), row(c[1], u[1], b), row(c[2], u[2], b), row(c[3], u[3], b));
}

// index of the first quad of a pair's first column in the projection
fn column(pair: u32) -> u32 {
  let own = min(pair, shape.M / 2u - 1u);
  return (shape.projection_at + (2u * own - own % shape.half) * shape.C) / 4u;
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(workgroup_id) group: vec3u,
        @builtin(local_invocation_id) local: vec3u, @builtin(local_invocation_index) lane: u32) {
  let quarter = shape.C / 4u;
  // a thread stages quad q of two rows and of two pairs
  let q = lane % 4u;
  let i = lane / 4u;
  let own = min(vec2u(i, i + 16u) + group.y * 32u, vec2u(shape.N - 1u)) * quarter;
  let lows = vec2u(column(group.x * 32u + i), column(group.x * 32u + i + 16u));
  let highs = lows + shape.half * quarter;
  var squares = vec4f();
  var c = mat4x4f(); // lo (c) and hi (d); each column holds four pairs of one row
  var d = mat4x4f();
  for (var k0 = 0u; k0 < quarter; k0 += 4u) {
    let k = min(k0 + q, quarter - 1u);
    let inside = k0 + q < quarter;
    let gain = select(vec4f(), vec4f(weights[shape.norm_at / 4u + k]), inside);
    for (var h = 0u; h < 2u; h++) {
      let at = q * 32u + i % 4u * 8u + i / 4u + 4u * h;
      tx[at] = select(vec4f(), x[own[h] + k], inside);
      tlo[at] = gain * vec4f(weights[lows[h] + k]);
      thi[at] = gain * vec4f(weights[highs[h] + k]);
    }
    workgroupBarrier();
    for (var s = 0u; s < shape.block; s++) {
      let r = s * 32u + local.y;
      let u = mat4x4f(tx[r], tx[r + 8u], tx[r + 16u], tx[r + 24u]);
      squares += vec4f(dot(u[0], u[0]), dot(u[1], u[1]), dot(u[2], u[2]), dot(u[3], u[3]));
      let j = s * 32u + local.x;
      c = rows(c, u, transpose(mat4x4f(tlo[j], tlo[j + 8u], tlo[j + 16u], tlo[j + 24u])));
      d = rows(d, u, transpose(mat4x4f(thi[j], thi[j + 8u], thi[j + 16u], thi[j + 24u])));
    }
    workgroupBarrier();
  }
  let n0 = id.y * 4u;
  let pair = id.x * 4u;
  if (n0 >= shape.N || pair >= shape.M / 2u) { return; }
  let scale = 1.0 / sqrt(squares / f32(shape.C) + EPS);
  // The bound 4 comes from the shape (`block`), so that the compiler does not unroll this loop: unrolled, it would take
  // longer to compile than the rest of the kernel.
  for (var r = 0u; r < min(shape.block, shape.N - n0); r++) {
    let s = scale[r];
    finish(n0 + r, pair, pick(c, r) * s, pick(d, r) * s);
    if (shape.save == 0u) { continue; }
    if (pair == 0u) { inv[n0 + r] = s; }
    let end = (n0 + r + 1u) * quarter;
    for (var at = end - quarter + id.x; at < end; at += shape.M / 8u) { xhat[at] = vec4<Kept>(x[at] * s); }
  }
}
