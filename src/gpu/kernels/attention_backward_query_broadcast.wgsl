// attention_backward_query_broadcast: with p_j = exp(q·k_j/√D − lse), delta = dout·out:
//     dq = sum_{j≤t} p_j·(dout·v_j − delta)·k_j/√D, turned back by the rotary angle of t
//     (subgroup variant for D divisible by 8)
// Shapes    qkv, dqkv (B·T, W), W = (H + 2·G)·D; out, dout (B·T, H·D); lse, delta (B·T, H); table (P, D/2, 2).
// Parallel  one thread per query: x walks T/WIDTH, y walks H, z walks B. Eight lanes of a subgroup load a key and a
//           value together, four scalars each, one key after another, and pass them round; four lanes take eight keys
//           at once, two each, and broadcast them. No shared memory, no barrier; subgroups of 4 or more.
// Numerics  f32; probabilities are recomputed from lse, so exp never overflows. Positions are t: training rows start
//           at 0.
enable subgroups;
override HEAD: u32 = 8; // D, at most 64
override WIDTH: u32 = 8; // threads of a workgroup
override WIDE: u32 = 0; // 1: subgroups have 8 lanes or more
alias Kept = f32; // or f16
struct Shape { N: u32, T: u32, H: u32, G: u32, W: u32, quarter: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<vec4<Kept>>;
@group(0) @binding(1) var<storage, read> out: array<vec4<Kept>>;
@group(0) @binding(2) var<storage, read> dout: array<vec4f>;
@group(0) @binding(3) var<storage, read> lse: array<f32>;
@group(0) @binding(4) var<storage, read> table: array<vec4f>; // cos, sin, cos, sin
@group(0) @binding(5) var<storage, read_write> delta: array<f32>;
@group(0) @binding(6) var<storage, read_write> dqkv: array<vec4f>;
@group(0) @binding(7) var<uniform> shape: Shape;

// sum + a·b
fn dotted(a: vec4f, b: vec4f, sum: f32) -> f32 {
  return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
}

// the d-th four of a row that eight lanes hold, lo the first 32 and hi the others
fn part_of(lo: vec4f, hi: vec4f, d: u32) -> vec4f {
  if (d < 8u) { return subgroupShuffle(lo, d); }
  return subgroupShuffle(hi, d - 8u);
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32,
        @builtin(subgroup_invocation_id) lane: u32) {
  let h = group.y;
  let first = group.z * shape.T;
  let own = group.x * WIDTH + thread;
  let t = min(own, shape.T - 1u);
  let last = min(group.x * WIDTH + WIDTH, shape.T);
  let wide = shape.W / 4u;
  // Bounds from the shape keep loops that load and store from being unrolled: each access takes its time to compile.
  let quarter = HEAD / 4u;
  let at = (first + t) * wide + h * quarter;
  let o = ((first + t) * shape.H + h) * quarter;
  let key = (shape.H + h * shape.G / shape.H) * quarter;
  let value = key + shape.G * quarter;
  let scale = 1.0 / sqrt(f32(HEAD));
  let norm = lse[(first + t) * shape.H + h];
  var q: array<vec4f, 16>;
  var g: array<vec4f, 16>;
  var dq: array<vec4f, 16>;
  var own_delta = 0.0;
  for (var d = 0u; d < shape.quarter; d++) {
    q[d] = vec4f(qkv[at + d]) * scale;
    g[d] = dout[o + d];
    own_delta = dotted(vec4f(out[o + d]), g[d], own_delta);
  }
  for (var j = 0u; WIDE == 1u && j < last; j++) {
    let row = (first + j) * wide + min(lane % 8u, quarter - 1u); // eight lanes hold a row of 32
    let k = vec4f(qkv[row + key]);
    let v = vec4f(qkv[row + value]);
    var kh = k; // and its other 32
    var vh = v;
    if (HEAD > 32u) {
      let high = (first + j) * wide + min(8u + lane % 8u, quarter - 1u);
      kh = vec4f(qkv[high + key]);
      vh = vec4f(qkv[high + value]);
    }
    var score = 0.0;
    var dp = -own_delta; // the gradient of the probability, less delta
    for (var d = 0u; d < quarter; d++) {
      score = dotted(q[d], part_of(k, kh, d), score);
      dp = dotted(g[d], part_of(v, vh, d), dp);
    }
    let ds = select(0.0, exp(score - norm) * dp, j <= t);
    for (var d = 0u; d < quarter; d++) { dq[d] = fma(vec4f(ds), part_of(k, kh, d), dq[d]); }
  }
  for (var j = 0u; WIDE == 0u && j < last; j += 8u) {
    let part = j + lane % 4u;
    let row = (first + min(part, shape.T - 1u)) * wide;
    let next = (first + min(part + 4u, shape.T - 1u)) * wide;
    var k: array<vec4f, 16>;
    var v: array<vec4f, 16>;
    var kw: array<vec4f, 16>;
    var vw: array<vec4f, 16>;
    for (var d = 0u; d < shape.quarter; d++) {
      k[d] = vec4f(qkv[row + key + d]);
      v[d] = vec4f(qkv[row + value + d]);
      kw[d] = vec4f(qkv[next + key + d]);
      vw[d] = vec4f(qkv[next + value + d]);
    }
    var lo = vec4f(); // scores of keys j … j + 3, then their gradients
    var hi = vec4f(); // and of the next four
    var lo_p = vec4f(-own_delta); // gradients of their probabilities, less delta
    var hi_p = vec4f(-own_delta);
    for (var d = 0u; d < quarter; d++) {
      lo.x = dotted(q[d], subgroupBroadcast(k[d], 0u), lo.x);
      lo_p.x = dotted(g[d], subgroupBroadcast(v[d], 0u), lo_p.x);
      lo.y = dotted(q[d], subgroupBroadcast(k[d], 1u), lo.y);
      lo_p.y = dotted(g[d], subgroupBroadcast(v[d], 1u), lo_p.y);
      lo.z = dotted(q[d], subgroupBroadcast(k[d], 2u), lo.z);
      lo_p.z = dotted(g[d], subgroupBroadcast(v[d], 2u), lo_p.z);
      lo.w = dotted(q[d], subgroupBroadcast(k[d], 3u), lo.w);
      lo_p.w = dotted(g[d], subgroupBroadcast(v[d], 3u), lo_p.w);
      hi.x = dotted(q[d], subgroupBroadcast(kw[d], 0u), hi.x);
      hi_p.x = dotted(g[d], subgroupBroadcast(vw[d], 0u), hi_p.x);
      hi.y = dotted(q[d], subgroupBroadcast(kw[d], 1u), hi.y);
      hi_p.y = dotted(g[d], subgroupBroadcast(vw[d], 1u), hi_p.y);
      hi.z = dotted(q[d], subgroupBroadcast(kw[d], 2u), hi.z);
      hi_p.z = dotted(g[d], subgroupBroadcast(vw[d], 2u), hi_p.z);
      hi.w = dotted(q[d], subgroupBroadcast(kw[d], 3u), hi.w);
      hi_p.w = dotted(g[d], subgroupBroadcast(vw[d], 3u), hi_p.w);
    }
    let index = vec4u(j) + vec4u(0, 1, 2, 3);
    lo = select(vec4f(), exp(lo - norm) * lo_p, index <= vec4u(t));
    hi = select(vec4f(), exp(hi - norm) * hi_p, index + 4u <= vec4u(t));
    for (var d = 0u; d < quarter; d++) {
      var sum = dq[d];
      sum = fma(vec4f(lo.x), subgroupBroadcast(k[d], 0u), sum);
      sum = fma(vec4f(lo.y), subgroupBroadcast(k[d], 1u), sum);
      sum = fma(vec4f(lo.z), subgroupBroadcast(k[d], 2u), sum);
      sum = fma(vec4f(lo.w), subgroupBroadcast(k[d], 3u), sum);
      sum = fma(vec4f(hi.x), subgroupBroadcast(kw[d], 0u), sum);
      sum = fma(vec4f(hi.y), subgroupBroadcast(kw[d], 1u), sum);
      sum = fma(vec4f(hi.z), subgroupBroadcast(kw[d], 2u), sum);
      sum = fma(vec4f(hi.w), subgroupBroadcast(kw[d], 3u), sum);
      dq[d] = sum;
    }
  }
  if (own >= shape.T) { return; }
  delta[(first + t) * shape.H + h] = own_delta;
  let half = shape.quarter / 2u;
  for (var d = 0u; d < half; d++) {
    let a = table[(t * half + d) * 2u];
    let b = table[(t * half + d) * 2u + 1u];
    let c = vec4f(a.xz, b.xz) * scale;
    let s = vec4f(a.yw, b.yw) * scale;
    dqkv[at + d] = dq[d] * c + dq[d + half] * s;
    dqkv[at + d + half] = dq[d + half] * c - dq[d] * s;
  }
}
