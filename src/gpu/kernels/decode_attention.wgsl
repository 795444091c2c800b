// decode_attention: attention of one query per row over its cache:
//     out[b,h] = sum_{j≤t} p_j·v_j, p = softmax_j(q·k_j/√D). Also appends k and v to the cache
// Shapes    B rows in B slots, of which the first N are at work. qkv (N,W), W = (H + 2·G)·D, rotated; positions (2,B)
//           by slot: positions in the row's context, then rows; cache (2, B, T, G·D) by row: keys, then values; out (N, H·D).
// Parallel  one thread per (slot, h), barrier-free: an online softmax over the cache, D ≤ 64 sums in registers. The
//           first query head of each key head appends. The newest key and value are read from qkv, so no thread waits.
// Numerics  f32; the running maximum is subtracted before exp.
override HEAD: u32 = 8; // D, at most 64; a constant, so that loops over registers unroll
alias Kept = f32; // or f16
struct Shape { N: u32, B: u32, T: u32, H: u32, G: u32, W: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> positions: array<u32>;
@group(0) @binding(2) var<storage, read_write> cache: array<Kept>;
@group(0) @binding(3) var<storage, read_write> out: array<Kept>;
@group(0) @binding(4) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let b = id.x / shape.H;
  let h = id.x % shape.H;
  if (b >= shape.N) { return; }
  let D = HEAD;
  let loads = shape.W / (shape.H + 2u * shape.G); // D, but not a constant, so that loops over it don't unroll
  let g = h * shape.G / shape.H;
  let t = positions[b];
  let q = b * shape.W + h * D;
  let key = b * shape.W + (shape.H + g) * D;
  let value = key + shape.G * D;
  let wide = shape.G * D;
  let keys = positions[shape.B + b] * shape.T * wide + g * D;
  let values = keys + shape.B * shape.T * wide;
  let appends = h % (shape.H / shape.G) == 0u;
  let scale = 1.0 / sqrt(f32(HEAD));
  var query: array<f32, 64>;
  var acc: array<f32, 64>;
  var top = 0.0;
  for (var d = 0u; d < D; d++) { query[d] = f32(qkv[q + d]) * scale; }
  for (var i = 0u; i < loads; i++) {
    let k = qkv[key + i];
    top += f32(qkv[q + i]) * scale * f32(k);
    if (appends) {
      cache[keys + t * wide + i] = k;
      cache[values + t * wide + i] = qkv[value + i];
    }
  }
  let newest = top;
  var total = 1.0;
  for (var j = 0u; j < t; j++) {
    var s = 0.0;
    for (var d = 0u; d < D; d++) { s += query[d] * f32(cache[keys + j * wide + d]); }
    let higher = max(top, s);
    let shrink = exp(top - higher);
    let p = exp(s - higher);
    total = total * shrink + p;
    for (var d = 0u; d < D; d++) { acc[d] = acc[d] * shrink + p * f32(cache[values + j * wide + d]); }
    top = higher;
  }
  let p = exp(newest - top);
  for (var i = 0u; i < loads; i++) {
    var sum = acc[0];
    for (var d = 1u; d < D; d++) { sum = select(sum, acc[d], d == i); }
    out[(b * shape.H + h) * D + i] = Kept((sum + p * f32(qkv[value + i])) / total);
  }
}
