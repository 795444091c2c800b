// attention_forward_broadcast: out[b,t,h] = sum_{j≤t} p_j·v_j, p = softmax_j(q_t·k_j / √D);
//     lse = log sum_j exp(q_t·k_j / √D) (subgroup variant for D divisible by 8)
// Shapes    qkv (B·T, W), W = (H + 2·G)·D, rotated; out (B·T, H·D); lse (B·T, H). Query head h reads key head h·G/H.
// Parallel  one thread per query: x walks T/WIDTH, y walks H, z walks B. Eight lanes of a subgroup load a key or a
//           value together, four scalars each, one after another, and pass them round; four lanes take eight keys at
//           once, two each, and broadcast them. No shared memory, no barrier; subgroups of 4 or more.
// Numerics  f32; online softmax, rescaled once in eight keys; T×T is never stored, only lse for the backward pass.
enable subgroups;
override HEAD: u32 = 8; // D, at most 64
override WIDTH: u32 = 8; // threads of a workgroup
override WIDE: u32 = 0; // 1: subgroups have 8 lanes or more
alias Kept = f32; // or f16
struct Shape { N: u32, T: u32, H: u32, G: u32, W: u32, quarter: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<vec4<Kept>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<Kept>>;
@group(0) @binding(2) var<storage, read_write> lse: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;

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
  let quarter = HEAD / 4u;
  let key = (shape.H + h * shape.G / shape.H) * quarter;
  let value = key + shape.G * quarter;
  let scale = 1.0 / sqrt(f32(HEAD));
  var q: array<vec4f, 16>;
  var acc: array<vec4f, 16>;
  // a bound from the shape keeps a loop from being unrolled: every load and store takes its time to compile
  for (var d = 0u; d < shape.quarter; d++) { q[d] = vec4f(qkv[(first + t) * wide + h * quarter + d]) * scale; }
  var top = -1e30;
  var total = 0.0;
  for (var j = 0u; j < last; j += 8u) {
    let part = j + lane % 4u;
    let row = (first + min(part, shape.T - 1u)) * wide;
    let next = (first + min(part + 4u, shape.T - 1u)) * wide;
    var lo = vec4f(); // scores of keys j … j + 3
    var hi = vec4f(); // and of the next four
    let own_row = first * wide + min(lane % 8u, quarter - 1u); // eight lanes hold a row of 32
    let high_row = first * wide + min(8u + lane % 8u, quarter - 1u); // and its other 32
    for (var n = 0u; WIDE == 1u && n < min(8u, last - j); n++) {
      let k = vec4f(qkv[own_row + (j + n) * wide + key]);
      var kh = k;
      if (HEAD > 32u) { kh = vec4f(qkv[high_row + (j + n) * wide + key]); }
      var score = 0.0;
      for (var d = 0u; d < quarter; d++) { score = dotted(q[d], part_of(k, kh, d), score); }
      lo = select(lo, vec4f(score), vec4u(n) == vec4u(0, 1, 2, 3));
      hi = select(hi, vec4f(score), vec4u(n) == vec4u(4, 5, 6, 7));
    }
    for (var d = 0u; WIDE == 0u && d < quarter; d++) {
      let k = vec4f(qkv[row + key + d]);
      let kw = vec4f(qkv[next + key + d]);
      lo.x = dotted(q[d], subgroupBroadcast(k, 0u), lo.x);
      lo.y = dotted(q[d], subgroupBroadcast(k, 1u), lo.y);
      lo.z = dotted(q[d], subgroupBroadcast(k, 2u), lo.z);
      lo.w = dotted(q[d], subgroupBroadcast(k, 3u), lo.w);
      hi.x = dotted(q[d], subgroupBroadcast(kw, 0u), hi.x);
      hi.y = dotted(q[d], subgroupBroadcast(kw, 1u), hi.y);
      hi.z = dotted(q[d], subgroupBroadcast(kw, 2u), hi.z);
      hi.w = dotted(q[d], subgroupBroadcast(kw, 3u), hi.w);
    }
    let index = vec4u(j) + vec4u(0, 1, 2, 3);
    lo = select(vec4f(-1e30), lo, index <= vec4u(t));
    hi = select(vec4f(-1e30), hi, index + 4u <= vec4u(t));
    let both = max(lo, hi);
    let higher = max(top, max(max(both.x, both.y), max(both.z, both.w)));
    let shrink = exp(top - higher);
    lo = exp(lo - higher);
    hi = exp(hi - higher);
    total = fma(total, shrink, dot(lo + hi, vec4f(1.0)));
    top = higher;
    for (var d = 0u; WIDE == 1u && d < quarter; d++) { acc[d] *= shrink; }
    for (var n = 0u; WIDE == 1u && n < min(8u, last - j); n++) {
      let v = vec4f(qkv[own_row + (j + n) * wide + value]);
      var vh = v;
      if (HEAD > 32u) { vh = vec4f(qkv[high_row + (j + n) * wide + value]); }
      let four = select(lo, hi, n > 3u);
      let r = n % 4u;
      let p = select(select(four.x, four.y, r == 1u), select(four.z, four.w, r == 3u), r > 1u);
      for (var d = 0u; d < quarter; d++) { acc[d] = fma(vec4f(p), part_of(v, vh, d), acc[d]); }
    }
    for (var d = 0u; WIDE == 0u && d < quarter; d++) {
      let v = vec4f(qkv[row + value + d]);
      let vw = vec4f(qkv[next + value + d]);
      var sum = acc[d] * shrink;
      sum = fma(vec4f(lo.x), subgroupBroadcast(v, 0u), sum);
      sum = fma(vec4f(lo.y), subgroupBroadcast(v, 1u), sum);
      sum = fma(vec4f(lo.z), subgroupBroadcast(v, 2u), sum);
      sum = fma(vec4f(lo.w), subgroupBroadcast(v, 3u), sum);
      sum = fma(vec4f(hi.x), subgroupBroadcast(vw, 0u), sum);
      sum = fma(vec4f(hi.y), subgroupBroadcast(vw, 1u), sum);
      sum = fma(vec4f(hi.z), subgroupBroadcast(vw, 2u), sum);
      sum = fma(vec4f(hi.w), subgroupBroadcast(vw, 3u), sum);
      acc[d] = sum;
    }
  }
  if (own >= shape.T) { return; }
  lse[(first + t) * shape.H + h] = top + log(total);
  let o = ((first + t) * shape.H + h) * quarter;
  for (var d = 0u; d < shape.quarter; d++) { out[o + d] = vec4<Kept>(acc[d] / total); }
}
