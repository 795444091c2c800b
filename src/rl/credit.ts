import { canWhiten, usesCritic } from '../estimators.ts';
import type { Credit, CreditBatch, CreditMasks, LearningMath } from '../model/learningMath.ts';
import type { CreditSettings } from '../model/settings.ts';
import { Role } from '../tokens.ts';
import { biLevelGae, gae, type Estimate, groupRelative, maskedScores, rewardToGo, whiten } from './advantages.ts';
import { klEstimate } from './objective.ts';

/**
 * 1 on response tokens of rows that are in the batch, (B,T): with `agentOnly` those the policy drew (role 2), else
 * observations too (roles 2 and 3). Prompt and padding are always 0, and so is a row whose group is −1.
 */
export function responseMask(
  { roles, length }: Pick<CreditBatch, 'roles' | 'length'>,
  groups: ArrayLike<number>,
  agentOnly: boolean,
): Float32Array {
  return Float32Array.from(roles, (role, at) =>
    groups[Math.floor(at / length)]! >= 0 && (role === Role.action || (!agentOnly && role === Role.observation))
      ? 1
      : 0,
  );
}

/** 1 at the last token of each turn, (B,T): a token the agent drew, and the next token of its row is not one. */
export function turnEnds({ roles, length }: Pick<CreditBatch, 'roles' | 'length'>): Uint8Array {
  return roles.map((role, at) =>
    role === Role.action && ((at + 1) % length === 0 || roles[at + 1] !== Role.action) ? 1 : 0,
  );
}

/**
 * Masks, rewards, advantages and returns of a batch; see `LearningMath.credit`. In this order: masks from roles and
 * switches; KL off the reward where it is asked for, r − klCoef·k(old, reference) on its mask; the estimator over the
 * advantage mask; whitening with statistics of the whitening mask; 0 outside the advantage mask again, unless `remask`
 * is off; times `scale`. Group estimators score a row by its rewards inside the advantage mask.
 */
export const credit: LearningMath['credit'] = (batch, { rewards: paid, groups }, settings) => {
  const mask = (agentOnly: boolean) => responseMask(batch, groups, agentOnly);
  const { estimator, masks: on } = settings;
  const masks: CreditMasks = {
    policy: mask(on.policy),
    regularizer: mask(on.regularizer),
    value: usesCritic(estimator) ? mask(on.value) : new Float32Array(paid.length),
    advantage: mask(on.advantage),
    whiten: mask(on.whiten),
  };
  const rewards = payForKl(batch, paid, mask(on.klReward), settings);
  const { advantages, returns } = estimate(batch, rewards, groups, masks.advantage, settings);
  if (settings.whiten && canWhiten(estimator)) {
    whiten(advantages, masks.whiten, settings.remask ? masks.advantage : mask(false));
  }
  return { masks, rewards, advantages: advantages.map((a) => a * settings.scale), returns } satisfies Credit;
};

function payForKl(
  { oldLogprobs, refLogprobs }: CreditBatch,
  rewards: Float32Array,
  mask: Float32Array,
  { klCoef, klEstimator }: CreditSettings,
): Float64Array {
  return Float64Array.from(rewards, (reward, at) =>
    klCoef === 0 || mask[at] === 0
      ? reward
      : reward - klCoef * klEstimate(oldLogprobs[at]!, refLogprobs[at]!, klEstimator).kl,
  );
}

function estimate(
  batch: CreditBatch,
  rewards: Float64Array,
  groups: ArrayLike<number>,
  mask: Float32Array,
  settings: CreditSettings,
): Estimate {
  const none = () => new Float64Array(mask.length);
  const spread = (baseline: Parameters<typeof groupRelative>[2]): Estimate => {
    const perRow = groupRelative(maskedScores(batch, rewards, mask), groups, baseline);
    return {
      advantages: Float64Array.from(mask, (m, at) => (m === 0 ? 0 : perRow[Math.floor(at / batch.length)]!)),
      returns: none(),
    };
  };
  switch (settings.estimator) {
    case 'gae':
      return gae(batch, rewards, batch.values, mask, settings);
    case 'bi-level-gae':
      return biLevelGae(batch, rewards, batch.values, mask, turnEnds(batch), settings);
    case 'grpo':
      return spread(settings.divideByStd ? 'mean-over-std' : 'mean');
    case 'rloo':
      return spread('leave-one-out');
    case 'reinforce++-baseline':
      return spread('mean');
    case 'reinforce':
    case 'reinforce++': {
      const advantages = rewardToGo(batch, rewards, mask, settings.gamma);
      return { advantages, returns: advantages.slice() };
    }
  }
}
