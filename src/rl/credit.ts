import { baselineOf, canWhiten, ESTIMATORS, type GroupBaseline, usesCritic } from '../config/estimators.ts';
import type { Credit, CreditBatch, CreditMasks, LearningMath } from '../model/learningMath.ts';
import type { CreditSettings } from '../model/learningSettings.ts';
import { responseMask, turnEnds } from '../domain/tokenMasks.ts';
import { biLevelGae, gae, type Estimate, groupRelative, maskedScores, rewardToGo, whiten } from './advantages.ts';
import { klEstimate } from './objective.ts';

/**
 * Computes masks, rewards, advantages and returns of a batch; see `LearningMath.credit`. The steps, in order:
 * 1. Build the masks from token roles and the mask switches.
 * 2. If `klCoef` is not 0, subtract the KL penalty from the rewards inside the KL mask: r − klCoef·k(old, reference).
 * 3. Run the estimator over the advantage mask. Group estimators score a row by its rewards inside that mask.
 * 4. If `whiten` is on and the estimator allows it, whiten with mean and variance over the whitening mask. Then set
 *    advantages outside the advantage mask to 0 again, unless `remask` is off.
 * 5. Multiply by `scale`.
 *
 * A single-choice token is one that the agent drew where the grammar allowed no other. With `choicesOnly`,
 * single-choice tokens are left out of every mask: they count for no loss, entropy, KL or clip fraction, no value
 * target and no whitening statistic, and GAE skips them without applying γ, λ or a value. The reward of a single-choice
 * token moves to the last token before it in the advantage mask, because that token decided what followed; the row's
 * score includes the reward too. Observations have no single-choice tokens, so masks that include observations keep all
 * observation tokens.
 */
export const credit: LearningMath['credit'] = (batch, { rewards: envRewards, groups, singles }, settings) => {
  const leftOut = settings.choicesOnly ? singles : undefined;
  const mask = (agentOnly: boolean) => responseMask(batch, groups, agentOnly, leftOut);
  const { estimator, masks: on } = settings;
  const masks: CreditMasks = {
    policy: mask(on.policy),
    regularizer: mask(on.regularizer),
    value: usesCritic(estimator) ? mask(on.value) : new Float32Array(envRewards.length),
    advantage: mask(on.advantage),
    whiten: mask(on.whiten),
  };
  const rewards = subtractKl(batch, envRewards, mask(on.klReward), settings);
  const scored = responseMask(batch, groups, on.advantage);
  const { advantages, returns } = estimate(batch, rewards, groups, { mask: masks.advantage, scored }, settings);
  if (settings.whiten && canWhiten(estimator)) {
    whiten(advantages, masks.whiten, settings.remask ? masks.advantage : responseMask(batch, groups, false));
  }
  return { masks, rewards, advantages: advantages.map((a) => a * settings.scale), returns } satisfies Credit;
};

function subtractKl(
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

/**
 * Returns the rewards, moved off tokens that are in `scored` but not in `mask`: each goes to the last token before it,
 * in its row, that is in `mask`. `rewards` itself stays as it is.
 */
function moveRewardsBack(
  { rows, length }: CreditBatch,
  rewards: Float64Array,
  { mask, scored }: { readonly mask: Float32Array; readonly scored: Float32Array },
): Float64Array {
  const moved = rewards.slice();
  for (let b = 0; b < rows; b++) {
    let pending = 0;
    for (let at = (b + 1) * length - 1; at >= b * length; at--) {
      if (mask[at] !== 0) {
        moved[at] = rewards[at]! + pending;
        pending = 0;
      } else if (scored[at] !== 0) {
        pending += rewards[at]!;
      }
    }
  }
  return moved;
}

function estimate(
  batch: CreditBatch,
  paid: Float64Array,
  groups: ArrayLike<number>,
  { mask, scored }: { readonly mask: Float32Array; readonly scored: Float32Array },
  settings: CreditSettings,
): Estimate {
  const none = () => new Float64Array(mask.length);
  const rewards = moveRewardsBack(batch, paid, { mask, scored });
  const spreadOverTokens = (baseline: GroupBaseline): Estimate => {
    const perRow = groupRelative(maskedScores(batch, paid, scored), groups, baseline);
    return {
      advantages: Float64Array.from(mask, (m, at) => (m === 0 ? 0 : perRow[Math.floor(at / batch.length)]!)),
      returns: none(),
    };
  };
  const { core, critic } = ESTIMATORS[settings.estimator];
  if (core === 'group') return spreadOverTokens(baselineOf(settings.estimator, settings.divideByStd));
  if (core === 'turns') return biLevelGae(batch, rewards, batch.values, mask, turnEnds(batch, mask), settings);
  if (critic) return gae(batch, rewards, batch.values, mask, settings);
  const advantages = rewardToGo(batch, rewards, mask, settings.gamma);
  return { advantages, returns: advantages.slice() };
}
