// state_advantages: A ← A + omega·A_S on the tokens of each turn. A_S compares the return R_k of turn k, as `group_advantages`
//     compares scores, with the returns of the turns of the same group that began in the same state
//     (GiGPO, arXiv 2505.10978; Trinity-RFT `GiGPOAdvantageFn`). With `sums_turns` it compares the reward of turn k,
//     r_k = R_k − turn_gamma·R_{k+1}, and A_k ← A_k + Σ_{j ≥ k} turn_gamma^{j − k}·A_S,j  (MT-GRPO, arXiv 2505.11821)
//     With `shares_progress` A_S is R_k, the credit for progress, minus its mean over the row's tokens of the advantage
//     mask (turn-credit, prime-rl #3282)
// Shapes    groups (B); rewards (3, B, T), of which the third are the numbers of states as floats, negative: none;
//           masks (6, B, T), of which the fifth is the advantage mask and the sixth marks the first token of each turn;
//           credit (2, B, T): advantage, changed in place, and R_k on all tokens of turn k.
// Parallel  one thread per token; that of a turn's first token goes over all tokens of its group, with
//           `shares_progress` that of a row's first token over the row. No shared memory.
// Numerics  f32. A_S is exactly 0 where A is in `group_advantages`. Returns are only read, advantages only written by
//           the thread of their turn.
struct Shape { B: u32, T: u32 }
//! piece credit_knobs
//! piece relative
@group(0) @binding(0) var<storage, read> groups: array<i32>;
@group(0) @binding(1) var<storage, read> rewards: array<f32>;
@group(0) @binding(2) var<storage, read> masks: array<f32>;
@group(0) @binding(3) var<storage, read_write> credit: array<f32>;
@group(0) @binding(4) var<uniform> settings: Credit;
@group(0) @binding(5) var<uniform> shape: Shape;

fn is_start(at: u32) -> bool { return masks[5u * shape.B * shape.T + at] != 0.0; }

// the next turn's first token; the end of the row, which T divides, if there is none
fn next_start(at: u32) -> u32 {
  var t = at + 1u;
  for (; t % shape.T != 0u && !is_start(t); t++) {}
  return t;
}

fn value(at: u32) -> f32 {
  let all = shape.B * shape.T;
  if (settings.sums_turns == 0.0) { return credit[all + at]; }
  let next = next_start(at);
  if (next % shape.T == 0u) { return credit[all + at]; }
  return credit[all + at] - settings.turn_gamma * credit[all + next];
}

fn advantage_of(at: u32) -> f32 {
  let all = shape.B * shape.T;
  let state = rewards[2u * all + at];
  if (state < 0.0) { return 0.0; }
  let b = at / shape.T;
  let mine = value(at);
  var compared = NO_MEMBERS;
  for (var i = 0u; i < all; i++) {
    if (groups[i / shape.T] != groups[b]) { i += shape.T - 1u; continue; }
    if (is_start(i) && rewards[2u * all + i] == state) { compared = join(compared, value(i), mine); }
  }
  if (!differs(compared)) { return 0.0; }
  var squares = 0.0;
  for (var i = 0u; i < all; i++) {
    if (groups[i / shape.T] != groups[b]) { i += shape.T - 1u; continue; }
    if (!is_start(i) || rewards[2u * all + i] != state) { continue; }
    let d = value(i) - mine - compared.sum / compared.n;
    squares += d * d;
  }
  return relative(compared, squares, mine, settings.baseline);
}

fn add_progress(row: u32) {
  let all = shape.B * shape.T;
  var sum = 0.0;
  var n = 0.0;
  for (var t = row; t < row + shape.T; t++) {
    if (masks[4u * all + t] > 0.0) { sum += credit[all + t]; n += 1.0; }
  }
  for (var t = row; t < row + shape.T; t++) {
    if (masks[4u * all + t] > 0.0) { credit[t] += settings.state_weight * (credit[all + t] - sum / n); }
  }
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) thread: u32) {
  let at = (group.y * grid.x + group.x) * 64u + thread;
  let all = shape.B * shape.T;
  if (settings.shares_progress == 1.0) {
    if (at < all && at % shape.T == 0u) { add_progress(at); }
    return;
  }
  if (at >= all || !is_start(min(at, all - 1u))) { return; }
  var advantage = advantage_of(at);
  let end = next_start(at);
  if (settings.sums_turns == 1.0) {
    var weight = settings.turn_gamma;
    for (var turn = end; turn % shape.T != 0u; turn = next_start(turn)) {
      advantage += weight * advantage_of(turn);
      weight *= settings.turn_gamma;
    }
  }
  for (var t = at; t < end; t++) {
    if (masks[4u * all + t] > 0.0) { credit[t] += settings.state_weight * advantage; }
  }
}
