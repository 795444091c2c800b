// attention_forward_broadcast: out[b,t,h] = sum_{j≤t} p_j·v_j, p = softmax_j(q_t·k_j / √D);
//     lse = log sum_j exp(q_t·k_j / √D) (subgroup variant for D divisible by 8)
// Shapes    qkv (B·T, W), W = (H + 2·G)·D, rotated; out (B·T, H·D); lse (B·T, H). Query head h reads key head h·G/H.
// Parallel  one thread per query: x walks T/WIDTH, y walks H, z walks B. Eight lanes of a subgroup load a key and a
//           value each and broadcast them to all its queries. No shared memory, no barrier; subgroups of 4 or more.
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

// what lane 4 … 7 of a wide subgroup holds in v; a narrow one keeps it in w of lane 0 … 3
fn lane4(v: vec4f, w: vec4f) -> vec4f {
  if (WIDE == 1u) { return subgroupBroadcast(v, 4u); }
  return subgroupBroadcast(w, 0u);
}
fn lane5(v: vec4f, w: vec4f) -> vec4f {
  if (WIDE == 1u) { return subgroupBroadcast(v, 5u); }
  return subgroupBroadcast(w, 1u);
}
fn lane6(v: vec4f, w: vec4f) -> vec4f {
  if (WIDE == 1u) { return subgroupBroadcast(v, 6u); }
  return subgroupBroadcast(w, 2u);
}
fn lane7(v: vec4f, w: vec4f) -> vec4f {
  if (WIDE == 1u) { return subgroupBroadcast(v, 7u); }
  return subgroupBroadcast(w, 3u);
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
  // a bound from the shape keeps the loop from being unrolled: every load takes its time to compile
  for (var d = 0u; d < shape.quarter; d++) { q[d] = vec4f(qkv[(first + t) * wide + h * quarter + d]) * scale; }
  var top = -1e30;
  var total = 0.0;
  for (var j = 0u; j < last; j += 8u) {
    let part = j + lane % (4u + 4u * WIDE);
    let row = (first + min(part, shape.T - 1u)) * wide;
    let next = (first + min(part + 4u, shape.T - 1u)) * wide;
    var lo = vec4f(); // scores of keys j … j + 3
    var hi = vec4f(); // and of the next four
    for (var d = 0u; d < quarter; d++) {
      let k = vec4f(qkv[row + key + d]);
      var kw = k;
      if (WIDE == 0u) { kw = vec4f(qkv[next + key + d]); }
      lo.x = dotted(q[d], subgroupBroadcast(k, 0u), lo.x);
      lo.y = dotted(q[d], subgroupBroadcast(k, 1u), lo.y);
      lo.z = dotted(q[d], subgroupBroadcast(k, 2u), lo.z);
      lo.w = dotted(q[d], subgroupBroadcast(k, 3u), lo.w);
      hi.x = dotted(q[d], lane4(k, kw), hi.x);
      hi.y = dotted(q[d], lane5(k, kw), hi.y);
      hi.z = dotted(q[d], lane6(k, kw), hi.z);
      hi.w = dotted(q[d], lane7(k, kw), hi.w);
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
    for (var d = 0u; d < quarter; d++) {
      let v = vec4f(qkv[row + value + d]);
      var vw = v;
      if (WIDE == 0u) { vw = vec4f(qkv[next + value + d]); }
      var sum = acc[d] * shrink;
      sum = fma(vec4f(lo.x), subgroupBroadcast(v, 0u), sum);
      sum = fma(vec4f(lo.y), subgroupBroadcast(v, 1u), sum);
      sum = fma(vec4f(lo.z), subgroupBroadcast(v, 2u), sum);
      sum = fma(vec4f(lo.w), subgroupBroadcast(v, 3u), sum);
      sum = fma(vec4f(hi.x), lane4(v, vw), sum);
      sum = fma(vec4f(hi.y), lane5(v, vw), sum);
      sum = fma(vec4f(hi.z), lane6(v, vw), sum);
      sum = fma(vec4f(hi.w), lane7(v, vw), sum);
      acc[d] = sum;
    }
  }
  if (own >= shape.T) { return; }
  lse[(first + t) * shape.H + h] = top + log(total);
  let o = ((first + t) * shape.H + h) * quarter;
  for (var d = 0u; d < quarter; d++) { out[o + d] = vec4<Kept>(acc[d] / total); }
}
