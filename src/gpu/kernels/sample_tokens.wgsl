// sample_tokens: draws one token for each seat, from softmax(logits / temperature) over the legal tokens, cut to top-k
//     and then top-p, by inverse CDF of one uniform random number in the order of ids. Greedy takes the likeliest
//     token, the lowest id on a tie. The seat then holds the drawn token, or nobody if its row cannot go on by itself
// Shapes    N seats (·), each with one token of the pass, as (token, position, row (0xffffffff: empty), tokens left to
//           draw); draws (·) per seat: update, rollout, grammar state, tokens of the row before position 0; legal,
//           stays (states, ⌈V/32⌉): one bit per token, whether it may be drawn in the state, and whether the row may
//           then draw on in the same state;
//           logits (N,V), of which the illegal ones become −1e30; drawn (·, 1 + 3·M) per seat: count, ids (M;
//           0xffffffff: no token is legal), then log-probabilities and the log of the total probability that top-k and
//           top-p keep (M each, f32 bits).
// Parallel  one workgroup of 256 threads per seat. For sums a thread takes every 256th logit; for the draw it takes a
//           contiguous 256th of the row, so that masses add up in the order of ids. Top-k and top-p each find the
//           lowest kept logit by bisecting the range of its bits, with 32 sums over the row; among equal logits the
//           lower ids are kept.
// Numerics  f32; sums in a fixed order, in two steps of sixteen partial sums, so that few roundings add up. The
//           log-probability is that of the tempered, legal distribution before top-k and top-p. If the random number is
//           within rounding of the boundary between two ids, or a sum within rounding of top-p, the result may be the
//           neighbour of the one that float64 gives. Randomness: pcg4d (Jarzynski & Olano 2020) of (key, update,
//           rollout, index in the row), 24 bits, as in src/base/rng.ts.
struct Shape { N: u32, V: u32, M: u32 }
@group(0) @binding(0) var<storage, read_write> logits: array<f32>;
@group(0) @binding(1) var<storage, read> legal: array<u32>;
@group(0) @binding(2) var<storage, read> stays: array<u32>;
@group(0) @binding(3) var<storage, read> draws: array<vec4u>;
@group(0) @binding(4) var<storage, read_write> seats: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> drawn: array<u32>;
@group(0) @binding(6) var<uniform> settings: Sampling;
@group(0) @binding(7) var<uniform> shape: Shape;
//! piece logits_row
//! piece sampling
//! piece uniform_draw
var<workgroup> chosen: u32;
var<workgroup> legal_end: atomic<u32>; // one past the last legal token; 0: none is legal

// the sum of `own` of the threads before this one, that up to this one (to the bit the first of the next thread), and
// that of all
fn running_sums(thread: u32, own: f32) -> vec3f {
  workgroupBarrier();
  shared_parts[thread] = vec2f(own, 0.0);
  workgroupBarrier();
  if (thread < 16u) {
    var sum = 0.0;
    for (var i = 0u; i < 16u; i++) { sum += shared_parts[thread * 16u + i].x; }
    shared_sixteenths[thread] = vec2f(sum, 0.0);
  }
  workgroupBarrier();
  var before = 0.0;
  var all = 0.0;
  for (var i = 0u; i < 16u; i++) {
    if (i == thread / 16u) { before = all; }
    all += shared_sixteenths[i].x;
  }
  var within = 0.0;
  for (var i = thread & 240u; i < thread; i++) { within += shared_parts[i].x; }
  return vec3f(before + within, before + (within + own), all);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let n = min(group.x, max(shape.N, 1u) - 1u);
  let seat = seats[n];
  let draw = draws[n];
  let works = group.x < shape.N && seat.z != 0xffffffffu;
  let V = select(0u, shape.V, works);
  let row = n * V;
  let words = draw.z * ((shape.V + 31u) / 32u);
  var end = 0u;
  for (var v = thread; v < V; v += 256u) {
    if (((legal[words + v / 32u] >> (v % 32u)) & 1u) == 1u) {
      end = v + 1u;
    } else {
      logits[row + v] = -1e30;
    }
  }
  atomicMax(&legal_end, end);
  storageBarrier();
  let likeliest = next_of(thread, row, V, vec2f(3.4e38, -1.0));
  let top = likeliest.x / settings.temperature;
  let total = mass_of(thread, row, V, settings.temperature, top);
  if (thread == 0u) { chosen = u32(likeliest.y); }
  var kept = total; // mass that top-k and top-p keep
  if (settings.greedy == 0u) {
    let by_k = settings.top_k > 0u && settings.top_k < shape.V;
    let by_p = settings.top_p < 1.0;
    var least = 0u; // rank of the lowest kept logit; `ties` is how many logits of that rank are kept
    var ties = 16777216.0;
    var left = total;
    if (by_k) {
      let k = f32(settings.top_k);
      for (var bit = 0u; bit < 32u; bit++) {
        let higher = least | (0x80000000u >> bit);
        if (from_rank(thread, row, V, higher, top).x >= k) { least = higher; }
      }
      let beyond = from_rank(thread, row, V, least + 1u, top);
      ties = k - beyond.x;
      left = beyond.y + ties * exp(unranked(least) / settings.temperature - top);
    }
    if (by_p) {
      let goal = settings.top_p * left;
      var last = 0u;
      for (var bit = 0u; bit < 32u; bit++) {
        let higher = last | (0x80000000u >> bit);
        if (from_rank(thread, row, V, higher, top).y >= goal) { last = higher; }
      }
      last = max(last, least);
      let missing = goal - from_rank(thread, row, V, last + 1u, top).y;
      let wanted = clamp(ceil(missing / exp(unranked(last) / settings.temperature - top)), 1.0, 16777216.0);
      ties = select(wanted, min(wanted, ties), last == least);
      least = last;
    }
    let span = (V + 255u) / 256u;
    let start = thread * span;
    let to = min(start + span, V);
    var level = 0.0; // logits of rank `least` in this stretch, then those before it
    for (var v = start; v < to; v++) { level += select(0.0, 1.0, ranked(logits[row + v]) == least); }
    level = running_sums(thread, level).x;
    var seen = level;
    var own = 0.0;
    for (var v = start; v < to; v++) {
      let z = logits[row + v];
      let rank = ranked(z);
      if (rank > least || (rank == least && seen < ties)) { own += exp(z / settings.temperature - top); }
      if (rank == least) { seen += 1.0; }
    }
    let masses = running_sums(thread, own);
    if (by_k || by_p) { kept = masses.z; }
    // below the mass despite rounding
    let goal = min(uniform_draw(draw.x, draw.y, draw.w + seat.y + 1u), 0.9999998) * masses.z;
    if (masses.x <= goal && goal < masses.y) {
      var sum = 0.0;
      for (var v = start; v < to && sum <= goal - masses.x; v++) {
        let z = logits[row + v];
        let rank = ranked(z);
        let p = exp(z / settings.temperature - top);
        if (p > 0.0 && (rank > least || (rank == least && level < ties))) {
          sum += p;
          chosen = v;
        }
        if (rank == least) { level += 1.0; }
      }
    }
  }
  workgroupBarrier();
  if (thread != 0u || !works) { return; }
  let last_legal = atomicLoad(&legal_end) - 1u;
  let token = min(chosen, last_legal); // logits that are NaN leave no likeliest token
  let at = n * (1u + 3u * shape.M);
  let count = min(drawn[at], shape.M - 1u);
  drawn[at] = count + 1u;
  drawn[at + 1u + count] = select(token, 0xffffffffu, last_legal == 0xffffffffu);
  let z = logits[row + min(token, shape.V - 1u)] / settings.temperature;
  drawn[at + 1u + shape.M + count] = bitcast<u32>(z - top - log(total));
  drawn[at + 1u + 2u * shape.M + count] = bitcast<u32>(log(kept / total));
  let on = (stays[words + min(token, shape.V - 1u) / 32u] >> (token % 32u)) & 1u;
  let ends = seat.w <= 1u || last_legal == 0xffffffffu || on == 0u;
  seats[n] = vec4u(token, seat.y + 1u, select(seat.z, 0xffffffffu, ends), seat.w - 1u);
}
