// credit_masks: the masks of each token, the reward minus its KL penalty, and the score of each row.
//     On the KL mask r ← r − klCoef·k(old, reference), with delta = old − reference and
//     k1 = delta, k2 = delta²/2, k3 = min(e^{−delta} − 1 + delta, 10)  (verl, kl_penalty_forward);
//     score = sum of r over the advantage mask
// Shapes    record (B,T); groups (B), negative: the row is out of the batch; rewards (3, B, T), of which the first table is
//           read; old_scores, ref_scores (2, B, T), of which only the log-probabilities are read; masks: (6, B, T), which
//           are policy, regularizer, value (0 without a critic), observation, advantage and whiten, and then counts that
//           `corrections` writes; shaped (B,T): rewards after KL; sums (B, 5), of which the score is written. On entry the
//           first mask holds the marks of each token, added up. 1: a single-choice token, which the agent drew although no
//           other was legal; it is in no mask, but its reward counts in the score. 2: a word of an observation; it is in
//           the observation mask unless the policy mask has observations. 4: a token of a turn that is left out of the
//           policy and regularizer masks. With `whole_turns` the whitening mask has the first token of each turn only: the
//           first of the advantage mask in an uninterrupted run of the agent's tokens.
// Parallel  one thread per row, which goes over its tokens in order. No shared memory.
// Numerics  f32. The score is summed in integers, so that the same rewards in another order give the same score, bit
//           for bit; compilers would undo a compensated float sum. Rewards that are too large or too many for that are
//           summed in f32. A reward outside the advantage mask, except at a single-choice token, only goes into
//           `shaped`. A log-probability outside the KL mask has no effect.
struct Shape { B: u32, T: u32 }
//! piece credit_knobs
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> groups: array<i32>;
@group(0) @binding(2) var<storage, read> rewards: array<f32>;
@group(0) @binding(3) var<storage, read> old_scores: array<f32>;
@group(0) @binding(4) var<storage, read> ref_scores: array<f32>;
@group(0) @binding(5) var<storage, read_write> masks: array<f32>;
@group(0) @binding(6) var<storage, read_write> shaped: array<f32>;
@group(0) @binding(7) var<storage, read_write> sums: array<f32>;
@group(0) @binding(8) var<uniform> settings: Credit;
@group(0) @binding(9) var<uniform> shape: Shape;

fn divergence(at: u32) -> f32 {
  let delta = old_scores[at] - ref_scores[at];
  if (settings.kl_estimator == KL_K1) { return delta; }
  if (settings.kl_estimator == KL_K2) { return 0.5 * delta * delta; }
  let k3 = exp(clamp(-delta, -20.0, 20.0)) - 1.0 + delta; // beyond 20 k3 is at its bound; beyond 88 f32 would overflow
  return select(k3, 10.0, k3 > 10.0);
}

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let b = id.x;
  if (b >= shape.B) { return; }
  let all = shape.B * shape.T;
  let present = groups[b] >= 0;
  var coarse = 0; // the score in units of 2^-12
  var fine = 0; // the rest of each reward, in units of 2^-34
  var plain = 0.0;
  var responded = false; // the agent has drawn a token
  var size = 0.0;
  var started = false; // the first token of the turn that contains `at` was found
  for (var t = 0u; t < shape.T; t++) {
    let at = b * shape.T + t;
    let role = (record[at] >> 16u) & 3u;
    let marks = u32(masks[at]);
    let single = present && role == 2u && (marks & 1u) != 0u;
    let agent = present && role == 2u && !single;
    let observed = present && role == 3u;
    let advantage = agent || (observed && settings.advantage_mask == 0.0);
    let trained = (marks & 4u) == 0u;
    let policy = f32(trained && (agent || (observed && settings.policy_mask == 0.0)));
    let regularizer = f32(trained && (agent || (observed && settings.regularizer_mask == 0.0)));
    responded = responded || role == 2u;
    let observation = f32(observed && responded && (marks & 2u) != 0u && settings.policy_mask == 1.0);
    let value = settings.critic * f32(agent || (observed && settings.value_mask == 0.0));
    masks[at] = policy;
    masks[all + at] = regularizer;
    masks[2u * all + at] = value;
    masks[3u * all + at] = observation;
    masks[4u * all + at] = f32(advantage);
    let whiten = agent || (observed && settings.whiten_mask == 0.0);
    masks[5u * all + at] = f32(select(whiten, agent && !started, settings.whole_turns == 1.0));
    started = role == 2u && (started || agent);
    var reward = rewards[at];
    if (settings.kl_coef != 0.0 && (agent || (observed && settings.kl_mask == 0.0))) {
      reward -= settings.kl_coef * divergence(at);
    }
    shaped[at] = reward;
    if (advantage || single) {
      let whole = i32(round(reward * 4096.0));
      coarse += whole;
      fine += i32(round((reward - f32(whole) / 4096.0) * 17179869184.0));
      plain += reward;
      size += abs(reward);
    }
  }
  let exact = f32(coarse) / 4096.0 + f32(fine) / 17179869184.0;
  sums[b * 5u] = select(plain, exact, size < 262144.0 && shape.T < 1024u);
}
