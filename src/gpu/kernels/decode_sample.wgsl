// decode_sample: moves each row on by one token: a row that is past its forced tokens and may draw gets one more, from
//     softmax(logits / temperature) over the legal tokens, cut to top-k and then top-p, by inverse CDF of one uniform
//     random number. Greedy takes the likeliest token
// Shapes    B rows in B slots, of which the first N are at work. logits (N,V); grammar next (S,V), then stop (S); state
//           (B, 8) by slot: length, grammar state (0xffffffff: draw nothing), update, rollout, length at which to stop
//           (at most T), position of the token in work, forced tokens that aren't in the record yet (their number, then
//           role << 16; they are the row's last), row | first token of its context << 16; record (B,T); drawn (3, B, 64) by slot, with the token of a
//           position at position mod 64: ids, of forced tokens too; log-probabilities (f32 bits); if top-k or top-p is in
//           use, log of the total probability of the tokens that they keep.
// Parallel  one thread per slot. Rows never read each other, so results do not depend on how a batch is divided.
// Numerics  f32; maximum and sum are carried online. The log-probability is that of the tempered, legal distribution
//           before top-k and top-p. Randomness: pcg4d (Jarzynski & Olano 2020) of (key, update, rollout, position), 24
//           bits, as in src/base/rng.ts.
struct Shape { N: u32, B: u32, V: u32, T: u32 }
struct RowSampling { key: u32, greedy: u32, top_k: u32, states: u32, temperature: f32, top_p: f32 }
//! piece uniform_draw
@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> grammar: array<i32>;
@group(0) @binding(2) var<storage, read_write> state: array<u32>;
@group(0) @binding(3) var<storage, read_write> record: array<u32>;
@group(0) @binding(4) var<storage, read_write> drawn: array<u32>;
@group(0) @binding(5) var<uniform> settings: RowSampling;
@group(0) @binding(6) var<uniform> shape: Shape;

fn legal(grammar_state: u32, v: u32) -> bool { return grammar[grammar_state * shape.V + v] >= 0; }

// number of legal tokens that are likelier than v (on a tie: that have a lower id), and their total mass
fn ahead(b: u32, s: u32, v: u32, mine: f32, top: f32) -> vec2f {
  var before = vec2f();
  for (var i = 0u; i < shape.V; i++) {
    let z = logits[b * shape.V + i];
    let likelier = z > mine || (z == mine && i < v);
    if (likelier && legal(s, i)) { before += vec2f(1.0, exp(z / settings.temperature - top)); }
  }
  return before;
}

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let b = id.x;
  if (b >= shape.N) { return; }
  let at = b * 8u;
  let row = state[at + 7u] & 0xffffu;
  let length = state[at];
  let position = state[at + 5u];
  state[at + 6u] = 0u;
  if (position + 1u < length) {
    state[at + 5u] = position + 1u;
    return;
  }
  let s = state[at + 1u];
  if (s == 0xffffffffu || length >= state[at + 4u]) { return; }
  var token = 0u;
  var top = -3e38;
  var total = 0.0;
  for (var v = 0u; v < shape.V; v++) {
    let z = logits[b * shape.V + v] / settings.temperature;
    if (legal(s, v)) {
      token = select(token, v, z > top);
      let higher = max(top, z);
      total = total * exp(top - higher) + exp(z - higher);
      top = higher;
    }
  }
  let cuts = settings.top_k > 0u || settings.top_p < 1.0;
  var logit = top;
  var left = total; // mass that top-k keeps
  var mass = total; // mass that top-k and top-p keep
  let share = uniform_draw(state[at + 2u], state[at + 3u], length);
  var goal = select(share * total, 3e38, cuts);
  // turn 0 sums the mass that top-k keeps, turn 1 the mass that top-p keeps of that, turn 2 draws
  for (var turn = select(2u, 0u, cuts); turn < select(3u, 0u, settings.greedy == 1u); turn++) {
    var sum = 0.0;
    for (var v = 0u; v < shape.V && sum <= goal; v++) {
      let r = logits[b * shape.V + v];
      let z = r / settings.temperature;
      var p = select(0.0, exp(z - top), legal(s, v));
      if (cuts && p > 0.0) {
        let before = ahead(b, s, v, r, top);
        let beyond = turn > 0u && before.x > 0.0 && before.y >= settings.top_p * left;
        if (beyond || (settings.top_k > 0u && before.x >= f32(settings.top_k))) { p = 0.0; }
      }
      token = select(token, v, p > 0.0);
      logit = select(logit, z, p > 0.0);
      sum += p;
    }
    if (turn == 0u) { left = sum; }
    if (turn == 1u) {
      mass = sum;
      goal = share * sum;
    }
  }
  let logprob = logit - top - log(total);
  let next = u32(max(grammar[s * shape.V + token], 0));
  record[row * shape.T + length] = token | (2u << 16u) | (s << 24u);
  let place = b * 64u + length % 64u;
  drawn[place] = token;
  drawn[shape.B * 64u + place] = bitcast<u32>(logprob);
  if (cuts) { drawn[shape.B * 128u + place] = bitcast<u32>(log(mass / total)); }
  state[at] = length + 1u;
  state[at + 1u] = select(next, 0xffffffffu, grammar[settings.states * shape.V + next] != 0);
  state[at + 5u] = length;
}
