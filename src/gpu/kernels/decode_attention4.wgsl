// decode_attention4: attention of one query per row over its cache:
//     out[b,h] = sum_{j≤t} p_j·v_j, p = softmax_j(q·k_j/√D). Also appends k and v to the cache.
//     For heads that are a multiple of 4: each load takes four scalars
// Shapes    B rows in B slots, of which the first N are at work. qkv (N,W), W = (H + 2·G)·D, rotated; positions (2,B)
//           by slot: positions in the row's context, then rows; cache (2, B, T, G·D) by row: keys, then values; out (N, H·D).
// Parallel  one thread per (slot, h), barrier-free: an online softmax over the cache, D ≤ 64 sums in registers. The
//           first query head of each key head appends. The newest key and value are read from qkv, so no thread waits.
//           Heads larger than 16 take keys in pairs, in loops that are not unrolled: fewer loads in the code compile
//           faster.
// Numerics  f32; the running maximum is subtracted before exp.
override HEAD: u32 = 8; // D, at most 64; a constant, so that loops over registers unroll (for D up to 16)
alias Kept = f32; // or f16
struct Shape { N: u32, B: u32, T: u32, H: u32, G: u32, W: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<vec4<Kept>>;
@group(0) @binding(1) var<storage, read> positions: array<u32>;
@group(0) @binding(2) var<storage, read_write> cache: array<vec4<Kept>>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4<Kept>>;
@group(0) @binding(4) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let b = id.x / shape.H;
  let h = id.x % shape.H;
  if (b >= shape.N) { return; }
  let D = HEAD / 4u;
  let loads = shape.W / (shape.H + 2u * shape.G) / 4u; // D/4, but not a constant, so that loops over it don't unroll
  let g = h * shape.G / shape.H;
  let t = positions[b];
  let q = b * shape.W / 4u + h * D;
  let key = b * shape.W / 4u + (shape.H + g) * D;
  let value = key + shape.G * D;
  let wide = shape.G * D;
  let keys = positions[shape.B + b] * shape.T * wide + g * D;
  let values = keys + shape.B * shape.T * wide;
  let appends = h % (shape.H / shape.G) == 0u;
  let scale = 1.0 / sqrt(f32(HEAD));
  let pairs = HEAD > 16u;
  var query: array<vec4f, 16>;
  var acc: array<vec4f, 16>;
  var top = 0.0;
  for (var i = 0u; i < loads; i++) {
    let x = vec4f(qkv[q + i]) * scale;
    let k = qkv[key + i];
    let v = qkv[value + i];
    top += dot(x, vec4f(k));
    for (var d = 0u; d < D; d++) {
      query[d] = select(query[d], x, d == i);
      acc[d] = select(acc[d], vec4f(v), d == i);
    }
    if (appends) {
      cache[keys + t * wide + i] = k;
      cache[values + t * wide + i] = v;
    }
  }
  var total = 1.0;
  for (var j = 0u; j < t; j += select(1u, 2u, pairs)) {
    let row = vec2u(j, min(j + 1u, t - 1u)) * wide;
    var s = vec2f();
    if (pairs) {
      for (var i = 0u; i < loads; i++) {
        let x = vec4f(qkv[q + i]) * scale;
        s += vec2f(dot(x, vec4f(cache[keys + row.x + i])), dot(x, vec4f(cache[keys + row.y + i])));
      }
    } else {
      for (var d = 0u; d < D; d++) { s.x += dot(query[d], vec4f(cache[keys + row.x + d])); }
    }
    if (!pairs || j + 1u == t) { s.y = -1e30; }
    let higher = max(top, max(s.x, s.y));
    let shrink = exp(top - higher);
    let p = exp(s - higher);
    total = total * shrink + p.x + p.y;
    if (pairs) {
      for (var i = 0u; i < loads; i++) {
        let even = p.x * vec4f(cache[values + row.x + i]);
        acc[i] = acc[i] * shrink + even + p.y * vec4f(cache[values + row.y + i]);
      }
    } else {
      for (var d = 0u; d < D; d++) { acc[d] = acc[d] * shrink + p.x * vec4f(cache[values + row.x + d]); }
    }
    top = higher;
  }
  for (var i = 0u; i < loads; i++) {
    var quad = acc[0];
    for (var d = 1u; d < D; d++) { quad = select(quad, acc[d], d == i); }
    out[(b * shape.H + h) * D + i] = vec4<Kept>(quad / total);
  }
}
