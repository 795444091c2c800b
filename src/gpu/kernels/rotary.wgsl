// rotary: qkv += bias, then for each head of q and k, with i < D/2 and angle a = position·theta^(−2i/D):
//     (u_i, u_{i+D/2}) ← (u_i·cos a − u_{i+D/2}·sin a, u_{i+D/2}·cos a + u_i·sin a)
//     (rotate-half of RoFormer, as in Llama)
// Shapes    qkv (N,W), W = (H + 2·G)·D: queries, keys, values; positions (N); table (P, D/2, 2) of cos and sin; bias
//           (W).
// Parallel  one thread per pair of a head: x covers W/2, y covers N. No other thread touches the pair. No shared
//           memory.
// Numerics  f32; cos and sin come from a table computed in float64, because WGSL's own are only accurate to 2^−11.
override BIAS: u32 = 0; // 1: bias is added; 0: another tensor is bound in its place
alias Weight = f32; // or f16
alias Kept = f32; // or f16
struct Shape { N: u32, W: u32, H: u32, G: u32, D: u32 }
@group(0) @binding(0) var<storage, read_write> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> positions: array<u32>;
@group(0) @binding(2) var<storage, read> table: array<vec2f>;
@group(0) @binding(3) var<storage, read> bias: array<Weight>;
@group(0) @binding(4) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.y + id.z * 65532u;
  if (n >= shape.N || id.x >= shape.W / 2u) { return; }
  let half = shape.D / 2u;
  let head = id.x / half;
  let i = id.x % half;
  let column = head * shape.D + i;
  let at = n * shape.W + column;
  var lo = f32(qkv[at]);
  var hi = f32(qkv[at + half]);
  if (BIAS == 1u) {
    lo += f32(bias[column]);
    hi += f32(bias[column + half]);
  }
  if (head < shape.H + shape.G) {
    let turn = table[positions[n] * half + i];
    let rotated = lo * turn.x - hi * turn.y;
    hi = hi * turn.x + lo * turn.y;
    lo = rotated;
  }
  qkv[at] = Kept(lo);
  qkv[at + half] = Kept(hi);
}
