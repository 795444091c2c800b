// attention_backward_key_value_shared_rows: the gradients of keys and values.
//     For subgroups of eight and heads up to 32.
//     With p_i = exp(q_i·k_j/√D − lse_i), over the nodes i whose path contains j and the query heads that read this key:
//     dv_j = sum p_i·dout_i;  dk_j = sum p_i·(dout_i·v_j − delta_i)·q_i/√D, rotated back by the rotary angle of j
// Shapes    qkv, dqkv (N,W), W = (H + 2·G)·D; nodes as in attention_forward; dout (N, H·D); lse, delta (N,H); table
//           (P, D/2, 2) of cos and sin.
// Parallel  x covers N/8, y covers G. Each of eight threads owns one key. Together they load a query's row and its
//           gradient, each lane every eighth scalar, and broadcast these scalars, so that each lane computes its key's
//           score. Then each lane's p and ds are broadcast, and every lane adds its scalars of all eight keys' dk and
//           dv. No shared memory, no barrier; subgroups of 8 or more.
// Numerics  f32; sums run over query heads and then over i, always in that order.
enable subgroups;
override HEAD: u32 = 8; // D, at most 32
alias Kept = f32; // or f16
struct Shape { N: u32, H: u32, G: u32, W: u32, D: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(2) var<storage, read> dout: array<f32>;
@group(0) @binding(3) var<storage, read> lse: array<f32>;
@group(0) @binding(4) var<storage, read> delta: array<f32>;
@group(0) @binding(5) var<storage, read> table: array<vec2f>; // cos, sin
@group(0) @binding(6) var<storage, read_write> dqkv: array<f32>;
@group(0) @binding(7) var<uniform> shape: Shape;

//! piece eighths

@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(subgroup_invocation_id) lane: u32) {
  let D = shape.D;
  let base = group.x * 8u;
  let own = base + lane;
  let column = min(vec4u(lane) + vec4u(0, 8, 16, 24), vec4u(D - 1u));
  let key = (shape.H + group.y) * D;
  let value = key + shape.G * D;
  let each = shape.H / shape.G;
  let scale = 1.0 / sqrt(f32(D));
  var k: array<f32, 32>;
  var v: array<f32, 32>;
  let node = min(own, shape.N - 1u);
  let j = node * shape.W;
  let end = nodes[node].w;
  var last = base + 1u; // one past the last query of all eight keys
  for (var n = base; n < min(base + 8u, shape.N); n++) { last = max(last, nodes[n].w); }
  // The bound D comes from the shape, so that the compiler does not unroll this loop: each load or store in the code
  // takes time to compile.
  for (var d = 0u; d < D; d++) {
    k[d] = f32(qkv[j + key + d]) * scale;
    v[d] = f32(qkv[j + value + d]);
  }
  var dk: array<vec4f, 8>; // one entry per key; a lane holds every eighth scalar of it
  var dv: array<vec4f, 8>;
  for (var h = group.y * each; h < (group.y + 1u) * each; h++) {
    for (var i = base; i < min(last, shape.N); i++) {
      let o = i * shape.H + h;
      let query = i * shape.W + h * D + column;
      let to = o * D + column;
      var q = vec4f(f32(qkv[query.x]), 0.0, 0.0, 0.0);
      var g = vec4f(dout[to.x], 0.0, 0.0, 0.0);
      if (HEAD > 8u) { q.y = f32(qkv[query.y]); g.y = dout[to.y]; }
      if (HEAD > 16u) { q.z = f32(qkv[query.z]); g.z = dout[to.z]; }
      if (HEAD > 24u) { q.w = f32(qkv[query.w]); g.w = dout[to.w]; }
      var score = -lse[o]; // each sum is kept as two, so that fewer additions wait for an earlier one
      var odd = 0.0;
      var odd_p = 0.0;
      var dp = -delta[o]; // the gradient of the probability, minus delta
      for (var d = 0u; d < 8u; d++) {
        score = fma(k[d], subgroupShuffle(q.x, d), score);
        dp = fma(v[d], subgroupShuffle(g.x, d), dp);
        if (HEAD > 8u) {
          odd = fma(k[8u + d], subgroupShuffle(q.y, d), odd);
          odd_p = fma(v[8u + d], subgroupShuffle(g.y, d), odd_p);
        }
        if (HEAD > 16u) {
          score = fma(k[16u + d], subgroupShuffle(q.z, d), score);
          dp = fma(v[16u + d], subgroupShuffle(g.z, d), dp);
        }
        if (HEAD > 24u) {
          odd = fma(k[24u + d], subgroupShuffle(q.w, d), odd);
          odd_p = fma(v[24u + d], subgroupShuffle(g.w, d), odd_p);
        }
      }
      let p = select(0.0, exp(score + odd), i >= own && i < end);
      let ds = p * (dp + odd_p);
      for (var r = 0u; r < 8u; r++) {
        dk[r] = fma(vec4f(subgroupShuffle(ds, r)), q, dk[r]);
        dv[r] = fma(vec4f(subgroupShuffle(p, r)), g, dv[r]);
      }
    }
  }
  let half = D / 2u;
  for (var r = 0u; r < min(8u, shape.N - base); r++) {
    let at = (base + r) * shape.W;
    let t = nodes[base + r].y;
    let row = dk[r] * scale;
    let value_row = dv[r];
    for (var c = 0u; c < D; c += 8u) {
      let d = c + lane;
      let low = d < half;
      let across = from_row(row, select(d - half, d + half, low));
      if (d < D) {
        let turn = table[t * half + select(d - half, d, low)];
        dqkv[at + key + d] = part_of(row, d) * turn.x + select(-across, across, low) * turn.y;
        dqkv[at + value + d] = part_of(value_row, d);
      }
    }
  }
}
