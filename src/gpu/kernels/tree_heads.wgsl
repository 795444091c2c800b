// tree_heads: prepares q, k and v of a tree's tokens for attention: adds the bias; normalises each head of q and k
//     (RMSNorm, as in Qwen3) and rotates it by its position (rotary). Values only get their bias
// Shapes    qkv, heads (N,W), W = (H + 2·G)·D; nodes (N), one per token of the tree, as (token, position, path, last);
//           table (T, D/2, 2) of cos and sin; bias (W); norms (2,D) of q, of k.
// Parallel  one thread per (n, head): x covers H + 2·G, y covers N. No shared memory.
// Numerics  f32; cos and sin come from a table computed in float64. eps is inside the root.
override EPS: f32 = 1e-5;
override BIAS: u32 = 0; // 1: bias is added; 0: another tensor is bound in its place
override NORM: u32 = 0; // 1: heads of q and k are normalised; 0: another tensor is bound to `norms`
struct Shape { N: u32, H: u32, G: u32, D: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(2) var<storage, read> table: array<vec2f>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read> norms: array<f32>;
@group(0) @binding(5) var<storage, read_write> heads: array<f32>;
@group(0) @binding(6) var<uniform> shape: Shape;

fn projected(at: u32, column: u32) -> f32 {
  var value = qkv[at];
  if (BIAS == 1u) { value += bias[column]; }
  return value;
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
  var scale = 1.0;
  if (NORM == 1u && turns) {
    var squares = 0.0;
    for (var d = 0u; d < D; d++) {
      let value = projected(at + d, column + d);
      squares += value * value;
    }
    scale = 1.0 / sqrt(squares / f32(D) + EPS);
  }
  let weight = select(D, 0u, id.x < shape.H);
  for (var i = 0u; i < half; i++) {
    var lo = projected(at + i, column + i) * scale;
    var hi = projected(at + half + i, column + half + i) * scale;
    if (turns) {
      if (NORM == 1u) {
        lo *= norms[weight + i];
        hi *= norms[weight + half + i];
      }
      let turn = table[nodes[n].y * half + i];
      let turned = lo * turn.x - hi * turn.y;
      hi = hi * turn.x + lo * turn.y;
      lo = turned;
    }
    heads[at + i] = lo;
    heads[at + half + i] = hi;
  }
}
