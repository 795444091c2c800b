// attention_backward_key_value_broadcast: with p_i = exp(q_i·k_j/√D − lse_i) over queries i ≥ j and the query heads
//     that read this key:
//     dv_j = sum p_i·dout_i;  dk_j = sum p_i·(dout_i·v_j − delta_i)·q_i/√D, turned back by the rotary angle of j
//     (subgroups of four)
// Shapes    qkv, dqkv (B·T, W), W = (H + 2·G)·D; dout (B·T, H·D); lse, delta (B·T, H); table (P, D/2, 2).
// Parallel  x walks T/16, y walks G, z B. Four threads own four keys each; a lane loads scalars of two queries and
//           their gradients out of eight, and broadcasts them. D is at most 64. No shared memory, no barrier;
//           subgroups of 4 or more.
// Numerics  f32; sums run over query heads then over i, always in that order. Positions are t: training rows start
//           at 0.
enable subgroups;
alias Kept = f32; // or f16
struct Shape { N: u32, T: u32, H: u32, G: u32, W: u32, D: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> dout: array<f32>;
@group(0) @binding(2) var<storage, read> lse: array<f32>;
@group(0) @binding(3) var<storage, read> delta: array<f32>;
@group(0) @binding(4) var<storage, read> table: array<vec2f>; // cos, sin
@group(0) @binding(5) var<storage, read_write> dqkv: array<f32>;
@group(0) @binding(6) var<uniform> shape: Shape;

// the scalars of four lanes
fn four(x: f32) -> vec4f {
  return vec4f(subgroupBroadcast(x, 0u), subgroupBroadcast(x, 1u), subgroupBroadcast(x, 2u), subgroupBroadcast(x, 3u));
}

// sum + x·qᵀ: a column for each of four queries
fn outer(x: vec4f, q: vec4f, sum: mat4x4f) -> mat4x4f {
  return mat4x4f(fma(x, vec4f(q.x), sum[0]), fma(x, vec4f(q.y), sum[1]),
                 fma(x, vec4f(q.z), sum[2]), fma(x, vec4f(q.w), sum[3]));
}

// sum + p·q
fn weighed(p: mat4x4f, q: vec4f, sum: vec4f) -> vec4f {
  return fma(p[3], vec4f(q.w), fma(p[2], vec4f(q.z), fma(p[1], vec4f(q.y), fma(p[0], vec4f(q.x), sum))));
}

@compute @workgroup_size(4)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32,
        @builtin(subgroup_invocation_id) lane: u32) {
  let D = shape.D;
  let first = group.z * shape.T;
  let own = vec4u(group.x * 16u + thread) + vec4u(0, 4, 8, 12);
  let key = (first + min(own, vec4u(shape.T - 1u))) * shape.W + (shape.H + group.y) * D;
  let value = key + shape.G * D;
  let each = shape.H / shape.G;
  let scale = 1.0 / sqrt(f32(D));
  var dk: array<vec4f, 64>;
  var dv: array<vec4f, 64>;
  for (var h = group.y * each; h < (group.y + 1u) * each; h++) {
    for (var i = group.x * 16u; i < shape.T; i += 8u) {
      let row = first + min(i + lane % 4u, shape.T - 1u);
      let next = first + min(i + lane % 4u + 4u, shape.T - 1u);
      var lo = outer(vec4f(-1.0), four(lse[row * shape.H + h]), mat4x4f()); // scores less lse, then probabilities
      var hi = outer(vec4f(-1.0), four(lse[next * shape.H + h]), mat4x4f());
      var lo_p = outer(vec4f(-1.0), four(delta[row * shape.H + h]), mat4x4f()); // gradients of probabilities, of scores
      var hi_p = outer(vec4f(-1.0), four(delta[next * shape.H + h]), mat4x4f());
      let query = row * shape.W + h * D;
      let next_query = next * shape.W + h * D;
      let o = (row * shape.H + h) * D;
      let next_o = (next * shape.H + h) * D;
      for (var d = 0u; d < D; d++) {
        let at = key + d;
        let k = vec4f(f32(qkv[at.x]), f32(qkv[at.y]), f32(qkv[at.z]), f32(qkv[at.w])) * scale;
        let to = value + d;
        let v = vec4f(f32(qkv[to.x]), f32(qkv[to.y]), f32(qkv[to.z]), f32(qkv[to.w]));
        lo = outer(k, four(f32(qkv[query + d])), lo);
        hi = outer(k, four(f32(qkv[next_query + d])), hi);
        lo_p = outer(v, four(dout[o + d]), lo_p);
        hi_p = outer(v, four(dout[next_o + d]), hi_p);
      }
      for (var n = 0u; n < 4u; n++) {
        lo[n] = select(vec4f(), exp(lo[n]), (vec4u(i + n) >= own) & vec4<bool>(i + n < shape.T));
        hi[n] = select(vec4f(), exp(hi[n]), (vec4u(i + n + 4u) >= own) & vec4<bool>(i + n + 4u < shape.T));
        lo_p[n] *= lo[n];
        hi_p[n] *= hi[n];
      }
      for (var d = 0u; d < D; d++) {
        dk[d] = weighed(hi_p, four(f32(qkv[next_query + d])), weighed(lo_p, four(f32(qkv[query + d])), dk[d]));
        dv[d] = weighed(hi, four(dout[next_o + d]), weighed(lo, four(dout[o + d]), dv[d]));
      }
    }
  }
  let half = D / 2u;
  for (var n = 0u; n < 4u; n++) {
    if (own[n] >= shape.T) { return; }
    for (var d = 0u; d < half; d++) {
      let turn = table[own[n] * half + d] * scale;
      let a = dk[d][n];
      let b = dk[d + half][n];
      dqkv[key[n] + d] = a * turn.x + b * turn.y;
      dqkv[key[n] + d + half] = b * turn.x - a * turn.y;
      dqkv[value[n] + d] = dv[d][n];
      dqkv[value[n] + d + half] = dv[d + half][n];
    }
  }
}
