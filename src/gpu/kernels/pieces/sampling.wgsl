// settings of a draw, and the rank of a logit
struct Sampling { key: u32, greedy: u32, top_k: u32, count: u32, temperature: f32, top_p: f32 }

// the rank of a float: unsigned integers in the order of the floats; and the float of a rank
fn ranked(z: f32) -> u32 {
  let bits = bitcast<u32>(z);
  return select(bits | 0x80000000u, ~bits, bits >= 0x80000000u);
}
fn unranked(rank: u32) -> f32 { return bitcast<f32>(select(~rank, rank & 0x7fffffffu, rank >= 0x80000000u)); }

// the number of logits whose rank is at least `least`, and their mass
fn from_rank(thread: u32, row: u32, V: u32, least: u32, top: f32) -> vec2f {
  var sum = vec2f();
  for (var v = thread; v < V; v += 256u) {
    let z = logits[row + v];
    if (ranked(z) >= least) { sum += vec2f(1.0, exp(z / settings.temperature - top)); }
  }
  return sum_of(thread, sum);
}
