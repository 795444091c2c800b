// attention_backward_query: the gradient of queries. With p_j = exp(q·k_j/√D − lse) and delta = dout·out:
//     dq = sum_{j≤t} p_j·(dout·v_j − delta)·k_j/√D, rotated back by the rotary angle of t
// Shapes    qkv, dqkv (B·T, W), W = (H + 2·G)·D; out, dout (B·T, H·D); lse, delta (B·T, H); table (P, D/2, 2) of cos
//           and sin.
// Parallel  one thread per (b,t,h), barrier-free; it writes delta and the query columns of dqkv. D ≤ 64 sums in
//           registers.
// Numerics  f32; probabilities are recomputed from lse, so exp never overflows. The rotary position of token t is t,
//           because training rows start at 0.
override HEAD: u32 = 8; // D, at most 64; a constant, so that loops over it unroll
alias Kept = f32; // or f16
struct Shape { N: u32, T: u32, H: u32, G: u32, W: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> out: array<Kept>;
@group(0) @binding(2) var<storage, read> dout: array<f32>;
@group(0) @binding(3) var<storage, read> lse: array<f32>;
@group(0) @binding(4) var<storage, read> table: array<vec2f>;
@group(0) @binding(5) var<storage, read_write> delta: array<f32>;
@group(0) @binding(6) var<storage, read_write> dqkv: array<f32>;
@group(0) @binding(7) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let flat = id.x + id.y * 4194240u;
  let n = flat / shape.H;
  let h = flat % shape.H;
  if (n >= shape.N) { return; }
  let t = n % shape.T;
  let D = HEAD;
  let q = n * shape.W + h * D;
  let o = (n * shape.H + h) * D;
  let first = (n - t) * shape.W;
  let key = (shape.H + h * shape.G / shape.H) * D;
  let value = key + shape.G * D;
  let scale = 1.0 / sqrt(f32(D));
  let norm = lse[n * shape.H + h];
  var dq: array<f32, 64>;
  var dot = 0.0;
  for (var d = 0u; d < D; d++) { dot += f32(out[o + d]) * dout[o + d]; }
  delta[n * shape.H + h] = dot;
  for (var j = 0u; j <= t; j++) {
    let row = first + j * shape.W;
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
    let turn = table[t * half + i];
    dqkv[q + i] = dq[i] * turn.x + dq[i + half] * turn.y;
    dqkv[q + i + half] = dq[i + half] * turn.x - dq[i] * turn.y;
  }
}
