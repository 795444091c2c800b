// tree_attention_backward_query: the gradient of queries. With p_j = exp(q·k_j/√D − lse) and delta = dout·out,
//     over the nodes j on the path of n:
//     dq = sum_j p_j·(dout·v_j − delta)·k_j/√D
// Shapes    heads, dheads (N,W), W = (H + 2·G)·D, D a multiple of 4, at most 128; nodes, paths as in tree_attention;
//           out, dout (N, H·D); lse, delta (N,H).
// Parallel  one thread per (n,h), barrier-free; it writes delta and the query columns of dheads. D sums in registers.
// Numerics  f32; probabilities are recomputed from lse, so exp never overflows. Empty nodes get 0.
override HEAD: u32 = 8; // D, a constant so that loops over it unroll
struct Shape { N: u32, H: u32, G: u32 }
@group(0) @binding(0) var<storage, read> heads: array<vec4f>;
@group(0) @binding(1) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(2) var<storage, read> paths: array<u32>;
@group(0) @binding(3) var<storage, read> out: array<vec4f>;
@group(0) @binding(4) var<storage, read> dout: array<vec4f>;
@group(0) @binding(5) var<storage, read> lse: array<f32>;
@group(0) @binding(6) var<storage, read_write> delta: array<f32>;
@group(0) @binding(7) var<storage, read_write> dheads: array<vec4f>;
@group(0) @binding(8) var<uniform> shape: Shape;

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
  let q = n * W + h * D;
  let o = (n * shape.H + h) * D;
  let norm = lse[n * shape.H + h];
  var dq: array<vec4f, 32>;
  var along = 0.0;
  for (var d = 0u; d < D; d++) { along += dot(out[o + d], dout[o + d]); }
  delta[n * shape.H + h] = along;
  for (var j = 0u; j < count; j++) {
    let row = paths[node.z + j] * W;
    var s = 0.0;
    var dp = 0.0;
    for (var d = 0u; d < D; d++) {
      s += dot(heads[q + d], heads[row + key + d]);
      dp += dot(dout[o + d], heads[row + value + d]);
    }
    let ds = exp(s * scale - norm) * (dp - along) * scale;
    for (var d = 0u; d < D; d++) { dq[d] += ds * heads[row + key + d]; }
  }
  for (var d = 0u; d < D; d++) { dheads[q + d] = dq[d]; }
}
