// tree_attention: attention over the path of each node of a tree of tokens:
//     out[n,h] = sum_j p_j·v_j over the nodes j on the path of node n, n included, p = softmax_j(q_n·k_j/√D);
//     lse[n,h] = log sum_j exp(q_n·k_j/√D). Rows with the same beginning share the nodes of that beginning
// Shapes    heads (N,W), W = (H + 2·G)·D, D a multiple of 4, at most 128; nodes (N), one per token of the tree, as
//           (token, position t, path (0xffffffff: empty), last); paths (·): from index `path` on, the nodes of
//           positions 0 … t; out (N, H·D); lse (N,H). Query head h reads key head h·G/H.
// Parallel  one thread per (n,h), barrier-free; it goes over its keys once with an online softmax, D sums in registers.
// Numerics  f32; the running maximum is subtracted before exp. Only lse is kept for the backward pass. Empty nodes get
//           0.
override HEAD: u32 = 8; // D, a constant so that loops over it unroll
struct Shape { N: u32, H: u32, G: u32 }
@group(0) @binding(0) var<storage, read> heads: array<vec4f>;
@group(0) @binding(1) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(2) var<storage, read> paths: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> lse: array<f32>;
@group(0) @binding(5) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let flat = id.x + id.y * 4194240u;
  let n = flat / shape.H;
  let h = flat % shape.H;
  if (n >= shape.N) { return; }
  let D = HEAD / 4u;
  let W = (shape.H + 2u * shape.G) * D;
  let key = (shape.H + h * shape.G / shape.H) * D;
  let value = key + shape.G * D;
  let scale = 1.0 / sqrt(f32(HEAD));
  let node = nodes[n];
  let count = select(node.y + 1u, 0u, node.z == 0xffffffffu);
  var query: array<vec4f, 32>;
  var acc: array<vec4f, 32>;
  for (var d = 0u; d < D; d++) { query[d] = heads[n * W + h * D + d] * scale; }
  var top = -1e30;
  var total = 0.0;
  for (var j = 0u; j < count; j++) {
    let row = paths[node.z + j] * W;
    var s = 0.0;
    for (var d = 0u; d < D; d++) { s += dot(query[d], heads[row + key + d]); }
    let higher = max(top, s);
    let shrink = exp(top - higher);
    let p = exp(s - higher);
    total = total * shrink + p;
    for (var d = 0u; d < D; d++) { acc[d] = acc[d] * shrink + p * heads[row + value + d]; }
    top = higher;
  }
  let sum = select(1.0, total, count > 0u);
  lse[n * shape.H + h] = top + log(sum);
  for (var d = 0u; d < D; d++) { out[(n * shape.H + h) * D + d] = acc[d] / sum; }
}
