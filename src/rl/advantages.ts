import type { GroupBaseline } from '../config/estimators.ts';

/** Added to a group's standard deviation (verl `compute_grpo_outcome_advantage`). */
const GROUP_EPS = 1e-6;
/** Added to the variance before whitening (verl `masked_whiten`). */
const WHITEN_EPS = 1e-8;
/** Scores closer than this are the same score: summing rewards in float leaves noise that std would blow up. */
export const EQUAL_SCORES = 1e-6;

/** Sizes of a batch: B rows of T tokens. */
export interface Shape {
  readonly rows: number; // B
  readonly length: number; // T
}

/** Advantages and returns, (B,T) each. */
export interface Estimate {
  readonly advantages: Float64Array;
  readonly returns: Float64Array;
}

/**
 * Generalized advantage estimation (Schulman et al. 2016, eq. 16) from masked-in token to masked-in token:
 * δ_k = r_k + γ·V_{k+1} − V_k, A_k = δ_k + γλ·A_{k+1}, return_k = A_k + V_k, where k+1 is the row's next token inside the
 * mask and V after the last is 0. The backward scan carries next value and advantage over masked-out tokens unchanged,
 * so observations cost no decay. Rewards at masked-out tokens are dropped. Results are (B,T), 0 outside the mask,
 * not whitened.
 */
export function gae(
  shape: Shape,
  rewards: ArrayLike<number>,
  values: ArrayLike<number>,
  mask: ArrayLike<number>,
  discount: { readonly gamma: number; readonly lambda: number },
): Estimate {
  const { rows, length } = shape;
  const { gamma, lambda } = discount;
  const advantages = new Float64Array(rows * length);
  const returns = new Float64Array(rows * length);
  for (let b = 0; b < rows; b++) {
    let nextValue = 0;
    let nextAdvantage = 0;
    for (let at = (b + 1) * length - 1; at >= b * length; at--) {
      if (mask[at] === 0) continue;
      const value = values[at]!;
      nextAdvantage = rewards[at]! + gamma * nextValue - value + gamma * lambda * nextAdvantage;
      nextValue = value;
      advantages[at] = nextAdvantage;
      returns[at] = nextAdvantage + value;
    }
  }
  return { advantages, returns };
}

/**
 * Bi-level GAE (RAGEN, Wang et al. 2025, `compute_bi_level_gae_advantage_return`). Over turns: with e_i the last token of turn i,
 * r_{e_i} its reward and m_i the plain sum of all rewards between the end before it and its own,
 * δ_i = r_{e_i} + γ_turn·(m_{i+1} + V_{e_{i+1}}) − V_{e_i}, A_i = δ_i + γ_turn·λ·A_{i+1}; then A_i + V_{e_i} stands in for the
 * reward at e_i, and token GAE (γ, λ) runs inside each turn, starting afresh at its end.
 *
 * RAGEN knows no m_i: it takes every rewarded token for a turn's end, so what is paid inside a turn makes a turn of its own, and
 * so does KL in the reward. Here `turnEnds` are given. A turn that is paid nothing stays a turn; what is paid inside a turn, a
 * thinking reward or KL, reaches earlier turns as a reward at its end would, discounted once per turn and by no token, and
 * its own turn's earlier tokens by γ and λ. It stands outside V_{e_i} and λ because V_{e_i} is the value after it: with a
 * right critic A_i has mean 0 for every λ. Where rewards lie at turn ends only, all is RAGEN's.
 *
 * Masked-in tokens after a row's last turn end have no turn and get plain GAE; what they are paid counts as a turn's. Results
 * are (B,T), 0 outside the mask, not whitened.
 */
export function biLevelGae(
  shape: Shape,
  rewards: ArrayLike<number>,
  values: ArrayLike<number>,
  mask: ArrayLike<number>,
  turnEnds: ArrayLike<number>,
  discount: { readonly gamma: number; readonly lambda: number; readonly turnGamma: number },
): Estimate {
  const { rows, length } = shape;
  const { gamma, lambda, turnGamma } = discount;
  const advantages = new Float64Array(rows * length);
  const returns = new Float64Array(rows * length);
  for (let b = 0; b < rows; b++) {
    let turnRewards = 0; // m of the turn that follows the next end met
    let turnValue = 0;
    let turnAdvantage = 0;
    let nextValue = 0;
    let nextAdvantage = 0;
    for (let at = (b + 1) * length - 1; at >= b * length; at--) {
      if (mask[at] === 0) continue;
      const value = values[at]!;
      let reward = rewards[at]!;
      if (turnEnds[at] !== 0) {
        turnAdvantage = reward + turnGamma * (turnRewards + turnValue) - value + turnGamma * lambda * turnAdvantage;
        turnRewards = 0;
        turnValue = value;
        reward = turnAdvantage + value;
        nextValue = 0;
        nextAdvantage = 0;
      } else {
        turnRewards += reward;
      }
      nextAdvantage = reward + gamma * nextValue - value + gamma * lambda * nextAdvantage;
      nextValue = value;
      advantages[at] = nextAdvantage;
      returns[at] = nextAdvantage + value;
    }
  }
  return { advantages, returns };
}

/**
 * Discounted reward to go over the mask, G_k = r_k + γ·G_{k+1} (REINFORCE, Williams 1992; REINFORCE++, Hu et al. 2025): GAE with
 * λ = 1 and a critic that says 0. The running return is carried over masked-out tokens, not set back there.
 */
export function rewardToGo(
  shape: Shape,
  rewards: ArrayLike<number>,
  mask: ArrayLike<number>,
  gamma: number,
): Float64Array {
  return gae(shape, rewards, new Float64Array(shape.rows * shape.length), mask, { gamma, lambda: 1 }).advantages;
}

/** Sum of each row's rewards inside the mask, (B), in float64. */
export function maskedScores(shape: Shape, rewards: ArrayLike<number>, mask: ArrayLike<number>): Float64Array {
  const scores = new Float64Array(shape.rows);
  for (let at = 0; at < shape.rows * shape.length; at++) {
    if (mask[at] === 0) continue;
    const b = Math.floor(at / shape.length);
    scores[b] = scores[b]! + rewards[at]!;
  }
  return scores;
}

/**
 * Group-relative advantages of scores, (B). `mean-over-std`: (S − mean_g) / (std_g + 1e-6) with the n − 1 variance (GRPO, Shao et
 * al. 2024, §4.1.2). `mean`: S − mean_g (Dr. GRPO, Liu et al. 2025; REINFORCE++-baseline). `leave-one-out`: S − mean of
 * the others (RLOO, Ahmadian et al. 2024). Rows belong to the group whose id they carry, wherever they lie; −1 is no
 * group and gets 0. Exactly 0 in a group of one and in a group whose scores lie within 1e-6 of each other.
 */
export function groupRelative(
  scores: ArrayLike<number>,
  groups: ArrayLike<number>,
  baseline: GroupBaseline,
): Float64Array {
  const members = new Map<number, number[]>();
  for (let b = 0; b < scores.length; b++) {
    const group = groups[b]!;
    const rows = members.get(group);
    if (rows) rows.push(b);
    else if (group >= 0) members.set(group, [b]);
  }
  const advantages = new Float64Array(scores.length);
  for (const rows of members.values()) {
    const own = rows.map((b) => scores[b]!);
    const n = own.length;
    // This also holds for a group of one.
    if (Math.max(...own) - Math.min(...own) < EQUAL_SCORES) continue;
    const mean = own.reduce((a, s) => a + s, 0) / n;
    const variance = own.reduce((a, s) => a + (s - mean) ** 2, 0) / (n - 1);
    const scale = { 'mean-over-std': 1 / (Math.sqrt(variance) + GROUP_EPS), mean: 1, 'leave-one-out': n / (n - 1) };
    for (const b of rows) advantages[b] = (scores[b]! - mean) * scale[baseline];
  }
  return advantages;
}

/**
 * Whitens in place: (A − mean)·rsqrt(var + 1e-8), mean and unbiased variance over `statistics` (verl `masked_whiten`), 0 outside
 * `keep`. A statistics mask of one token makes all 0: it has no variance; an empty one likewise. Equal advantages
 * become 0.
 */
export function whiten(advantages: Float64Array, statistics: ArrayLike<number>, keep: ArrayLike<number>): void {
  let count = 0;
  let mean = 0;
  for (let at = 0; at < advantages.length; at++) {
    if (statistics[at] === 0) continue;
    count++;
    mean += advantages[at]!;
  }
  mean /= Math.max(1, count);
  let variance = 0;
  for (let at = 0; at < advantages.length; at++) {
    if (statistics[at] !== 0) variance += (advantages[at]! - mean) ** 2;
  }
  const scale = count > 1 ? 1 / Math.sqrt(variance / (count - 1) + WHITEN_EPS) : 0;
  for (let at = 0; at < advantages.length; at++) {
    advantages[at] = keep[at] === 0 ? 0 : (advantages[at]! - mean) * scale;
  }
}
