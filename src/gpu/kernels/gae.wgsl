// gae: generalized advantage estimation over the tokens k of the advantage mask, skipping all others:
//     delta_k = r_k + gamma·V_{k+1} − V_k, A_k = delta_k + gamma·lambda·A_{k+1}, return_k = A_k + V_k
//     (arXiv 1506.02438; Agent-R1; verl #2337). With `turns` (bi-level, RAGEN, arXiv 2504.20073) the same is first
//     computed with turn_gamma from turn end to turn end, with m the sum of the rewards between two turn ends:
//     delta_i = r_i + turn_gamma·(m_{i+1} + V_{i+1}) − V_i
//     At a turn end, A + V then takes the place of its reward, and the recursion over tokens starts anew there.
//     With `whole_turns` (Agent-R1 0.1.0) a turn is one action: r_k is the sum of the rewards of turn k, V_k the value
//     at its first token, delta_k = r_k + turn_gamma·V_{k+1} − V_k, and all tokens of the turn get A_k and A_k + V_k.
//     With `shares_progress` (turn-credit) the rewards are progress, which the batch has in its third channel.
//     Without a critic V is 0, and with lambda 1 this is the reward to go (REINFORCE, REINFORCE++).
// Shapes    record (B,T); rewards (B,T), with `shares_progress` (3, B, T); values (B,T); masks (6, B, T), of which the fifth is the advantage mask; credit
//           (2, B, T): advantage, return.
// Parallel  one thread per row, which goes over its tokens from last to first. No shared memory.
// Numerics  f32; tokens outside the mask get 0. Their rewards are left out, except that the reward of an agent's token
//           (a single-choice token) goes to the token of the mask before it. A turn ends at the last token of the mask
//           in an uninterrupted run of the agent's tokens, whatever its reward.
struct Shape { B: u32, T: u32 }
//! piece credit_knobs
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> rewards: array<f32>;
@group(0) @binding(2) var<storage, read> values: array<f32>;
@group(0) @binding(3) var<storage, read> masks: array<f32>;
@group(0) @binding(4) var<storage, read_write> credit: array<f32>;
@group(0) @binding(5) var<uniform> settings: Credit;
@group(0) @binding(6) var<uniform> shape: Shape;

fn reward_at(at: u32) -> f32 { return rewards[at + 2u * u32(settings.shares_progress) * shape.B * shape.T]; }

fn agent(at: u32) -> bool { return ((record[at] >> 16u) & 3u) == 2u; }

fn whole_turns(b: u32) {
  let all = shape.B * shape.T;
  let row = b * shape.T;
  var pending = 0.0; // rewards of single-choice tokens, for the token of the mask before them
  var start = shape.T; // first token of the turn, as far as it was found; T: none
  var end = shape.T; // one past the turn's last token
  var turn_reward = 0.0;
  var next_value = 0.0;
  var advantage = 0.0;
  for (var left = shape.T; ; left--) {
    let drawn = left > 0u && agent(row + max(left, 1u) - 1u);
    if (start < shape.T && !drawn) {
      var value = 0.0;
      if (settings.critic == 1.0) { value = values[row + start]; }
      advantage = turn_reward + settings.turn_gamma * (next_value + settings.lambda * advantage) - value;
      next_value = value;
      for (var t = start; t < end; t++) {
        if (masks[4u * all + row + t] == 0.0) { continue; }
        credit[row + t] = advantage;
        credit[all + row + t] = advantage + value;
      }
      end = start;
      start = shape.T;
      turn_reward = 0.0;
    }
    if (left == 0u) { break; }
    let at = row + left - 1u;
    credit[at] = 0.0;
    credit[all + at] = 0.0;
    if (masks[4u * all + at] == 0.0) {
      if (drawn) { pending += reward_at(at); }
      continue;
    }
    turn_reward += reward_at(at) + pending;
    pending = 0.0;
    if (drawn) { start = left - 1u; }
  }
}

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let b = id.x;
  if (b >= shape.B) { return; }
  let all = shape.B * shape.T;
  if (settings.whole_turns == 1.0) {
    whole_turns(b);
    return;
  }
  var pending = 0.0; // rewards of single-choice tokens, for the token of the mask before them
  var ended = false; // the end of the turn that contains `at` has been found
  var turn_rewards = 0.0;
  var turn_value = 0.0;
  var turn_advantage = 0.0;
  var next_value = 0.0;
  var advantage = 0.0;
  for (var back = 1u; back <= shape.T; back++) {
    let at = b * shape.T + shape.T - back;
    let drawn = agent(at);
    ended = ended && drawn;
    if (masks[4u * all + at] == 0.0) {
      if (drawn) { pending += rewards[at]; }
      credit[at] = 0.0;
      credit[all + at] = 0.0;
      continue;
    }
    var value = 0.0;
    if (settings.critic == 1.0) { value = values[at]; }
    var reward = rewards[at] + pending;
    pending = 0.0;
    if (settings.turns == 1.0 && drawn && !ended) {
      ended = true;
      let later = turn_rewards + turn_value + settings.lambda * turn_advantage;
      turn_advantage = reward + settings.turn_gamma * later - value;
      turn_rewards = 0.0;
      turn_value = value;
      reward = turn_advantage + value;
      next_value = 0.0;
      advantage = 0.0;
    } else {
      turn_rewards += reward;
    }
    advantage = reward + settings.gamma * (next_value + settings.lambda * advantage) - value;
    next_value = value;
    credit[at] = advantage;
    credit[all + at] = advantage + value;
  }
}
