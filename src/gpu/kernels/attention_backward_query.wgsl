// attention_backward_query: the gradient of queries. With p_j = exp(q·k_j/√D − lse) and delta = dout·out:
//     over the nodes j on the path of n: dq = sum_j p_j·(dout·v_j − delta)·k_j/√D, rotated back by the angle of n
// Shapes    qkv, dqkv (N,W), W = (H + 2·G)·D; nodes as in attention_forward; out, dout (N, H·D); lse, delta (N,H);
//           table (P, D/2, 2) of cos and sin.
// Parallel  one thread per (n,h), barrier-free; it writes delta and the query columns of dqkv. D ≤ 64 sums in
//           registers.
// Numerics  f32; probabilities are recomputed from lse, so exp never overflows.
override HEAD: u32 = 8; // D, at most 64; a constant, so that loops over it unroll
alias Kept = f32; // or f16
struct Shape { N: u32, H: u32, G: u32, W: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(2) var<storage, read> out: array<Kept>;
@group(0) @binding(3) var<storage, read> dout: array<f32>;
@group(0) @binding(4) var<storage, read> lse: array<f32>;
@group(0) @binding(5) var<storage, read> table: array<vec2f>;
@group(0) @binding(6) var<storage, read_write> delta: array<f32>;
@group(0) @binding(7) var<storage, read_write> dqkv: array<f32>;
@group(0) @binding(8) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let flat = id.x + id.y * 4194240u;
  let n = flat / shape.H;
  let h = flat % shape.H;
  if (n >= shape.N) { return; }
  let D = HEAD;
  let q = n * shape.W + h * D;
  let o = (n * shape.H + h) * D;
  let key = (shape.H + h * shape.G / shape.H) * D;
  let value = key + shape.G * D;
  let scale = 1.0 / sqrt(f32(D));
  let norm = lse[n * shape.H + h];
  var dq: array<f32, 64>;
  var dot = 0.0;
  for (var d = 0u; d < D; d++) { dot += f32(out[o + d]) * dout[o + d]; }
  delta[n * shape.H + h] = dot;
  for (var j = nodes[n].z; j <= n;) {
    let end = nodes[j].w;
    if (end <= n) {
      j = max(end, j + 1u);
      continue;
    }
    let row = j * shape.W;
    j++;
    var s = 0.0;
    var dp = 0.0;
    for (var d = 0u; d < D; d++) {
      s += f32(qkv[q + d]) * f32(qkv[row + key + d]);
      dp += dout[o + d] * f32(qkv[row + value + d]);
    }
    let ds = exp(s * scale - norm) * (dp - dot) * scale;
    for (var d = 0u; d < D; d++) { dq[d] += ds * f32(qkv[row + key + d]); }
  }
  let half = D / 2u;
  for (var i = 0u; i < half; i++) {
    let turn = table[nodes[n].y * half + i];
    dqkv[q + i] = dq[i] * turn.x + dq[i + half] * turn.y;
    dqkv[q + i + half] = dq[i + half] * turn.x - dq[i] * turn.y;
  }
}
