// attention_backward_key_value_broadcast: with p_i = exp(q_i·k_j/√D − lse_i) over queries i ≥ j and the query heads
//     that read this key:
//     dv_j = sum p_i·dout_i;  dk_j = sum p_i·(dout_i·v_j − delta_i)·q_i/√D, turned back by the rotary angle of j
//     (subgroup variant for D divisible by 8)
// Shapes    qkv, dqkv (B·T, W), W = (H + 2·G)·D; dout (B·T, H·D); lse, delta (B·T, H); table (P, D/2, 2).
// Parallel  one thread per key: x walks T/WIDTH, y walks G, z walks B. Eight lanes of a subgroup load a query and its
//           gradient together, four scalars each, one query after another, and pass them round; four lanes take eight
//           queries at once, two each, and broadcast them. No shared memory, no barrier; subgroups of 4 or more.
// Numerics  f32; sums run over query heads then over i, always in that order. Positions are t: training rows start
//           at 0.
enable subgroups;
override HEAD: u32 = 8; // D, at most 64
override WIDTH: u32 = 8; // threads of a workgroup
override WIDE: u32 = 0; // 1: subgroups have 8 lanes or more
alias Kept = f32; // or f16
struct Shape { N: u32, T: u32, H: u32, G: u32, W: u32, quarter: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<vec4<Kept>>;
@group(0) @binding(1) var<storage, read> dout: array<vec4f>;
@group(0) @binding(2) var<storage, read> lse: array<f32>;
@group(0) @binding(3) var<storage, read> delta: array<f32>;
@group(0) @binding(4) var<storage, read> table: array<vec4f>; // cos, sin, cos, sin
@group(0) @binding(5) var<storage, read_write> dqkv: array<vec4f>;
@group(0) @binding(6) var<uniform> shape: Shape;

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
  let first = group.z * shape.T;
  let own = group.x * WIDTH + thread;
  let j = min(own, shape.T - 1u);
  let wide = shape.W / 4u;
  // Bounds from the shape keep loops that load and store from being unrolled: each access takes its time to compile.
  let quarter = HEAD / 4u;
  let key = (first + j) * wide + (shape.H + group.y) * quarter;
  let value = key + shape.G * quarter;
  let each = shape.H / shape.G;
  let scale = 1.0 / sqrt(f32(HEAD));
  var k: array<vec4f, 16>;
  var v: array<vec4f, 16>;
  var dk: array<vec4f, 16>;
  var dv: array<vec4f, 16>;
  for (var d = 0u; d < shape.quarter; d++) {
    k[d] = vec4f(qkv[key + d]) * scale;
    v[d] = vec4f(qkv[value + d]);
  }
  for (var h = group.y * each; h < (group.y + 1u) * each; h++) {
    for (var i = group.x * WIDTH; i < shape.T; i += 8u) {
      let part = i + lane % (4u + 4u * WIDE);
      let row = first + min(part, shape.T - 1u);
      let next = first + min(part + 4u, shape.T - 1u);
      let own_sums = vec4f(lse[row * shape.H + h], delta[row * shape.H + h], 0.0, 0.0);
      if (WIDE == 1u) {
        let at = h * quarter + min(lane % 8u, quarter - 1u); // eight lanes hold a row of 32
        for (var n = 0u; n < min(8u, shape.T - i); n++) {
          let query = first + i + n;
          let q_lo = vec4f(qkv[query * wide + at]);
          let g_lo = dout[query * shape.H * quarter + at];
          var q_hi = q_lo; // the other 32
          var g_hi = g_lo;
          if (HEAD > 32u) {
            q_hi = vec4f(qkv[query * wide + h * quarter + min(8u + lane % 8u, quarter - 1u)]);
            g_hi = dout[(query * shape.H + h) * quarter + min(8u + lane % 8u, quarter - 1u)];
          }
          let sums = subgroupShuffle(own_sums, n);
          var score = -sums.x; // the score less lse, then the probability
          var grad = -sums.y; // the gradient of the probability less delta, then of the score
          for (var d = 0u; d < quarter; d++) {
            score = dotted(k[d], part_of(q_lo, q_hi, d), score);
            grad = dotted(v[d], part_of(g_lo, g_hi, d), grad);
          }
          score = select(0.0, exp(score), i + n >= j);
          grad *= score;
          for (var d = 0u; d < quarter; d++) {
            dk[d] = fma(vec4f(grad), part_of(q_lo, q_hi, d), dk[d]);
            dv[d] = fma(vec4f(score), part_of(g_lo, g_hi, d), dv[d]);
          }
        }
        continue;
      }
      var q: array<vec4f, 16>;
      var g: array<vec4f, 16>;
      var qw: array<vec4f, 16>;
      var gw: array<vec4f, 16>;
      for (var d = 0u; d < shape.quarter; d++) {
        q[d] = vec4f(qkv[row * wide + h * quarter + d]);
        g[d] = dout[(row * shape.H + h) * quarter + d];
        qw[d] = vec4f(qkv[next * wide + h * quarter + d]);
        gw[d] = dout[(next * shape.H + h) * quarter + d];
      }
      let next_sums = vec4f(lse[next * shape.H + h], delta[next * shape.H + h], 0.0, 0.0);
      let sums0 = subgroupBroadcast(own_sums, 0u);
      let sums1 = subgroupBroadcast(own_sums, 1u);
      let sums2 = subgroupBroadcast(own_sums, 2u);
      let sums3 = subgroupBroadcast(own_sums, 3u);
      let sums4 = subgroupBroadcast(next_sums, 0u);
      let sums5 = subgroupBroadcast(next_sums, 1u);
      let sums6 = subgroupBroadcast(next_sums, 2u);
      let sums7 = subgroupBroadcast(next_sums, 3u);
      var lo = -vec4f(sums0.x, sums1.x, sums2.x, sums3.x); // scores less lse, then probabilities
      var hi = -vec4f(sums4.x, sums5.x, sums6.x, sums7.x);
      var lo_p = -vec4f(sums0.y, sums1.y, sums2.y, sums3.y); // gradients of probabilities less delta, then of scores
      var hi_p = -vec4f(sums4.y, sums5.y, sums6.y, sums7.y);
      for (var d = 0u; d < quarter; d++) {
        lo.x = dotted(k[d], subgroupBroadcast(q[d], 0u), lo.x);
        lo_p.x = dotted(v[d], subgroupBroadcast(g[d], 0u), lo_p.x);
        lo.y = dotted(k[d], subgroupBroadcast(q[d], 1u), lo.y);
        lo_p.y = dotted(v[d], subgroupBroadcast(g[d], 1u), lo_p.y);
        lo.z = dotted(k[d], subgroupBroadcast(q[d], 2u), lo.z);
        lo_p.z = dotted(v[d], subgroupBroadcast(g[d], 2u), lo_p.z);
        lo.w = dotted(k[d], subgroupBroadcast(q[d], 3u), lo.w);
        lo_p.w = dotted(v[d], subgroupBroadcast(g[d], 3u), lo_p.w);
        hi.x = dotted(k[d], subgroupBroadcast(qw[d], 0u), hi.x);
        hi_p.x = dotted(v[d], subgroupBroadcast(gw[d], 0u), hi_p.x);
        hi.y = dotted(k[d], subgroupBroadcast(qw[d], 1u), hi.y);
        hi_p.y = dotted(v[d], subgroupBroadcast(gw[d], 1u), hi_p.y);
        hi.z = dotted(k[d], subgroupBroadcast(qw[d], 2u), hi.z);
        hi_p.z = dotted(v[d], subgroupBroadcast(gw[d], 2u), hi_p.z);
        hi.w = dotted(k[d], subgroupBroadcast(qw[d], 3u), hi.w);
        hi_p.w = dotted(v[d], subgroupBroadcast(gw[d], 3u), hi_p.w);
      }
      let index = vec4u(i) + vec4u(0, 1, 2, 3);
      let inside = (index >= vec4u(j)) & (index < vec4u(shape.T));
      let inside_hi = (index + 4u >= vec4u(j)) & (index + 4u < vec4u(shape.T));
      lo = select(vec4f(), exp(lo), inside);
      hi = select(vec4f(), exp(hi), inside_hi);
      lo_p *= lo;
      hi_p *= hi;
      for (var d = 0u; d < quarter; d++) {
        var sum_k = dk[d];
        var sum_v = dv[d];
        sum_k = fma(vec4f(lo_p.x), subgroupBroadcast(q[d], 0u), sum_k);
        sum_v = fma(vec4f(lo.x), subgroupBroadcast(g[d], 0u), sum_v);
        sum_k = fma(vec4f(lo_p.y), subgroupBroadcast(q[d], 1u), sum_k);
        sum_v = fma(vec4f(lo.y), subgroupBroadcast(g[d], 1u), sum_v);
        sum_k = fma(vec4f(lo_p.z), subgroupBroadcast(q[d], 2u), sum_k);
        sum_v = fma(vec4f(lo.z), subgroupBroadcast(g[d], 2u), sum_v);
        sum_k = fma(vec4f(lo_p.w), subgroupBroadcast(q[d], 3u), sum_k);
        sum_v = fma(vec4f(lo.w), subgroupBroadcast(g[d], 3u), sum_v);
        sum_k = fma(vec4f(hi_p.x), subgroupBroadcast(qw[d], 0u), sum_k);
        sum_v = fma(vec4f(hi.x), subgroupBroadcast(gw[d], 0u), sum_v);
        sum_k = fma(vec4f(hi_p.y), subgroupBroadcast(qw[d], 1u), sum_k);
        sum_v = fma(vec4f(hi.y), subgroupBroadcast(gw[d], 1u), sum_v);
        sum_k = fma(vec4f(hi_p.z), subgroupBroadcast(qw[d], 2u), sum_k);
        sum_v = fma(vec4f(hi.z), subgroupBroadcast(gw[d], 2u), sum_v);
        sum_k = fma(vec4f(hi_p.w), subgroupBroadcast(qw[d], 3u), sum_k);
        sum_v = fma(vec4f(hi.w), subgroupBroadcast(gw[d], 3u), sum_v);
        dk[d] = sum_k;
        dv[d] = sum_v;
      }
    }
  }
  if (own >= shape.T) { return; }
  let half = shape.quarter / 2u;
  for (var d = 0u; d < half; d++) {
    let a = table[(j * half + d) * 2u];
    let b = table[(j * half + d) * 2u + 1u];
    let c = vec4f(a.xz, b.xz) * scale;
    let s = vec4f(a.yw, b.yw) * scale;
    dqkv[key + d] = dk[d] * c + dk[d + half] * s;
    dqkv[key + d + half] = dk[d + half] * c - dk[d] * s;
    dqkv[value + d] = dv[d];
    dqkv[value + d + half] = dv[d + half];
  }
}
