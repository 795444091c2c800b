// attention_backward_query_broadcast: with p_j = exp(q·k_j/√D − lse), delta = dout·out:
//     dq = sum_{j≤t} p_j·(dout·v_j − delta)·k_j/√D, turned back by the rotary angle of t (subgroups of four)
// Shapes    qkv, dqkv (B·T, W), W = (H + 2·G)·D; out, dout (B·T, H·D); lse, delta (B·T, H); table (P, D/2, 2).
// Parallel  x walks T/16, y walks H, z B. Four threads own four queries each; a lane loads scalars of two keys and
//           values out of eight, and broadcasts them. D is at most 64. No shared memory, no barrier; subgroups of 4
//           or more.
// Numerics  f32; probabilities are recomputed from lse, so exp never overflows. Positions are t: training rows start
//           at 0.
enable subgroups;
alias Kept = f32; // or f16
struct Shape { N: u32, T: u32, H: u32, G: u32, W: u32, D: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> out: array<Kept>;
@group(0) @binding(2) var<storage, read> dout: array<f32>;
@group(0) @binding(3) var<storage, read> lse: array<f32>;
@group(0) @binding(4) var<storage, read> table: array<vec2f>; // cos, sin
@group(0) @binding(5) var<storage, read_write> delta: array<f32>;
@group(0) @binding(6) var<storage, read_write> dqkv: array<f32>;
@group(0) @binding(7) var<uniform> shape: Shape;

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
  let t = first + min(own, vec4u(shape.T - 1u));
  let query = t * shape.W + h * D;
  let o = t * shape.H + h;
  let key = (shape.H + h * shape.G / shape.H) * D;
  let value = key + shape.G * D;
  let scale = 1.0 / sqrt(f32(D));
  var deltas = vec4f();
  for (var d = 0u; d < D; d++) {
    let at = o * D + d;
    let g = vec4f(dout[at.x], dout[at.y], dout[at.z], dout[at.w]);
    deltas = fma(vec4f(f32(out[at.x]), f32(out[at.y]), f32(out[at.z]), f32(out[at.w])), g, deltas);
  }
  let logs = vec4f(lse[o.x], lse[o.y], lse[o.z], lse[o.w]);
  var dq: array<vec4f, 64>;
  for (var j = 0u; j < last; j += 8u) {
    let row = (first + min(j + lane % 4u, shape.T - 1u)) * shape.W;
    let next = (first + min(j + lane % 4u + 4u, shape.T - 1u)) * shape.W;
    var lo = mat4x4f(-logs, -logs, -logs, -logs); // scores of keys j … j + 3 less lse, then their gradients
    var hi = lo; // and of the next four
    var lo_p = mat4x4f(-deltas, -deltas, -deltas, -deltas); // gradients of their probabilities, less delta
    var hi_p = lo_p;
    for (var d = 0u; d < D; d++) {
      let at = query + d;
      let q = vec4f(f32(qkv[at.x]), f32(qkv[at.y]), f32(qkv[at.z]), f32(qkv[at.w])) * scale;
      let to = o * D + d;
      let g = vec4f(dout[to.x], dout[to.y], dout[to.z], dout[to.w]);
      lo = outer(q, four(f32(qkv[row + key + d])), lo);
      hi = outer(q, four(f32(qkv[next + key + d])), hi);
      lo_p = outer(g, four(f32(qkv[row + value + d])), lo_p);
      hi_p = outer(g, four(f32(qkv[next + value + d])), hi_p);
    }
    for (var n = 0u; n < 4u; n++) {
      lo[n] = select(vec4f(), exp(lo[n]) * lo_p[n], vec4u(j + n) <= own);
      hi[n] = select(vec4f(), exp(hi[n]) * hi_p[n], vec4u(j + n + 4u) <= own);
    }
    for (var d = 0u; d < D; d++) {
      dq[d] = weighed(hi, four(f32(qkv[next + key + d])), weighed(lo, four(f32(qkv[row + key + d])), dq[d]));
    }
  }
  let half = D / 2u;
  for (var n = 0u; n < 4u; n++) {
    if (own[n] >= shape.T) { return; }
    delta[o[n]] = deltas[n];
    for (var d = 0u; d < half; d++) {
      let turn = table[own[n] * half + d] * scale;
      let a = dq[d][n];
      let b = dq[d + half][n];
      dqkv[query[n] + d] = a * turn.x + b * turn.y;
      dqkv[query[n] + d + half] = b * turn.x - a * turn.y;
    }
  }
}
