// attention_backward_query_broadcast: with p_j = exp(q·k_j/√D − lse), delta = dout·out:
//     dq = sum_{j≤t} p_j·(dout·v_j − delta)·k_j/√D, turned back by the rotary angle of t (subgroup variant)
// Shapes    qkv, dqkv (B·T, W), W = (H + 2·G)·D; out, dout (B·T, H·D); lse, delta (B·T, H); table (P, D/2, 2).
// Parallel  x walks T/16, y walks H, z B. Four threads own four queries each; a lane loads scalars of two keys and
//           values out of eight, and broadcasts them. With eight lanes and D ≤ 32, eight threads own two queries each:
//           the lanes load a key's and a value's row together, broadcast their scalars to the scores, and the scores'
//           gradients to the key's lanes. No shared memory, no barrier; subgroups of 4 or more.
// Numerics  f32; probabilities are recomputed from lse, so exp never overflows. Positions are t: training rows start
//           at 0.
enable subgroups;
override WIDE: u32 = 0; // 1: subgroups have 8 lanes or more, and D is at most 32
override HEAD: u32 = 8; // D, at most 64; only WIDE reads it
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

fn narrow(group: vec3u, thread: u32, lane: u32) {
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

// what a lane holds of a row in eights, at its d-th
fn part_of(row: vec4f, d: u32) -> f32 {
  return select(select(row.x, row.y, d >= 8u), select(row.z, row.w, d >= 24u), d >= 16u);
}

// the d-th scalar of a row that eight lanes hold
fn from_row(row: vec4f, d: u32) -> f32 {
  let n = d % 8u;
  return part_of(vec4f(subgroupShuffle(row.x, n), subgroupShuffle(row.y, n),
                       subgroupShuffle(row.z, n), subgroupShuffle(row.w, n)), d);
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
  var q: array<f32, 64>; // of both queries, 32 apart
  var g: array<f32, 64>;
  var logs = vec2f();
  var deltas = vec2f();
  // Bounds from the shape keep loops that load and store from being unrolled: each access takes its time to compile.
  for (var n = 0u; n < min(2u, shape.T); n++) {
    let at = base + lane + 8u * n;
    let t = first + min(at, shape.T - 1u);
    let o = t * shape.H + h;
    var sum = 0.0;
    for (var d = 0u; d < D; d++) {
      q[32u * n + d] = f32(qkv[t * shape.W + h * D + d]) * scale;
      let dy = dout[o * D + d];
      g[32u * n + d] = dy;
      sum = fma(f32(out[o * D + d]), dy, sum);
    }
    if (at < shape.T) { delta[o] = sum; }
    logs = select(logs, vec2f(lse[o]), vec2u(n) == vec2u(0, 1));
    deltas = select(deltas, vec2f(sum), vec2u(n) == vec2u(0, 1));
  }
  var dq: array<vec4f, 16>; // by query; a lane has every eighth scalar
  for (var j = 0u; j < last; j++) {
    let row = (first + j) * shape.W;
    var k = vec4f(f32(qkv[row + key.x]), 0.0, 0.0, 0.0);
    var v = vec4f(f32(qkv[row + value.x]), 0.0, 0.0, 0.0);
    if (HEAD > 8u) { k.y = f32(qkv[row + key.y]); v.y = f32(qkv[row + value.y]); }
    if (HEAD > 16u) { k.z = f32(qkv[row + key.z]); v.z = f32(qkv[row + value.z]); }
    if (HEAD > 24u) { k.w = f32(qkv[row + key.w]); v.w = f32(qkv[row + value.w]); }
    var score = -logs; // two sums of each, so that fewer steps wait for one another
    var odd = vec2f();
    var dp = -deltas; // the gradient of the probability, less delta
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
    let ds = select(vec2f(), exp(score + odd) * (dp + odd_p), vec2u(j) <= own);
    for (var r = 0u; r < 8u; r++) {
      dq[r] = fma(vec4f(subgroupShuffle(ds.x, r)), k, dq[r]);
      dq[8u + r] = fma(vec4f(subgroupShuffle(ds.y, r)), k, dq[8u + r]);
    }
  }
  let half = D / 2u;
  for (var r = 0u; r < last - base; r++) {
    let at = first + base + r;
    let row = dq[r] * scale;
    for (var c = 0u; c < D; c += 8u) {
      let d = c + lane;
      let low = d < half;
      let across = from_row(row, select(d - half, d + half, low));
      if (d < D) {
        let turn = table[(base + r) * half + select(d - half, d, low)];
        dqkv[at * shape.W + h * D + d] = part_of(row, d) * turn.x + select(-across, across, low) * turn.y;
      }
    }
  }
}

@compute @workgroup_size(4u + 4u * WIDE)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32,
        @builtin(subgroup_invocation_id) lane: u32) {
  if (WIDE == 1u) { wide(group, lane); } else { narrow(group, thread, lane); }
}
