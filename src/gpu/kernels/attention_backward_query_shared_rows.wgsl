// attention_backward_query_shared_rows: the gradient of queries, for subgroups of eight and heads up to 32.
//     With p_j = exp(q·k_j/√D − lse) and delta = dout·out:
//     over the nodes j on the path of n: dq = sum_j p_j·(dout·v_j − delta)·k_j/√D, rotated back by the angle of n
// Shapes    qkv, dqkv (N,W), W = (H + 2·G)·D; nodes as in attention_forward; out, dout (N, H·D); lse, delta (N,H);
//           table (P, D/2, 2) of cos and sin.
// Parallel  x covers N/16, y covers H. Each of eight threads owns two queries. Together they load a key's and a value's
//           row, each lane every eighth scalar, of every key that is on one of the sixteen paths, and broadcast these
//           scalars, so that each lane computes its queries' scores. Then the gradients of the scores are broadcast,
//           and every lane adds its scalars of all sixteen queries' dq. No shared memory, no barrier; subgroups of 8 or
//           more.
// Numerics  f32; probabilities are recomputed from lse, so exp never overflows.
enable subgroups;
override HEAD: u32 = 8; // D, at most 32
alias Kept = f32; // or f16
struct Shape { N: u32, H: u32, G: u32, W: u32, D: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(2) var<storage, read> out: array<Kept>;
@group(0) @binding(3) var<storage, read> dout: array<f32>;
@group(0) @binding(4) var<storage, read> lse: array<f32>;
@group(0) @binding(5) var<storage, read> table: array<vec2f>; // cos, sin
@group(0) @binding(6) var<storage, read_write> delta: array<f32>;
@group(0) @binding(7) var<storage, read_write> dqkv: array<f32>;
@group(0) @binding(8) var<uniform> shape: Shape;

//! piece eighths

//! piece paths

@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(subgroup_invocation_id) lane: u32) {
  let D = shape.D;
  let h = group.y;
  let base = group.x * 16u;
  let own = vec2u(base + lane) + vec2u(0, 8);
  let last = min(base + 16u, shape.N);
  let column = min(vec4u(lane) + vec4u(0, 8, 16, 24), vec4u(D - 1u));
  let key = vec4u((shape.H + h * shape.G / shape.H) * D) + column;
  let value = key + shape.G * D;
  let scale = 1.0 / sqrt(f32(D));
  var q: array<f32, 64>; // of both queries; the second begins at 32
  var g: array<f32, 64>;
  var logs = vec2f();
  var deltas = vec2f();
  // The bounds come from the shape, so that the compiler does not unroll these loops: each load or store in the code
  // takes time to compile.
  for (var n = 0u; n < min(2u, shape.N); n++) {
    let at = base + lane + 8u * n;
    let t = min(at, shape.N - 1u);
    let o = t * shape.H + h;
    var sum = 0.0;
    for (var d = 0u; d < D; d++) {
      q[32u * n + d] = f32(qkv[t * shape.W + h * D + d]) * scale;
      let dy = dout[o * D + d];
      g[32u * n + d] = dy;
      sum = fma(f32(out[o * D + d]), dy, sum);
    }
    if (at < shape.N) { delta[o] = sum; }
    logs = select(logs, vec2f(lse[o]), vec2u(n) == vec2u(0, 1));
    deltas = select(deltas, vec2f(sum), vec2u(n) == vec2u(0, 1));
  }
  var dq: array<vec4f, 16>; // one entry per query; a lane holds every eighth scalar of it
  for (var j = on_path(nodes[base].z, base); j < last; j = on_path(j + 1u, base)) {
    let end = nodes[j].w;
    let row = j * shape.W;
    var k = vec4f(f32(qkv[row + key.x]), 0.0, 0.0, 0.0);
    var v = vec4f(f32(qkv[row + value.x]), 0.0, 0.0, 0.0);
    if (HEAD > 8u) { k.y = f32(qkv[row + key.y]); v.y = f32(qkv[row + value.y]); }
    if (HEAD > 16u) { k.z = f32(qkv[row + key.z]); v.z = f32(qkv[row + value.z]); }
    if (HEAD > 24u) { k.w = f32(qkv[row + key.w]); v.w = f32(qkv[row + value.w]); }
    var score = -logs; // each sum is kept as two, so that fewer additions wait for an earlier one
    var odd = vec2f();
    var dp = -deltas; // the gradient of the probability, minus delta
    var odd_p = vec2f();
    for (var d = 0u; d < 8u; d++) {
      score = fma(vec2f(q[d], q[32u + d]), vec2f(subgroupShuffle(k.x, d)), score);
      dp = fma(vec2f(g[d], g[32u + d]), vec2f(subgroupShuffle(v.x, d)), dp);
      if (HEAD > 8u) {
        odd = fma(vec2f(q[8u + d], q[40u + d]), vec2f(subgroupShuffle(k.y, d)), odd);
        odd_p = fma(vec2f(g[8u + d], g[40u + d]), vec2f(subgroupShuffle(v.y, d)), odd_p);
      }
      if (HEAD > 16u) {
        score = fma(vec2f(q[16u + d], q[48u + d]), vec2f(subgroupShuffle(k.z, d)), score);
        dp = fma(vec2f(g[16u + d], g[48u + d]), vec2f(subgroupShuffle(v.z, d)), dp);
      }
      if (HEAD > 24u) {
        odd = fma(vec2f(q[24u + d], q[56u + d]), vec2f(subgroupShuffle(k.w, d)), odd);
        odd_p = fma(vec2f(g[24u + d], g[56u + d]), vec2f(subgroupShuffle(v.w, d)), odd_p);
      }
    }
    let ds = select(vec2f(), exp(score + odd) * (dp + odd_p), (vec2u(j) <= own) & (own < vec2u(end)));
    for (var r = 0u; r < 8u; r++) {
      dq[r] = fma(vec4f(subgroupShuffle(ds.x, r)), k, dq[r]);
      dq[8u + r] = fma(vec4f(subgroupShuffle(ds.y, r)), k, dq[8u + r]);
    }
  }
  let half = D / 2u;
  for (var r = 0u; r < last - base; r++) {
    let at = base + r;
    let t = nodes[at].y;
    let row = dq[r] * scale;
    for (var c = 0u; c < D; c += 8u) {
      let d = c + lane;
      let low = d < half;
      let across = from_row(row, select(d - half, d + half, low));
      if (d < D) {
        let turn = table[t * half + select(d - half, d, low)];
        dqkv[at * shape.W + h * D + d] = part_of(row, d) * turn.x + select(-across, across, low) * turn.y;
      }
    }
  }
}
