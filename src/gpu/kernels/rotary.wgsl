// rotary: qkv += bias; each head of q and k is normalised, if the model does that (RMSNorm, as in Qwen3), and rotated.
//     With i < D/2 and angle a = position·theta^(−2i/D):
//     (u_i, u_{i+D/2}) ← (u_i·cos a − u_{i+D/2}·sin a, u_{i+D/2}·cos a + u_i·sin a)
//     (rotate-half of RoFormer, as in Llama)
// Shapes    qkv (N,W), W = (H + 2·G)·D: queries, keys, values; positions (N); table (P, D/2, 2) of cos and sin; bias
//           (W); norms: weights (D) for q, and from k_norm on for k; unnormed: q before its norm (N,H,D), and from k_at
//           on k (N,G,D).
// Parallel  one thread per (n, head): x covers H + 2·G, y covers N. No shared memory.
// Numerics  f32; cos and sin come from a table computed in float64, because WGSL's own are only accurate to 2^−11. eps is
//           inside the root.
override EPS: f32 = 1e-5;
override BIAS: u32 = 0; // 1: bias is added; 0: another tensor is bound in its place
override NORM: u32 = 0; // 1: heads of q and k are normalised; 0: other tensors are bound to `norms` and `unnormed`
alias Weight = f32; // or f16
alias Kept = f32; // or f16
struct Shape { N: u32, H: u32, G: u32, D: u32, k_norm: u32, k_at: u32 }
@group(0) @binding(0) var<storage, read_write> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> positions: array<u32>;
@group(0) @binding(2) var<storage, read> table: array<vec2f>;
@group(0) @binding(3) var<storage, read> bias: array<Weight>;
@group(0) @binding(4) var<storage, read> norms: array<Weight>;
@group(0) @binding(5) var<storage, read_write> unnormed: array<f32>;
@group(0) @binding(6) var<uniform> shape: Shape;

//! piece head_norms

fn biased(at: u32, column: u32) -> f32 {
  if (BIAS == 1u) { return f32(qkv[at]) + f32(bias[column]); }
  return f32(qkv[at]);
}

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.y + id.z * 65532u;
  let head = id.x;
  let all = shape.H + 2u * shape.G;
  let turns = head < shape.H + shape.G;
  if (head >= all || n >= shape.N || (!turns && BIAS == 0u)) { return; }
  let half = shape.D / 2u;
  let column = head * shape.D;
  let at = n * all * shape.D + column;
  if (!turns) {
    for (var d = 0u; d < shape.D; d++) { qkv[at + d] = Kept(biased(at + d, column + d)); }
    return;
  }
  let copy = unnormed_at(n, head);
  let weight = norm_at(head);
  var scale = 1.0;
  if (NORM == 1u) {
    var squares = 0.0;
    for (var d = 0u; d < shape.D; d++) {
      let x = biased(at + d, column + d);
      unnormed[copy + d] = x;
      squares += x * x;
    }
    scale = 1.0 / sqrt(squares / f32(shape.D) + EPS);
  }
  for (var i = 0u; i < half; i++) {
    var lo = biased(at + i, column + i) * scale;
    var hi = biased(at + half + i, column + half + i) * scale;
    if (NORM == 1u) {
      lo *= f32(norms[weight + i]);
      hi *= f32(norms[weight + half + i]);
    }
    let turn = table[positions[n] * half + i];
    qkv[at + i] = Kept(lo * turn.x - hi * turn.y);
    qkv[at + half + i] = Kept(hi * turn.x + lo * turn.y);
  }
}
