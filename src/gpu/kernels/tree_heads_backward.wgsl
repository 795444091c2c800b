// tree_heads_backward: the gradient of q, k and v from that of heads (see tree_heads): rotated back, then passed
//     through the norm.
//     With s = 1/√(mean x² + eps) of a head x, w the norm's weight, and g the gradient of the norm's output:
//     dx = s·w·g − x·s³·mean_d(w·g·x)
// Shapes    dheads, qkv, dqkv (N,W), W = (H + 2·G)·D; nodes (N), one per token of the tree, as (token, position, path,
//           last); table (T, D/2, 2) of cos and sin; bias (W); norms (2,D) of q, of k.
// Parallel  one thread per (n, head): x covers H + 2·G, y covers N. No shared memory.
// Numerics  f32; the norm's sums are recomputed. Biases and the norms' weights get no gradient.
override EPS: f32 = 1e-5;
override BIAS: u32 = 0; // 1: bias was added; 0: another tensor is bound in its place
override NORM: u32 = 0; // 1: heads of q and k were normalised; 0: another tensor is bound to `norms`
struct Shape { N: u32, H: u32, G: u32, D: u32 }
@group(0) @binding(0) var<storage, read> dheads: array<f32>;
@group(0) @binding(1) var<storage, read> qkv: array<f32>;
@group(0) @binding(2) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(3) var<storage, read> table: array<vec2f>;
@group(0) @binding(4) var<storage, read> bias: array<f32>;
@group(0) @binding(5) var<storage, read> norms: array<f32>;
@group(0) @binding(6) var<storage, read_write> dqkv: array<f32>;
@group(0) @binding(7) var<uniform> shape: Shape;

// the head's x at d and at d + D/2, bias included
fn projected(at: u32, column: u32, half: u32) -> vec2f {
  var pair = vec2f(qkv[at], qkv[at + half]);
  if (BIAS == 1u) { pair += vec2f(bias[column], bias[column + half]); }
  return pair;
}

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.y + id.z * 65532u;
  let all = shape.H + 2u * shape.G;
  if (id.x >= all || n >= shape.N) { return; }
  let D = shape.D;
  let half = D / 2u;
  let column = id.x * D;
  let at = n * all * D + column;
  let turns = id.x < shape.H + shape.G;
  let weight = select(D, 0u, id.x < shape.H);
  var squares = 0.0;
  var along = 0.0; // dot product of w·g and x
  for (var i = 0u; i < half; i++) {
    var g = vec2f(dheads[at + i], dheads[at + half + i]);
    if (turns) {
      let turn = table[nodes[n].y * half + i];
      g = vec2f(g.x * turn.x + g.y * turn.y, g.y * turn.x - g.x * turn.y);
      if (NORM == 1u) {
        g *= vec2f(norms[weight + i], norms[weight + half + i]);
        let x = projected(at + i, column + i, half);
        squares += dot(x, x);
        along += dot(g, x);
      }
    }
    dqkv[at + i] = g.x;
    dqkv[at + half + i] = g.y;
  }
  if (NORM == 0u || !turns) { return; }
  let scale = 1.0 / sqrt(squares / f32(D) + EPS);
  let back = scale * scale * scale * along / f32(D);
  for (var i = 0u; i < half; i++) {
    let x = projected(at + i, column + i, half);
    dqkv[at + i] = scale * dqkv[at + i] - back * x.x;
    dqkv[at + half + i] = scale * dqkv[at + half + i] - back * x.y;
  }
}
