// attention_backward_query_broadcast: with p_j = exp(q·k_j/√D − lse), delta = dout·out:
//     dq = sum_{j≤t} p_j·(dout·v_j − delta)·k_j/√D, turned back by the rotary angle of t
//     (subgroup variant for D divisible by 8)
// Shapes    qkv, dqkv (B·T, W), W = (H + 2·G)·D; out, dout (B·T, H·D); lse, delta (B·T, H); table (P, D/2, 2).
// Parallel  one thread per query: x walks T/WIDTH, y walks H, z walks B. Eight lanes of a subgroup load a key and a
//           value each and broadcast them to all its queries. No shared memory, no barrier; subgroups of 4 or more.
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
  for (var j = 0u; j < last; j += 8u) {
    let part = j + lane % (4u + 4u * WIDE);
    let row = (first + min(part, shape.T - 1u)) * wide;
    let next = (first + min(part + 4u, shape.T - 1u)) * wide;
    var k: array<vec4f, 16>;
    var v: array<vec4f, 16>;
    var kw: array<vec4f, 16>;
    var vw: array<vec4f, 16>;
    for (var d = 0u; d < shape.quarter; d++) {
      k[d] = vec4f(qkv[row + key + d]);
      v[d] = vec4f(qkv[row + value + d]);
      if (WIDE == 0u) {
        kw[d] = vec4f(qkv[next + key + d]);
        vw[d] = vec4f(qkv[next + value + d]);
      }
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
      hi.x = dotted(q[d], lane4(k[d], kw[d]), hi.x);
      hi_p.x = dotted(g[d], lane4(v[d], vw[d]), hi_p.x);
      hi.y = dotted(q[d], lane5(k[d], kw[d]), hi.y);
      hi_p.y = dotted(g[d], lane5(v[d], vw[d]), hi_p.y);
      hi.z = dotted(q[d], lane6(k[d], kw[d]), hi.z);
      hi_p.z = dotted(g[d], lane6(v[d], vw[d]), hi_p.z);
      hi.w = dotted(q[d], lane7(k[d], kw[d]), hi.w);
      hi_p.w = dotted(g[d], lane7(v[d], vw[d]), hi_p.w);
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
      sum = fma(vec4f(hi.x), lane4(k[d], kw[d]), sum);
      sum = fma(vec4f(hi.y), lane5(k[d], kw[d]), sum);
      sum = fma(vec4f(hi.z), lane6(k[d], kw[d]), sum);
      sum = fma(vec4f(hi.w), lane7(k[d], kw[d]), sum);
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
