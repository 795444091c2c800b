// group_advantages: the advantage A on every token of the advantage mask of row b.
//     S is the score of a row, g the group of b with n rows:
//     S_b − mean_g S  (Dr. GRPO, arXiv 2503.20783; REINFORCE++-baseline, arXiv 2501.03262);
//     (S_b − mean_g S) / (std_g S + 1e-6), std with n − 1  (GRPO, arXiv 2402.03300 §4.1.2);
//     (S_b − mean_g S) / (mean_g S + 1e-6), 0 where the mean is not above 0  (MaxRL; SkyRL `compute_maxrl_advantage`);
//     (S_b − mean_g S)·n / (n − 1), which is S_b minus the mean of the other rows  (RLOO, arXiv 2402.14740)
//     1 where the row's rollout solved its task  (rejection sampling, arXiv 2308.01825), with `solved`
//     Without `scores` A is 0, because only turns are compared (mt-grpo, turn-baseline), or nothing is
// Shapes    groups (B), negative: in no group; rewards (3, B, T), of which the third has, with `solved`, 1 at the tokens
//           of solved rows; masks (6, B, T), of which the fifth is the advantage mask; sums (B, 5),
//           of which the first is the score; credit (2, B, T): advantage, 0; with
//           `whole_turns` the second keeps the turns' returns, for state_advantages.
// Parallel  one thread per row, which looks up the scores of its own group. No shared memory.
// Numerics  f32. In a group of one row, or one whose scores differ by less than 1e-6 (rounding, not signal), A is
//           exactly 0, and so it is where the score is the mean but for rounding: 1e-6 of the larger of 1 and the
//           largest |S| of the group.
struct Shape { B: u32, T: u32 }
//! piece credit_knobs
//! piece relative
@group(0) @binding(0) var<storage, read> groups: array<i32>;
@group(0) @binding(1) var<storage, read> rewards: array<f32>;
@group(0) @binding(2) var<storage, read> masks: array<f32>;
@group(0) @binding(3) var<storage, read> sums: array<f32>;
@group(0) @binding(4) var<storage, read_write> credit: array<f32>;
@group(0) @binding(5) var<uniform> settings: Credit;
@group(0) @binding(6) var<uniform> shape: Shape;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let b = id.x;
  if (b >= shape.B) { return; }
  let all = shape.B * shape.T;
  let mine = sums[b * 5u];
  var compared = NO_MEMBERS;
  for (var i = 0u; i < shape.B; i++) {
    if (groups[i] == groups[b]) { compared = join(compared, sums[i * 5u], mine); }
  }
  var squares = 0.0;
  for (var i = 0u; i < shape.B; i++) {
    if (groups[i] != groups[b]) { continue; }
    let d = sums[i * 5u] - mine - compared.sum / compared.n;
    squares += d * d;
  }
  var advantage = 0.0;
  if (settings.scores == 1.0 && differs(compared)) { advantage = relative(compared, squares, mine, settings.baseline); }
  if (settings.solved == 1.0) { advantage = rewards[2u * all + b * shape.T]; }
  for (var t = 0u; t < shape.T; t++) {
    let at = b * shape.T + t;
    credit[at] = select(0.0, advantage, masks[4u * all + at] > 0.0);
    if (settings.whole_turns == 0.0) { credit[all + at] = 0.0; }
  }
}
