// attention_forward_shared_rows: attention_forward for subgroups of eight and heads up to 32.
//     over the nodes j on the path to n: out[n,h] = sum_j p_j·v_j, p = softmax_j(q_n·k_j / √D);
//     lse = log sum_j exp(q_n·k_j / √D)
// Shapes    qkv (N,W), W = (H + 2·G)·D, rotated; nodes as in attention_forward; out (N, H·D); lse (N,H). Query head h
//           reads key head h·G/H.
// Parallel  x covers N/16, y covers H. Each of eight threads owns two queries. Together they load a key's and a value's
//           row, each lane every eighth scalar, of every key that is on one of the sixteen paths. The key's scalars are
//           broadcast, so that each lane computes its queries' scores; then the probabilities are broadcast, and every
//           lane adds its scalars of all sixteen queries' sums. No shared memory, no barrier; subgroups of 8 or more.
// Numerics  f32; online softmax, rescaled at each key. T×T is never stored, only lse for the backward pass.
enable subgroups;
override HEAD: u32 = 8; // D, at most 32
alias Kept = f32; // or f16
struct Shape { N: u32, H: u32, G: u32, W: u32, D: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(2) var<storage, read_write> out: array<Kept>;
@group(0) @binding(3) var<storage, read_write> lse: array<f32>;
@group(0) @binding(4) var<uniform> shape: Shape;

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
  var q: array<vec2f, 32>;
  // The bounds come from the shape, so that the compiler does not unroll these loops: each load or store in the code
  // takes time to compile.
  let query = min(own, vec2u(shape.N - 1u)) * shape.W + h * D;
  for (var d = 0u; d < D; d++) { q[d] = vec2f(f32(qkv[query.x + d]), f32(qkv[query.y + d])) * scale; }
  var acc: array<vec4f, 16>; // one entry per query; a lane holds every eighth scalar of it
  var top = vec2f(-1e30);
  var total = vec2f();
  for (var j = on_path(nodes[base].z, base); j < last; j = on_path(j + 1u, base)) {
    let end = nodes[j].w;
    let row = j * shape.W;
    var k = vec4f(f32(qkv[row + key.x]), 0.0, 0.0, 0.0);
    var v = vec4f(f32(qkv[row + value.x]), 0.0, 0.0, 0.0);
    if (HEAD > 8u) { k.y = f32(qkv[row + key.y]); v.y = f32(qkv[row + value.y]); }
    if (HEAD > 16u) { k.z = f32(qkv[row + key.z]); v.z = f32(qkv[row + value.z]); }
    if (HEAD > 24u) { k.w = f32(qkv[row + key.w]); v.w = f32(qkv[row + value.w]); }
    var even = vec2f(); // each sum is kept as two, so that fewer additions wait for an earlier one
    var odd = vec2f();
    for (var d = 0u; d < 8u; d++) {
      even = fma(q[d], vec2f(subgroupShuffle(k.x, d)), even);
      if (HEAD > 8u) { odd = fma(q[8u + d], vec2f(subgroupShuffle(k.y, d)), odd); }
      if (HEAD > 16u) { even = fma(q[16u + d], vec2f(subgroupShuffle(k.z, d)), even); }
      if (HEAD > 24u) { odd = fma(q[24u + d], vec2f(subgroupShuffle(k.w, d)), odd); }
    }
    let score = select(vec2f(-1e30), even + odd, (vec2u(j) <= own) & (own < vec2u(end)));
    let higher = max(top, score);
    let shrink = exp(top - higher);
    let p = exp(score - higher);
    top = higher;
    total = fma(total, shrink, p);
    for (var r = 0u; r < 8u; r++) {
      acc[r] = fma(vec4f(subgroupShuffle(p.x, r)), v, acc[r] * subgroupShuffle(shrink.x, r));
      acc[8u + r] = fma(vec4f(subgroupShuffle(p.y, r)), v, acc[8u + r] * subgroupShuffle(shrink.y, r));
    }
  }
  let logs = top + log(total);
  for (var r = 0u; r < last - base; r++) {
    let o = (base + r) * shape.H + h;
    let sum = subgroupShuffle(select(total.x, total.y, r >= 8u), r % 8u);
    let log = subgroupShuffle(select(logs.x, logs.y, r >= 8u), r % 8u);
    if (lane == 0u) { lse[o] = log; }
    let row = acc[r] / sum;
    for (var d = lane; d < D; d += 8u) { out[o * D + d] = Kept(part_of(row, d)); }
  }
}
