import type { CreditSettings, LearningMath } from '../model/policy.ts';
import { Role } from '../tokens.ts';

/** Added to a group's standard deviation (verl `compute_grpo_outcome_advantage`). */
const GROUP_EPS = 1e-6;
/** Added to the variance before whitening (verl `masked_whiten`). */
const WHITEN_EPS = 1e-8;
/** Scores closer than this are the same score: summing rewards in float leaves noise that std would blow up. */
const EQUAL_SCORES = 1e-6;

/** Sizes of a batch: B rows of T tokens. */
export interface Shape {
  readonly rows: number; // B
  readonly length: number; // T
}

/**
 * 1 on response tokens, (B,T): with `agentOnly` those the policy drew (role 2), else observations too (roles 2 and 3).
 * Prompt and padding are always 0.
 */
export function responseMask(roles: Uint8Array, agentOnly: boolean): Float32Array {
  return Float32Array.from(roles, (role) =>
    role === Role.action || (!agentOnly && role === Role.observation) ? 1 : 0,
  );
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
  discount: Pick<CreditSettings, 'gamma' | 'lambda'>,
): { advantages: Float64Array; returns: Float64Array } {
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
 * Group-relative advantages of scores, (B): (S − mean_g) / (std_g + 1e-6) with the n − 1 variance (GRPO, Shao et al. 2024,
 * §4.1.2), or S − mean_g without the division (Dr. GRPO, Liu et al. 2025). Rows belong to the group whose id they
 * carry, wherever they lie. Exactly 0 in a group of one and in a group whose scores lie within 1e-6 of each other.
 */
export function groupRelative(
  scores: ArrayLike<number>,
  groups: ArrayLike<number>,
  divideByStd: boolean,
): Float64Array {
  const members = new Map<number, number[]>();
  for (let b = 0; b < scores.length; b++) {
    const group = groups[b]!;
    const rows = members.get(group);
    if (rows) rows.push(b);
    else members.set(group, [b]);
  }
  const advantages = new Float64Array(scores.length);
  for (const rows of members.values()) {
    const own = rows.map((b) => scores[b]!);
    // This also holds for a group of one.
    if (Math.max(...own) - Math.min(...own) < EQUAL_SCORES) continue;
    const mean = own.reduce((a, s) => a + s, 0) / own.length;
    const variance = own.reduce((a, s) => a + (s - mean) ** 2, 0) / (own.length - 1);
    const scale = divideByStd ? 1 / (Math.sqrt(variance) + GROUP_EPS) : 1;
    for (const b of rows) advantages[b] = (scores[b]! - mean) * scale;
  }
  return advantages;
}

/**
 * Whitens in place over the mask: (A − mean)·rsqrt(var + 1e-8), unbiased variance (verl `masked_whiten`), and 0 outside the
 * mask (verl leaves −mean/std there, which pushes on observations when the loss mask is off). A single token becomes
 * 0: it has no variance. An empty mask leaves all zeros.
 */
export function whiten(advantages: Float64Array, mask: ArrayLike<number>): void {
  let count = 0;
  let mean = 0;
  for (let at = 0; at < advantages.length; at++) {
    if (mask[at] === 0) continue;
    count++;
    mean += advantages[at]!;
  }
  mean /= Math.max(1, count);
  let variance = 0;
  for (let at = 0; at < advantages.length; at++) {
    if (mask[at] !== 0) variance += (advantages[at]! - mean) ** 2;
  }
  const scale = count > 1 ? 1 / Math.sqrt(variance / (count - 1) + WHITEN_EPS) : 0;
  for (let at = 0; at < advantages.length; at++) {
    advantages[at] = mask[at] === 0 ? 0 : (advantages[at]! - mean) * scale;
  }
}

/**
 * Masks, advantages and returns of a batch, all (B,T); see `LearningMath.credit`. The loss mask follows
 * `settings.lossMask`; recursion, whitening, critic targets and the tokens that carry an advantage follow
 * `settings.advantageMask`. `grpo` has no critic: its value mask and returns are 0.
 */
export const credit: LearningMath['credit'] = (batch, rewards, groups, settings) => {
  const lossMask = responseMask(batch.roles, settings.lossMask);
  const mask = responseMask(batch.roles, settings.advantageMask);
  switch (settings.estimator) {
    case 'gae': {
      const { advantages, returns } = gae(batch, rewards, batch.values, mask, settings);
      if (settings.whiten) whiten(advantages, mask);
      return { lossMask, valueMask: mask, advantages, returns };
    }
    case 'grpo': {
      const scores = maskedScores(batch, rewards, mask);
      const perRow = groupRelative(scores, groups, settings.divideByStd);
      const advantages = Float64Array.from(mask, (m, at) => (m === 0 ? 0 : perRow[Math.floor(at / batch.length)]!));
      const empty = mask.length;
      return { lossMask, valueMask: new Float32Array(empty), advantages, returns: new Float64Array(empty) };
    }
  }
};
