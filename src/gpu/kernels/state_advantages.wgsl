// state_advantages: A ← A + omega·A_S on the tokens of each turn. A_S compares the return R_k of turn k, as `group_advantages`
//     compares scores, with the returns of the turns of the same group that began in the same state
//     (GiGPO, arXiv 2505.10978; Trinity-RFT `GiGPOAdvantageFn`)
// Shapes    groups (B); rewards (3, B, T), of which the third are the numbers of states as floats, negative: none;
//           masks (6, B, T), of which the fifth is the advantage mask and the sixth marks the first token of each turn;
//           credit (2, B, T): advantage, changed in place, and R_k on all tokens of turn k.
// Parallel  one thread per token; that of a turn's first token goes over all tokens of its group. No shared memory.
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

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) thread: u32) {
  let at = (group.y * grid.x + group.x) * 64u + thread;
  let all = shape.B * shape.T;
  if (at >= all || !is_start(min(at, all - 1u))) { return; }
  let state = rewards[2u * all + at];
  if (state < 0.0) { return; }
  let b = at / shape.T;
  let mine = credit[all + at];
  var compared = NO_MEMBERS;
  for (var i = 0u; i < all; i++) {
    if (groups[i / shape.T] != groups[b]) { i += shape.T - 1u; continue; }
    if (is_start(i) && rewards[2u * all + i] == state) { compared = join(compared, credit[all + i], mine); }
  }
  if (!differs(compared)) { return; }
  var squares = 0.0;
  for (var i = 0u; i < all; i++) {
    if (groups[i / shape.T] != groups[b]) { i += shape.T - 1u; continue; }
    if (!is_start(i) || rewards[2u * all + i] != state) { continue; }
    let d = credit[all + i] - mine - compared.sum / compared.n;
    squares += d * d;
  }
  let advantage = settings.state_weight * relative(compared, squares, mine, settings.baseline);
  for (var t = at; t < (b + 1u) * shape.T && (t == at || !is_start(t)); t++) {
    if (masks[4u * all + t] > 0.0) { credit[t] += advantage; }
  }
}
