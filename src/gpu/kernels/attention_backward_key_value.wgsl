// attention_backward_key_value: the gradients of keys and values. With p_i = exp(q_i·k_j/√D − lse_i),
//     over the nodes i whose path contains j and the query heads that read this key:
//     dv_j = sum p_i·dout_i;  dk_j = sum p_i·(dout_i·v_j − delta_i)·q_i/√D, rotated back by the rotary angle of j
// Shapes    qkv, dqkv (N,W), W = (H + 2·G)·D; nodes as in attention_forward; dout (N, H·D); lse, delta (N,H); table
//           (P, D/2, 2) of cos and sin.
// Parallel  one thread per (j,g), barrier-free; it writes the key and value columns of dqkv. 2·D ≤ 128 sums in
//           registers.
// Numerics  f32; sums run over i and then over query heads, always in that order. This adds up the gradients from all
//           rows that share the node.
override HEAD: u32 = 8; // D, at most 64; a constant, so that loops over it unroll
alias Kept = f32; // or f16
struct Shape { N: u32, H: u32, G: u32, W: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(2) var<storage, read> dout: array<f32>;
@group(0) @binding(3) var<storage, read> lse: array<f32>;
@group(0) @binding(4) var<storage, read> delta: array<f32>;
@group(0) @binding(5) var<storage, read> table: array<vec2f>;
@group(0) @binding(6) var<storage, read_write> dqkv: array<f32>;
@group(0) @binding(7) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let flat = id.x + id.y * 4194240u;
  let j = flat / shape.G;
  let g = flat % shape.G;
  if (j >= shape.N) { return; }
  let D = HEAD;
  let key = j * shape.W + (shape.H + g) * D;
  let value = key + shape.G * D;
  let each = shape.H / shape.G;
  let scale = 1.0 / sqrt(f32(D));
  var dk: array<f32, 64>;
  var dv: array<f32, 64>;
  for (var i = j; i < min(nodes[j].w, shape.N); i++) {
    for (var h = g * each; h < (g + 1u) * each; h++) {
      let q = i * shape.W + h * D;
      let o = (i * shape.H + h) * D;
      var s = 0.0;
      var dp = 0.0;
      for (var d = 0u; d < D; d++) {
        s += f32(qkv[q + d]) * f32(qkv[key + d]);
        dp += dout[o + d] * f32(qkv[value + d]);
      }
      let p = exp(s * scale - lse[i * shape.H + h]);
      let ds = p * (dp - delta[i * shape.H + h]) * scale;
      for (var d = 0u; d < D; d++) {
        dk[d] += ds * f32(qkv[q + d]);
        dv[d] += p * dout[o + d];
      }
    }
  }
  let half = D / 2u;
  for (var i = 0u; i < half; i++) {
    let turn = table[nodes[j].y * half + i];
    dqkv[key + i] = dk[i] * turn.x + dk[i + half] * turn.y;
    dqkv[key + i + half] = dk[i + half] * turn.x - dk[i] * turn.y;
    dqkv[value + i] = dv[i];
    dqkv[value + i + half] = dv[i + half];
  }
}
