// attention_forward_broadcast: out[b,t,h] = sum_{j≤t} p_j·v_j, p = softmax_j(q_t·k_j / √D);
//     lse = log sum_j exp(q_t·k_j / √D) (subgroups of four)
// Shapes    qkv (B·T, W), W = (H + 2·G)·D, rotated; out (B·T, H·D); lse (B·T, H). Query head h reads key head h·G/H.
// Parallel  x walks T/16, y walks H, z B. Four threads own four queries each; a lane loads scalars of two keys out
//           of eight, and broadcasts them. D is at most 64. No shared memory, no barrier; subgroups of 4 or more.
// Numerics  f32; online softmax, rescaled once in eight keys; T×T is never stored, only lse.
enable subgroups;
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

@compute @workgroup_size(4)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32,
        @builtin(subgroup_invocation_id) lane: u32) {
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
