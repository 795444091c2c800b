// attention_forward_broadcast: out[b,t,h] = sum_{j≤t} p_j·v_j, p = softmax_j(q_t·k_j / √D);
//     lse = log sum_j exp(q_t·k_j / √D) (subgroup variant)
// Shapes    qkv (B·T, W), W = (H + 2·G)·D, rotated; out (B·T, H·D); lse (B·T, H). Query head h reads key head h·G/H.
// Parallel  x walks T/16, y walks H, z B. Four threads own four queries each; a lane loads scalars of two keys out
//           of eight, and broadcasts them. With eight lanes and D ≤ 32, eight threads own two queries each: the lanes
//           load a row together, broadcast the key's scalars to the scores and the probabilities to the value's lanes.
//           Loads are of scalars, so any D goes. No shared memory, no barrier; subgroups of 4 or more.
// Numerics  f32; online softmax, rescaled once in eight keys or each; T×T is never stored, only lse.
enable subgroups;
override WIDE: u32 = 0; // 1: subgroups have 8 lanes or more, and D is at most 32
override HEAD: u32 = 8; // D, at most 64; only WIDE reads it
alias Kept = f32; // or f16
struct Shape { N: u32, T: u32, H: u32, G: u32, W: u32, D: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read_write> out: array<Kept>;
@group(0) @binding(2) var<storage, read_write> lse: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;

// the scalars of four lanes
fn four(x: f32) -> vec4f {
  return vec4f(subgroupBroadcast(x, 0u), subgroupBroadcast(x, 1u), subgroupBroadcast(x, 2u), subgroupBroadcast(x, 3u));
}

// sum + x·kᵀ: a column for each of four keys
fn outer(x: vec4f, k: vec4f, sum: mat4x4f) -> mat4x4f {
  return mat4x4f(fma(x, vec4f(k.x), sum[0]), fma(x, vec4f(k.y), sum[1]),
                 fma(x, vec4f(k.z), sum[2]), fma(x, vec4f(k.w), sum[3]));
}

// sum + p·v
fn weighed(p: mat4x4f, v: vec4f, sum: vec4f) -> vec4f {
  return fma(p[3], vec4f(v.w), fma(p[2], vec4f(v.z), fma(p[1], vec4f(v.y), fma(p[0], vec4f(v.x), sum))));
}

fn narrow(group: vec3u, thread: u32, lane: u32) {
  let D = shape.D;
  let h = group.y;
  let first = group.z * shape.T;
  let own = vec4u(group.x * 16u + thread) + vec4u(0, 4, 8, 12);
  let last = min(group.x * 16u + 16u, shape.T);
  let query = (first + min(own, vec4u(shape.T - 1u))) * shape.W + h * D;
  let key = (shape.H + h * shape.G / shape.H) * D;
  let value = key + shape.G * D;
  let scale = 1.0 / sqrt(f32(D));
  var acc: array<vec4f, 64>;
  var top = vec4f(-1e30);
  var total = vec4f();
  for (var j = 0u; j < last; j += 8u) {
    let row = (first + min(j + lane % 4u, shape.T - 1u)) * shape.W;
    let next = (first + min(j + lane % 4u + 4u, shape.T - 1u)) * shape.W;
    var lo = mat4x4f(); // scores of keys j … j + 3, then probabilities
    var hi = mat4x4f(); // and of the next four
    for (var d = 0u; d < D; d++) {
      let at = query + d;
      let q = vec4f(f32(qkv[at.x]), f32(qkv[at.y]), f32(qkv[at.z]), f32(qkv[at.w])) * scale;
      lo = outer(q, four(f32(qkv[row + key + d])), lo);
      hi = outer(q, four(f32(qkv[next + key + d])), hi);
    }
    for (var n = 0u; n < 4u; n++) {
      lo[n] = select(vec4f(-1e30), lo[n], vec4u(j + n) <= own);
      hi[n] = select(vec4f(-1e30), hi[n], vec4u(j + n + 4u) <= own);
    }
    let both = max(max(max(lo[0], lo[1]), max(lo[2], lo[3])), max(max(hi[0], hi[1]), max(hi[2], hi[3])));
    let higher = max(top, both);
    let shrink = exp(top - higher);
    top = higher;
    lo = mat4x4f(exp(lo[0] - top), exp(lo[1] - top), exp(lo[2] - top), exp(lo[3] - top));
    hi = mat4x4f(exp(hi[0] - top), exp(hi[1] - top), exp(hi[2] - top), exp(hi[3] - top));
    total = weighed(hi, vec4f(1.0), weighed(lo, vec4f(1.0), total * shrink));
    for (var d = 0u; d < D; d++) {
      let sum = weighed(lo, four(f32(qkv[row + value + d])), acc[d] * shrink);
      acc[d] = weighed(hi, four(f32(qkv[next + value + d])), sum);
    }
  }
  let logs = top + log(total);
  for (var n = 0u; n < 4u; n++) {
    if (own[n] >= shape.T) { return; }
    let o = (first + own[n]) * shape.H + h;
    lse[o] = logs[n];
    for (var d = 0u; d < D; d++) { out[o * D + d] = Kept(acc[d][n] / total[n]); }
  }
}

// what a lane holds of a row in eights, at its d-th
fn part_of(row: vec4f, d: u32) -> f32 {
  return select(select(row.x, row.y, d >= 8u), select(row.z, row.w, d >= 24u), d >= 16u);
}

fn wide(group: vec3u, lane: u32) {
  let D = shape.D;
  let h = group.y;
  let first = group.z * shape.T;
  let base = group.x * 16u;
  let own = vec2u(base + lane) + vec2u(0, 8);
  let last = min(base + 16u, shape.T);
  let column = min(vec4u(lane) + vec4u(0, 8, 16, 24), vec4u(D - 1u));
  let key = vec4u((shape.H + h * shape.G / shape.H) * D) + column;
  let value = key + shape.G * D;
  let scale = 1.0 / sqrt(f32(D));
  var q: array<vec2f, 32>;
  // Bounds from the shape keep loops that load and store from being unrolled: each access takes its time to compile.
  let query = (first + min(own, vec2u(shape.T - 1u))) * shape.W + h * D;
  for (var d = 0u; d < D; d++) { q[d] = vec2f(f32(qkv[query.x + d]), f32(qkv[query.y + d])) * scale; }
  var acc: array<vec4f, 16>; // by query; a lane has every eighth scalar
  var top = vec2f(-1e30);
  var total = vec2f();
  for (var j = 0u; j < last; j++) {
    let row = (first + j) * shape.W;
    var k = vec4f(f32(qkv[row + key.x]), 0.0, 0.0, 0.0);
    var v = vec4f(f32(qkv[row + value.x]), 0.0, 0.0, 0.0);
    if (HEAD > 8u) { k.y = f32(qkv[row + key.y]); v.y = f32(qkv[row + value.y]); }
    if (HEAD > 16u) { k.z = f32(qkv[row + key.z]); v.z = f32(qkv[row + value.z]); }
    if (HEAD > 24u) { k.w = f32(qkv[row + key.w]); v.w = f32(qkv[row + value.w]); }
    var even = vec2f(); // two sums, so that fewer steps wait for one another
    var odd = vec2f();
    for (var d = 0u; d < 8u; d++) {
      even = fma(q[d], vec2f(subgroupShuffle(k.x, d)), even);
      if (HEAD > 8u) { odd = fma(q[8u + d], vec2f(subgroupShuffle(k.y, d)), odd); }
      if (HEAD > 16u) { even = fma(q[16u + d], vec2f(subgroupShuffle(k.z, d)), even); }
      if (HEAD > 24u) { odd = fma(q[24u + d], vec2f(subgroupShuffle(k.w, d)), odd); }
    }
    let score = select(vec2f(-1e30), even + odd, vec2u(j) <= own);
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
    let o = (first + base + r) * shape.H + h;
    let sum = subgroupShuffle(select(total.x, total.y, r >= 8u), r % 8u);
    let log = subgroupShuffle(select(logs.x, logs.y, r >= 8u), r % 8u);
    if (lane == 0u) { lse[o] = log; }
    let row = acc[r] / sum;
    for (var d = lane; d < D; d += 8u) { out[o * D + d] = Kept(part_of(row, d)); }
  }
}

@compute @workgroup_size(4u + 4u * WIDE)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32,
        @builtin(subgroup_invocation_id) lane: u32) {
  if (WIDE == 1u) { wide(group, lane); } else { narrow(group, thread, lane); }
}
