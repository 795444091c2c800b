// sample_tokens: draws one token for each seat, from softmax(logits / temperature) cut to top-k and then top-p, by
//     inverse CDF of one uniform random number in the order of ids. Greedy takes the likeliest token, the lowest id on
//     a tie
// Shapes    N seats (·), each with one token of the pass, as (token, position, row (0xffffffff: empty), tokens left to
//           draw); logits (N,V); stops (·): ids that end a row's turn; drawn (·, 1 + 2·M) per seat: count, ids (M),
//           log-probabilities (M, f32 bits).
// Parallel  one workgroup of 256 threads per seat. For sums a thread takes every 256th logit; for the draw it takes a
//           contiguous 256th of the row, so that masses add up in the order of ids. Top-k and top-p each find the
//           lowest kept logit by bisecting the range of its bits, with 32 sums over the row; among equal logits the
//           lower ids are kept.
// Numerics  f32; sums in a fixed order. The log-probability is that of the tempered distribution before top-k and
//           top-p. If the random number is within rounding of the boundary between two ids, or a sum within rounding of
//           top-p, the result may be the neighbour of the one that float64 gives. Randomness: pcg4d of (key, update,
//           row, position), 24 bits.
struct Shape { N: u32, V: u32, M: u32 }
@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> stops: array<u32>;
@group(0) @binding(2) var<storage, read_write> seats: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> drawn: array<u32>;
@group(0) @binding(4) var<uniform> settings: Sampling;
@group(0) @binding(5) var<uniform> shape: Shape;
//! piece logits_row
//! piece sampling
var<workgroup> chosen: u32;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let n = min(group.x, max(shape.N, 1u) - 1u);
  let seat = seats[n];
  let works = group.x < shape.N && seat.z != 0xffffffffu;
  let V = select(0u, shape.V, works);
  let row = n * V;
  let likeliest = next_of(thread, row, V, vec2f(3.4e38, -1.0));
  let top = likeliest.x / settings.temperature;
  let total = mass_of(thread, row, V, settings.temperature, top);
  if (thread == 0u) { chosen = u32(likeliest.y); }
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
    workgroupBarrier();
    shared_parts[thread] = vec2f(level, 0.0);
    workgroupBarrier();
    level = 0.0;
    for (var i = 0u; i < thread; i++) { level += shared_parts[i].x; }
    var seen = level;
    var own = 0.0;
    for (var v = start; v < to; v++) {
      let z = logits[row + v];
      let rank = ranked(z);
      if (rank > least || (rank == least && seen < ties)) { own += exp(z / settings.temperature - top); }
      if (rank == least) { seen += 1.0; }
    }
    workgroupBarrier();
    shared_parts[thread] = vec2f(own, 0.0);
    workgroupBarrier();
    var mass = 0.0;
    var before = 0.0;
    for (var i = 0u; i < 256u; i++) {
      if (i == thread) { before = mass; }
      mass += shared_parts[i].x;
    }
    let goal = min(uniform_of(seat.z, seat.y + 1u), 0.9999998) * mass; // below mass despite rounding
    if (before <= goal && goal < before + own) {
      var sum = before;
      for (var v = start; v < to && sum <= goal; v++) {
        let z = logits[row + v];
        let rank = ranked(z);
        if (rank > least || (rank == least && level < ties)) {
          sum += exp(z / settings.temperature - top);
          chosen = v;
        }
        if (rank == least) { level += 1.0; }
      }
    }
  }
  workgroupBarrier();
  if (thread != 0u || !works) { return; }
  let token = min(chosen, shape.V - 1u);
  let at = n * (1u + 2u * shape.M);
  let count = min(drawn[at], shape.M - 1u);
  drawn[at] = count + 1u;
  drawn[at + 1u + count] = token;
  drawn[at + 1u + shape.M + count] = bitcast<u32>(logits[row + token] / settings.temperature - top - log(total));
  var ends = seat.w <= 1u;
  for (var i = 0u; i < settings.stops; i++) { ends = ends || stops[i] == token; }
  seats[n] = vec4u(token, seat.y + 1u, select(seat.z, 0xffffffffu, ends), seat.w - 1u);
}
