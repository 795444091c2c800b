// tree_attention_backward_key_value: the gradients of keys and values. With p_i = exp(q_i·k_j/√D − lse_i),
//     over the nodes i whose path contains j and the query heads that read this key:
//     dv_j = sum p_i·dout_i;  dk_j = sum p_i·(dout_i·v_j − delta_i)·q_i/√D
// Shapes    heads, dheads (N,W), W = (H + 2·G)·D, D a multiple of 4, at most 128; nodes (N), one per token of the tree,
//           as (token, position, path, last): the nodes whose path contains j are j … last − 1; dout (N, H·D); lse,
//           delta (N,H).
// Parallel  one thread per (j,g), barrier-free; it writes the key and value columns of dheads. 2·D sums in registers.
// Numerics  f32; sums run over i and then over query heads, always in that order. This adds up the gradients from all
//           rows that share the node.
override HEAD: u32 = 8; // D, a constant so that loops over it unroll
struct Shape { N: u32, H: u32, G: u32 }
@group(0) @binding(0) var<storage, read> heads: array<vec4f>;
@group(0) @binding(1) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(2) var<storage, read> dout: array<vec4f>;
@group(0) @binding(3) var<storage, read> lse: array<f32>;
@group(0) @binding(4) var<storage, read> delta: array<f32>;
@group(0) @binding(5) var<storage, read_write> dheads: array<vec4f>;
@group(0) @binding(6) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let flat = id.x + id.y * 4194240u;
  let j = flat / shape.G;
  let g = flat % shape.G;
  if (j >= shape.N) { return; }
  let D = HEAD / 4u;
  let W = (shape.H + 2u * shape.G) * D;
  let key = j * W + (shape.H + g) * D;
  let value = key + shape.G * D;
  let each = shape.H / shape.G;
  let scale = 1.0 / sqrt(f32(HEAD));
  var dk: array<vec4f, 32>;
  var dv: array<vec4f, 32>;
  for (var i = j; i < min(nodes[j].w, shape.N); i++) {
    for (var h = g * each; h < (g + 1u) * each; h++) {
      let q = i * W + h * D;
      let o = (i * shape.H + h) * D;
      var s = 0.0;
      var dp = 0.0;
      for (var d = 0u; d < D; d++) {
        s += dot(heads[q + d], heads[key + d]);
        dp += dot(dout[o + d], heads[value + d]);
      }
      let p = exp(s * scale - lse[i * shape.H + h]);
      let ds = p * (dp - delta[i * shape.H + h]) * scale;
      for (var d = 0u; d < D; d++) {
        dk[d] += ds * heads[q + d];
        dv[d] += p * dout[o + d];
      }
    }
  }
  for (var d = 0u; d < D; d++) {
    dheads[key + d] = dk[d];
    dheads[value + d] = dv[d];
  }
}
