// norm_project_broadcast: p = RMSNorm(x)·projectionᵀ, with the norm applied on load
//     (subgroup variant, for sizes that are multiples of 4).
//     Columns are taken in pairs (lo, hi):
//     SwiGLU: lo is a gate, hi an up; act = silu(gate)·up.
//     Rotary: (lo, hi) of a head of q or k is rotated by the angle of the row's position:
//     (lo·cos − hi·sin, hi·cos + lo·sin)
// Shapes    x, xhat (N,C); inv (N); weights (P), all parameters of the network, with the norm's weight (C) at norm_at,
//           the projection (M,C) at projection_at and the bias (M) at bias_at; p (N,M); act (N, M/2); table (P, D/2, 2)
//           of cos and sin. lo and hi are `half` apart, in blocks of 2·half columns: half is F for gates and ups, D/2
//           for heads. The first `turned` blocks (heads) are rotated.
// Parallel  a thread owns 16 rows and 4 columns in registers; x covers M/(4·WIDTH), y covers N/16. Of eight lanes of a
//           subgroup, four own lo and four own hi of the same pairs, and they exchange them at the end. No shared
//           memory, no barrier; needs subgroups of 8 or more, with threads in order.
// Numerics  f32, c in order; the lane that loads a row sums its squares. save 1 also writes xhat and inv for the
//           backward pass. −gate is capped at 80, so exp stays finite. One pipeline serves both SwiGLU and rotary,
//           because each takes time to compile.
enable subgroups;
override WIDTH: u32 = 16; // threads of a workgroup
//! piece norm_project_operands
//! piece quads
//! piece tile_subgroup

struct Operands {
  turn_a: bool, part: u32, px: vec2u, pw: u32, gains: vec4f, squares: vec2f, scale: vec2f, group: u32, thread: u32,
  n: u32, block: u32, i: u32, inside: bool,
}

fn terms(group: vec3u) -> vec2u { return vec2u(0u, shape.C); }

fn rows_from(group: vec3u) -> u32 { return shape.N - group.y * 16u; }

fn begin(group: vec3u, thread: u32, lane: u32) -> Operands {
  let n = group.y * 16u;
  let part = thread % 8u;
  let own = 4u * (group.x * (WIDTH / 2u) + thread / 8u * 4u + part % 4u);
  let pair = min(own, shape.M / 2u - 4u);
  let block = pair / shape.half;
  let i = pair % shape.half;
  let column = block * 2u * shape.half + i + select(0u, shape.half, part >= 4u);
  let rows = vec2u(n + 4u * (part % 4u) + part / 4u) + vec2u(0, 2);
  return Operands(
    false, part, min(rows, vec2u(shape.N - 1u)) * (shape.C / 4u),
    (shape.projection_at + column * shape.C) / 4u, vec4f(), vec2f(), vec2f(),
    group.x, thread, n, block, i, own < shape.M / 2u);
}

// rows of x times the norm's gain; of every eight quads of the gain a lane loads one
fn rows_of_a(at: ptr<function, Operands>, k: u32) -> Rows {
  let quad = k / 4u;
  if (quad % 8u == 0u) {
    (*at).gains = vec4f(weights[shape.norm_at / 4u + min(quad + (*at).part, shape.C / 4u - 1u)]);
  }
  let gain = subgroupShuffle((*at).gains, quad % 8u);
  let near = x[(*at).px.x + quad];
  let far = x[(*at).px.y + quad];
  (*at).squares += vec2f(dot(near, near), dot(far, far));
  return Rows(near * gain, far * gain);
}

fn columns_of_b(at: ptr<function, Operands>, k: u32) -> mat4x4f {
  let quarter = shape.C / 4u;
  let w = (*at).pw + k / 4u;
  return transpose(mat4x4f(vec4f(weights[w]), vec4f(weights[w + quarter]), vec4f(weights[w + 2u * quarter]),
                           vec4f(weights[w + 3u * quarter])));
}

// computes the scale of the sums; the threads of a row divide the work of writing its xhat
fn summed(at: ptr<function, Operands>) {
  let quarter = shape.C / 4u;
  let squares = (*at).squares;
  let scale = 1.0 / sqrt(squares / f32(shape.C) + EPS);
  (*at).scale = scale;
  if (shape.save == 0u || (*at).group > 0u) { return; }
  for (var r = 0u; r < shape.block / 8u; r++) {
    let n = (*at).n + 4u * ((*at).part % 4u) + (*at).part / 4u + 2u * r;
    if (n >= shape.N) { break; }
    let first = (*at).thread / 8u;
    if (first == 0u) { inv[n] = scale[r]; }
    let row = n * quarter;
    for (var c = first; c < quarter; c += WIDTH / 8u) { xhat[row + c] = vec4<Kept>(x[row + c] * scale[r]); }
  }
}

// stores four pairs of a row; this lane holds their lo or their hi, its partner lane the other
fn finish(at: Operands, n: u32, sum: vec4f) {
  let hi = at.part >= 4u;
  let lane = n / 4u + 4u * (n % 2u);
  let column = at.block * 2u * shape.half + at.i + select(0u, shape.half, hi);
  var value = sum * subgroupShuffle(select(at.scale.x, at.scale.y, n % 4u >= 2u), lane);
  if (shape.bias == 1u) { value += vec4f(weights[(shape.bias_at + column) / 4u]); }
  let other = subgroupShuffleXor(value, 4u);
  if (!at.inside) { return; }
  let row = at.n + n;
  if (shape.swiglu == 1u) {
    if (!hi) { act[(row * shape.M / 2u + at.block * shape.half + at.i) / 4u] = vec4<Kept>(gated(value, other)); }
    if (shape.save == 0u) { return; }
  } else if (at.block < shape.turned) {
    let turn = turn_of(row, at.i);
    value = value * turn.cosines + select(-other, other, hi) * turn.sines;
  }
  p[(row * shape.M + column) / 4u] = vec4<Kept>(value);
}
