import type { GroupBaseline } from '../config/estimators.ts';

/** Added to a group's standard deviation (verl `compute_grpo_outcome_advantage`). */
const GROUP_EPS = 1e-6;
/** Added to the variance before whitening (verl `masked_whiten`). */
const WHITEN_EPS = 1e-8;
/** Scores closer than this count as equal: dividing by the std of mere rounding errors would make them large. */
export const EQUAL_SCORES = 1e-6;

/**
 * An advantage below this is rounding, not signal, and becomes exactly 0: its sign would say whether the token counts as
 * clipped. Whitened advantages are in units of their standard deviation, and float32 sums over a batch round more.
 */
const ROUNDING = { raw: 1e-6, whitened: 1e-5 };

export function dropRounding(advantages: Float64Array, kind: keyof typeof ROUNDING): void {
  for (let at = 0; at < advantages.length; at++) if (Math.abs(advantages[at]!) < ROUNDING[kind]) advantages[at] = 0;
}

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
 * Computes generalized advantage estimation (Schulman et al. 2016, eq. 16) from masked-in token to masked-in token: δ_k
 * = r_k + γ·V_{k+1} − V_k, A_k = δ_k + γλ·A_{k+1}, return_k = A_k + V_k, where k+1 is the row's next token inside the
 * mask and V after the last is 0. The backward scan carries next value and advantage over masked-out tokens unchanged,
 * so observations cost no decay. Rewards at masked-out tokens are dropped. Results are (B,T), 0 outside the mask, not
 * whitened.
 */
export function gae(
  shape: Shape,
  rewards: ArrayLike<number>,
  values: ArrayLike<number>,
  mask: ArrayLike<number>,
  discount: { readonly gamma: number; readonly lambda: number },
): Estimate {
  const turnEnds = new Uint8Array(shape.rows * shape.length); // none: then bi-level GAE is this
  return biLevelGae(shape, rewards, values, { mask, turnEnds }, { ...discount, turnGamma: 1 });
}

/**
 * Computes bi-level GAE (RAGEN, Wang et al. 2025, `compute_bi_level_gae_advantage_return`), in two steps. First GAE
 * over turns. Let e_i be the last token of turn i, r_{e_i} its reward, and m_i the undiscounted sum of the rewards of
 * all other tokens of turn i: δ_i = r_{e_i} + γ_turn·(m_{i+1} + V_{e_{i+1}}) − V_{e_i}, A_i = δ_i + γ_turn·λ·A_{i+1}.
 * Then GAE over tokens (γ, λ) inside each turn. It starts again at each turn's last token, whose reward is replaced by
 * A_i + V_{e_i}.
 *
 * RAGEN has no m_i. It takes every token with a reward for the end of a turn, so a reward inside a turn (a thinking
 * reward, or KL in the reward) splits the turn. Here `turnEnds` marks the ends of turns. A turn without a reward is
 * still a turn. A reward inside a turn counts for earlier turns like a reward at the turn's end: it is discounted once
 * per turn, not per token. For earlier tokens of its own turn it is discounted by γ and λ. The formula adds m_{i+1} to
 * V_{e_{i+1}}, because that value is taken after these rewards and does not contain them. So with an exact critic A_i
 * has mean 0 for every λ. If only turn ends have rewards, the result equals RAGEN's.
 *
 * Masked-in tokens after a row's last turn end belong to no turn and get plain GAE. For the turns before, their rewards
 * count like the m of one more turn. Results are (B,T), 0 outside the mask, not whitened.
 */
export function biLevelGae(
  shape: Shape,
  rewards: ArrayLike<number>,
  values: ArrayLike<number>,
  { mask, turnEnds }: { readonly mask: ArrayLike<number>; readonly turnEnds: ArrayLike<number> },
  discount: { readonly gamma: number; readonly lambda: number; readonly turnGamma: number },
): Estimate {
  const { rows, length } = shape;
  const { gamma, lambda, turnGamma } = discount;
  const advantages = new Float64Array(rows * length);
  const returns = new Float64Array(rows * length);
  for (let b = 0; b < rows; b++) {
    let turnRewards = 0; // m_{i+1}, for the next turn end that the backward scan meets
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
 * Computes GAE over turns, each of which is one action (Agent-R1 0.1.0, `compute_gae_advantage_return`): r_k = sum of
 * the rewards of turn k inside the mask, V_k = value at its first token inside the mask, which is the value of what the
 * agent had read before it wrote; δ_k = r_k + γ_turn·V_{k+1} − V_k, A_k = δ_k + γ_turn·λ·A_{k+1}, V and A after the last
 * turn are 0. All tokens of the turn get A_k, and return A_k + V_k. `turnStarts` marks the first tokens. A turn goes up
 * to the next one's first token, so it has the observation that follows it, if the mask does. Results are (B,T), 0
 * outside the mask, not whitened. Agent-R1 divides by std + 1e-8 when it whitens, `whiten` by √(var + 1e-8).
 */
export function turnGae(
  shape: Shape,
  rewards: ArrayLike<number>,
  values: ArrayLike<number>,
  { mask, turnStarts }: { readonly mask: ArrayLike<number>; readonly turnStarts: ArrayLike<number> },
  { lambda, turnGamma }: { readonly lambda: number; readonly turnGamma: number },
): Estimate {
  const { rows, length } = shape;
  const advantages = new Float64Array(rows * length);
  const returns = new Float64Array(rows * length);
  for (let b = 0; b < rows; b++) {
    let end = (b + 1) * length; // one past the turn's last token
    let turnReward = 0;
    let nextValue = 0;
    let nextAdvantage = 0;
    for (let at = end - 1; at >= b * length; at--) {
      if (mask[at] !== 0) turnReward += rewards[at]!;
      if (turnStarts[at] === 0) continue;
      const value = values[at]!;
      nextAdvantage = turnReward + turnGamma * nextValue - value + turnGamma * lambda * nextAdvantage;
      nextValue = value;
      for (let i = at; i < end; i++) {
        if (mask[i] === 0) continue;
        advantages[i] = nextAdvantage;
        returns[i] = nextAdvantage + value;
      }
      end = at;
      turnReward = 0;
    }
  }
  return { advantages, returns };
}

/**
 * Discounted reward to go over the mask, G_k = r_k + γ·G_{k+1} (REINFORCE, Williams 1992; REINFORCE++, Hu et al. 2025):
 * GAE with λ = 1 and a critic whose value is always 0. The running return passes over masked-out tokens unchanged; they
 * don't reset it to 0.
 */
export function rewardToGo(
  shape: Shape,
  rewards: ArrayLike<number>,
  mask: ArrayLike<number>,
  gamma: number,
): Float64Array {
  return gae(shape, rewards, new Float64Array(shape.rows * shape.length), mask, { gamma, lambda: 1 }).advantages;
}

/** Subtracts from the values of each row their mean over its tokens inside the mask. Results are (B,T), 0 outside. */
export function withoutRowMeans(shape: Shape, values: ArrayLike<number>, mask: ArrayLike<number>): Float64Array {
  const counts = maskedScores(shape, mask, mask);
  const means = maskedScores(shape, values, mask).map((sum, b) => sum / Math.max(1, counts[b]!));
  return Float64Array.from(mask, (m, at) => (m === 0 ? 0 : values[at]! - means[Math.floor(at / shape.length)]!));
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
 * Group-relative advantages of scores, (B). `mean-over-std`: (S − mean_g) / (std_g + 1e-6) with the n − 1 variance
 * (GRPO, Shao et al. 2024, §4.1.2). `mean`: S − mean_g (Dr. GRPO, Liu et al. 2025; REINFORCE++-baseline).
 * `mean-over-mean`: (S − mean_g) / (mean_g + 1e-6), 0 where the mean is not above 0 (MaxRL; SkyRL
 * `compute_maxrl_advantage`). `leave-one-out`: S − mean of the others (RLOO, Ahmadian et al. 2024). `groups` has the group id of each row; a
 * group's rows need not be neighbours. A row with the id −1 is in no group and gets 0. All rows of a group get exactly
 * 0 if it has only one row, or if its scores lie within 1e-6 of each other. So does a row whose score is the mean but for
 * rounding.
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
    const groupScores = rows.map((b) => scores[b]!);
    const n = groupScores.length;
    // This also holds for a group of one.
    if (Math.max(...groupScores) - Math.min(...groupScores) < EQUAL_SCORES) continue;
    const mean = groupScores.reduce((a, s) => a + s, 0) / n;
    if (baseline === 'mean-over-mean' && mean <= 0) continue; // dividing would turn the sign
    const variance = groupScores.reduce((a, s) => a + (s - mean) ** 2, 0) / (n - 1);
    const scale = {
      'mean-over-std': 1 / (Math.sqrt(variance) + GROUP_EPS),
      'mean-over-mean': 1 / (mean + GROUP_EPS),
      mean: 1,
      'leave-one-out': n / (n - 1),
    };
    const rounding = ROUNDING.raw * Math.max(1, ...groupScores.map(Math.abs));
    for (const b of rows) {
      const difference = scores[b]! - mean;
      advantages[b] = Math.abs(difference) < rounding ? 0 : difference * scale[baseline];
    }
  }
  return advantages;
}

/**
 * The step-level part of GiGPO (Feng et al. 2025, arXiv 2505.10978, eq. 7; Trinity-RFT `GiGPOAdvantageFn`): each turn's
 * return R_k, compared with those of the turns with the same number in `states` as in `groupRelative`, on all tokens of
 * the turn. `returns` (B,T) has R_k at the turn's first token, which `turnStarts` marks. A turn that is alone in its
 * state gets 0. With `sum`, each turn gets also `sum` times the result of the next one: MT-GRPO (Wei et al. 2025, arXiv
 * 2505.11821), if `returns` are the rewards of turns. Results are (B,T), 0 outside the mask.
 */
export function stateRelative(
  { length }: Shape,
  returns: ArrayLike<number>,
  states: ArrayLike<number>,
  { mask, turnStarts }: { readonly mask: ArrayLike<number>; readonly turnStarts: Uint8Array },
  baseline: GroupBaseline,
  sum = 0,
): Float64Array {
  const starts = [...turnStarts.keys()].filter((at) => turnStarts[at] !== 0);
  const perTurn = groupRelative(
    starts.map((at) => returns[at]!),
    starts.map((at) => states[at]!),
    baseline,
  );
  const advantages = new Float64Array(turnStarts.length);
  const rowOf = (turn: number) => Math.floor(starts[turn]! / length);
  for (let turn = starts.length - 2; turn >= 0; turn--)
    if (rowOf(turn) === rowOf(turn + 1)) perTurn[turn]! += sum * perTurn[turn + 1]!;
  for (const [turn, start] of starts.entries()) {
    const end = Math.min(starts[turn + 1] ?? Infinity, start - (start % length) + length);
    for (let at = start; at < end; at++) if (mask[at] !== 0) advantages[at] = perTurn[turn]!;
  }
  return advantages;
}

/**
 * Whitens in place: (A − mean)·rsqrt(var + 1e-8), mean and unbiased variance over `statisticsMask` (verl
 * `masked_whiten`), 0 outside `outputMask`. If `statisticsMask` has one token or none, there is no variance, and all
 * advantages become 0. Equal advantages become 0.
 */
export function whiten(
  advantages: Float64Array,
  statisticsMask: ArrayLike<number>,
  outputMask: ArrayLike<number>,
): void {
  let count = 0;
  let mean = 0;
  for (let at = 0; at < advantages.length; at++) {
    if (statisticsMask[at] === 0) continue;
    count++;
    mean += advantages[at]!;
  }
  mean /= Math.max(1, count);
  let variance = 0;
  for (let at = 0; at < advantages.length; at++) {
    if (statisticsMask[at] !== 0) variance += (advantages[at]! - mean) ** 2;
  }
  const scale = count > 1 ? 1 / Math.sqrt(variance / (count - 1) + WHITEN_EPS) : 0;
  for (let at = 0; at < advantages.length; at++) {
    advantages[at] = outputMask[at] === 0 ? 0 : (advantages[at]! - mean) * scale;
  }
}
