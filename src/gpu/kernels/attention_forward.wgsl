// attention_forward: attention over the path of each node of trees of tokens. A row that shares nothing is such a path:
//     out[n,h] = sum_j p_j·v_j over the nodes j on the path to n, n included, p = softmax_j(q_n·k_j / √D);
//     lse = log sum_j exp(q_n·k_j / √D)
// Shapes    qkv (N,W), W = (H + 2·G)·D, rotated; nodes (N) in depth-first order, as (token, position, root, last):
//           root is the first node of its tree, and the nodes under j are j … last − 1; out (N, H·D); lse (N,H). Query
//           head h reads key head h·G/H.
// Parallel  one thread per (n,h), barrier-free; it goes over the keys once with an online softmax, and skips the nodes
//           under one that is not on its path. D ≤ 64 sums in registers.
// Numerics  f32; the running maximum is subtracted before exp. T×T is never stored, only lse for the backward pass.
override HEAD: u32 = 8; // D, at most 64; a constant, so that loops over it unroll
alias Kept = f32; // or f16
struct Shape { N: u32, H: u32, G: u32, W: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(2) var<storage, read_write> out: array<Kept>;
@group(0) @binding(3) var<storage, read_write> lse: array<f32>;
@group(0) @binding(4) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let flat = id.x + id.y * 4194240u;
  let n = flat / shape.H;
  let h = flat % shape.H;
  if (n >= shape.N) { return; }
  let q = n * shape.W + h * HEAD;
  let key = (shape.H + h * shape.G / shape.H) * HEAD;
  let value = key + shape.G * HEAD;
  let scale = 1.0 / sqrt(f32(HEAD));
  var acc: array<f32, 64>;
  var top = -1e30;
  var total = 0.0;
  for (var j = nodes[n].z; j <= n;) {
    let end = nodes[j].w;
    if (end <= n) {
      j = max(end, j + 1u);
      continue;
    }
    let row = j * shape.W;
    j++;
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
