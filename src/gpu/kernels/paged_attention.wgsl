// paged_attention: out[n,h] = sum_{j≤t} p_j·v_j, p = softmax_j(q·k_j/√D). The keys and values are at the places of the
//     row of seat n, so that rows with the same beginning read the same places
// Shapes    queries, out (N, H·D), D a multiple of 4, at most 128; seats (·), each with one token of the pass, as
//           (token, position t, row, tokens left to draw); places (B,T), where in the cache each position is; cache (·,
//           2·G·D) in float16 or float32: at each place its keys, then its values.
// Parallel  LANES threads share a (seat, head). Each takes every LANES-th key in an online softmax, D sums in
//           registers. With more than one lane, the results are combined in shared memory (16·THREADS·D/4 bytes) with
//           two barriers.
// Numerics  f32; the running maximum is subtracted before exp.
override HEAD: u32 = 8; // D, a constant so that loops over it unroll
override HALVES: u32 = 1; // 1: the cache holds float16; 0: float32
override LANES: u32 = 1;
override THREADS: u32 = 64; // of a workgroup, a multiple of LANES
override SHARED: u32 = 1; // size of `part`: THREADS·D/4 if LANES is more than 1
struct Shape { N: u32, T: u32, H: u32, G: u32 }
@group(0) @binding(0) var<storage, read> queries: array<vec4f>;
@group(0) @binding(1) var<storage, read> seats: array<vec4u>;
@group(0) @binding(2) var<storage, read> places: array<u32>;
@group(0) @binding(3) var<storage, read> cache: array<vec2u>;
@group(0) @binding(4) var<storage, read_write> out: array<vec4f>;
@group(0) @binding(5) var<uniform> shape: Shape;
var<workgroup> part: array<vec4f, SHARED>;
var<workgroup> stats: array<vec2f, THREADS>; // maximum, sum

// the quad of the cache at index `at`
fn kept(at: u32) -> vec4f {
  if (HALVES == 1u) {
    let pairs = cache[at];
    return vec4f(unpack2x16float(pairs.x), unpack2x16float(pairs.y));
  }
  return vec4f(bitcast<vec2f>(cache[2u * at]), bitcast<vec2f>(cache[2u * at + 1u]));
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let D = HEAD / 4u;
  let lane = thread % LANES;
  let item = (group.x + group.y * 65535u) * (THREADS / LANES) + thread / LANES;
  let H = max(shape.H, 1u);
  let n = item / H;
  let h = item % H;
  let g = h * shape.G / H;
  let seat = seats[min(n, max(shape.N, 1u) - 1u)];
  let works = n < shape.N && seat.z != 0xffffffffu;
  let count = select(0u, seat.y + 1u, works);
  let scale = 1.0 / sqrt(f32(HEAD));
  var query: array<vec4f, 32>;
  var acc: array<vec4f, 32>;
  for (var d = 0u; d < D; d++) { query[d] = queries[select(0u, item * D + d, works)] * scale; }
  var top = -3e38;
  var total = 0.0;
  for (var j = lane; j < count; j += LANES) {
    let key = (places[seat.z * shape.T + j] * 2u * shape.G + g) * D;
    let value = key + shape.G * D;
    var s = 0.0;
    for (var d = 0u; d < D; d++) { s += dot(query[d], kept(key + d)); }
    let higher = max(top, s);
    let shrink = exp(top - higher);
    let p = exp(s - higher);
    total = total * shrink + p;
    for (var d = 0u; d < D; d++) { acc[d] = acc[d] * shrink + p * kept(value + d); }
    top = higher;
  }
  if (LANES > 1u) {
    stats[thread] = vec2f(top, total);
    workgroupBarrier();
    let first = thread - lane;
    let own = top;
    for (var i = 0u; i < LANES; i++) { top = max(top, stats[first + i].x); }
    total = 0.0;
    for (var i = 0u; i < LANES; i++) { total += stats[first + i].y * exp(stats[first + i].x - top); }
    let share = exp(own - top);
    for (var d = 0u; d < D; d++) { part[thread * D + d] = acc[d] * share; }
    workgroupBarrier();
    if (!works) { return; }
    for (var d = lane; d < D; d += LANES) {
      var sum = vec4f();
      for (var i = 0u; i < LANES; i++) { sum += part[(first + i) * D + d]; }
      out[item * D + d] = sum / total;
    }
    return;
  }
  if (!works) { return; }
  for (var d = 0u; d < D; d++) { out[item * D + d] = acc[d] / total; }
}
