// attention_forward: attention over whole rows:
//     out[b,t,h] = sum_{j≤t} p_j·v_j, p = softmax_j(q_t·k_j / √D);  lse = log sum_j exp(q_t·k_j / √D)
// Shapes    qkv (B·T, W), W = (H + 2·G)·D, rotated; out (B·T, H·D); lse (B·T, H). Query head h reads key head h·G/H.
// Parallel  one thread per (b,t,h), barrier-free; it goes over the keys once with an online softmax. D ≤ 64 sums in
//           registers.
// Numerics  f32; the running maximum is subtracted before exp. T×T is never stored, only lse for the backward pass.
override HEAD: u32 = 8; // D, at most 64; a constant, so that loops over it unroll
alias Kept = f32; // or f16
struct Shape { N: u32, T: u32, H: u32, G: u32, W: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read_write> out: array<Kept>;
@group(0) @binding(2) var<storage, read_write> lse: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let flat = id.x + id.y * 4194240u;
  let n = flat / shape.H;
  let h = flat % shape.H;
  if (n >= shape.N) { return; }
  let t = n % shape.T;
  let q = n * shape.W + h * HEAD;
  let first = (n - t) * shape.W;
  let key = (shape.H + h * shape.G / shape.H) * HEAD;
  let value = key + shape.G * HEAD;
  let scale = 1.0 / sqrt(f32(HEAD));
  var acc: array<f32, 64>;
  var top = -1e30;
  var total = 0.0;
  for (var j = 0u; j <= t; j++) {
    let row = first + j * shape.W;
    var dot = 0.0;
    for (var d = 0u; d < HEAD; d++) { dot += f32(qkv[q + d]) * f32(qkv[row + key + d]); }
    let s = dot * scale;
    let higher = max(top, s);
    let shrink = exp(top - higher);
    let p = exp(s - higher);
    total = total * shrink + p;
    for (var d = 0u; d < HEAD; d++) { acc[d] = acc[d] * shrink + p * f32(qkv[row + value + d]); }
    top = higher;
  }
  lse[n * shape.H + h] = top + log(total);
  for (var d = 0u; d < HEAD; d++) { out[(n * shape.H + h) * HEAD + d] = Kept(acc[d] / total); }
}
