// loss_weights: the weight of each token in loss = Σ_t w_t·l_t, by aggregation (DAPO; verl; GRPO; Dr. GRPO):
//     token-mean m/N;  seq-mean-token-sum m/R;  seq-mean-token-mean m/(R·n_i);  seq-mean-token-sum-norm m/(R·T).
//     m is the mask, N the number of its tokens, R the number of sequences with at least one, and n_i that of tokens in
//     sequence i. A sequence is a context: the whole row, or a turn if each turn has a context of its own. N and R count
//     the whole optimizer step, separately for each mask. The policy mean and the observation loss are token means,
//     whatever the aggregation, and so is the KL to a teacher, over the tokens of the policy mask that have one (with
//     TEACHER). knobs.aggregation has two bits each, from the lowest: for policy loss and KL, for entropy,
//     for the value loss. The weight in the policy loss is also multiplied by the token's correction.
// Shapes    minibatch (M): batch rows, 0xffffffff: no row; masks: (6, B, T), of which policy, regularizer, value and
//           observation are read, then (B, 4), the number of tokens of a row in these four, and (B, 4), the number of its
//           contexts with one; rewards (4, B, T), of which the second table is read: the first token of a token's context,
//           as its index in the row, and the fourth: 1 at tokens with a teacher; corrections (B,T); weights (8, B, T):
//           policy loss, policy mean (m/N), KL, entropy, value loss, observation loss, a copy of the first tokens for the
//           kernel objective, and the KL to the teacher.
// Parallel  eight threads per row of the minibatch, one per table. Each adds up the counts of all rows. No shared memory.
// Numerics  f32; counts are exact below 2^24.
override TEACHER: u32 = 0u;
struct Shape { M: u32, T: u32, B: u32 }
//! piece step_knobs
@group(0) @binding(0) var<storage, read> minibatch: array<u32>;
@group(0) @binding(1) var<storage, read> masks: array<f32>;
@group(0) @binding(2) var<storage, read> rewards: array<f32>;
@group(0) @binding(3) var<storage, read> corrections: array<f32>;
@group(0) @binding(4) var<storage, read_write> weights: array<f32>;
@group(0) @binding(5) var<uniform> knobs: Knobs;
@group(0) @binding(6) var<uniform> shape: Shape;

fn factor(how: u32, tokens: f32, sequences: f32, own: f32) -> f32 {
  if (how == AGGREGATION_SEQ_MEAN_TOKEN_SUM) { return 1.0 / max(sequences, 1.0); }
  if (how == AGGREGATION_SEQ_MEAN_TOKEN_MEAN) { return 1.0 / max(sequences * own, 1.0); }
  if (how == AGGREGATION_SEQ_MEAN_TOKEN_SUM_NORM) { return 1.0 / max(sequences * f32(shape.T), 1.0); }
  return 1.0 / max(tokens, 1.0);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let item = id.x + id.y * 4194240u;
  let m = item / 8u;
  let kind = item % 8u; // which table
  let mask = select(kind / 2u, 3u, kind >= 5u);
  if (m >= shape.M) { return; }
  let mine = minibatch[m];
  if (mine == 0xffffffffu) { return; }
  let all = shape.B * shape.T;
  let first = mine * shape.T;
  if (kind == 6u) {
    for (var at = first; at < first + shape.T; at++) { weights[6u * all + at] = rewards[all + at]; }
    return;
  }
  if (kind == 7u) {
    var taught = 0.0;
    for (var i = 0u; TEACHER == 1u && i < shape.M; i++) {
      if (minibatch[i] == 0xffffffffu) { continue; }
      for (var at = minibatch[i] * shape.T; at < (minibatch[i] + 1u) * shape.T; at++) { taught += masks[at] * rewards[3u * all + at]; }
    }
    for (var at = first; at < first + shape.T; at++) {
      weights[7u * all + at] = masks[at] * rewards[3u * all + at] / max(taught, 1.0);
    }
    return;
  }
  var tokens = 0.0;
  var sequences = 0.0;
  for (var i = 0u; i < shape.M; i++) {
    let row = minibatch[i];
    if (row == 0xffffffffu) { continue; }
    tokens += masks[6u * all + 4u * row + mask];
    sequences += masks[6u * all + 4u * (shape.B + row) + mask];
  }
  let how = (u32(knobs.aggregation) >> (2u * (clamp(kind, 2u, 4u) - 2u))) & 3u;
  var at = first;
  while (at < first + shape.T) {
    let start = rewards[all + at];
    var own = 0.0;
    var end = at; // one past the context's last token
    while (end < first + shape.T && rewards[all + end] == start) {
      own += masks[mask * all + end];
      end++;
    }
    let each = factor(select(how, AGGREGATION_TOKEN_MEAN, kind == 1u || kind == 5u), tokens, sequences, own);
    for (; at < end; at++) {
      let correction = select(1.0, corrections[at], kind == 0u);
      weights[kind * all + at] = masks[mask * all + at] * each * correction;
    }
  }
}
