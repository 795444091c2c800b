import {
  baselineOf,
  canWhiten,
  comparesTurns,
  ESTIMATORS,
  type GroupBaseline,
  sharesTurnAdvantage,
  usesCritic,
} from '../config/estimators.ts';
import type { Credit, CreditBatch, CreditMasks, LearningMath } from '../model/learningMath.ts';
import type { CreditInput } from '../model/policy.ts';
import type { CreditSettings } from '../model/learningSettings.ts';
import { observationMask, responseMask, turnEnds, turnStarts } from '../domain/tokenMasks.ts';
import {
  biLevelGae,
  dropRounding,
  gae,
  type Estimate,
  groupRelative,
  maskedScores,
  rewardToGo,
  stateRelative,
  turnGae,
  whiten,
  withoutRowMeans,
} from './advantages.ts';
import { corrections } from './corrections.ts';
import { klEstimate } from './objective.ts';

/**
 * Computes masks, rewards, advantages and returns of a batch; see `LearningMath.credit`. The steps, in order:
 * 1. Build the masks from token roles and the mask switches.
 * 2. If `klCoef` is not 0, subtract the KL penalty from the rewards inside the KL mask: r − klCoef·k(old, reference).
 * 3. Run the estimator over the advantage mask. Group estimators score a row by its rewards inside that mask.
 * 4. If `whiten` is on and the estimator allows it, whiten with mean and variance over the whitening mask. If a turn's
 *    tokens share an advantage, this mask has one token of each turn, so a long turn counts once. Then set advantages
 *    outside the advantage mask to 0 again, unless `remask` is off.
 * 5. Set advantages that are only rounding to exactly 0. Multiply by `scale`.
 * 6. With a `correction`, weigh the tokens in the policy loss, or take them out of the masks of the losses.
 *
 * A single-choice token is one that the agent drew where the grammar allowed no other. With `choicesOnly`,
 * single-choice tokens are left out of every mask: they count for no loss, entropy, KL or clip fraction, no value
 * target and no whitening statistic, and GAE skips them without applying γ, λ or a value. The reward of a single-choice
 * token moves to the last token before it in the advantage mask, because that token decided what followed; the row's
 * score includes the reward too. Observations have no single-choice tokens, so masks that include observations keep all
 * observation tokens.
 *
 * `turn-credit` (prime-rl #3282) adds to the advantage of a rollout ω·(C_i − the mean of C over the rollout's tokens),
 * with the credit C_i = Σ_{j ≥ i} γ_turn^{j − i}·d_j/W_j of turn i and W_j = 1 + γ_turn + … + γ_turn^{j − 1}, so that
 * each turn's progress d_j is shared whole. `turnProgress` has d_j/W_j, and the rest is the return of turns.
 *
 * The policy and regularizer masks leave out the tokens in `untrained`, whole turns; credit passes through these as before.
 * The observation mask has the words of observations if the policy mask leaves observations out, and else none.
 */
export const credit: LearningMath['credit'] = (batch, input, settings) => {
  const { rewards: envRewards, groups, singles, bodies, untrained, behaviour } = input;
  const leftOut = settings.choicesOnly ? singles : undefined;
  const mask = (agentOnly: boolean) => responseMask(batch, groups, agentOnly, leftOut);
  const trained = (agentOnly: boolean) => mask(agentOnly).map((m, at) => (untrained?.[at] ? 0 : m));
  const { estimator, masks: agentOnlySwitches } = settings;
  const advantageMask = mask(agentOnlySwitches.advantage);
  const masks: CreditMasks = {
    policy: trained(agentOnlySwitches.policy),
    regularizer: trained(agentOnlySwitches.regularizer),
    value: usesCritic(estimator) ? mask(agentOnlySwitches.value) : new Float32Array(envRewards.length),
    observation: observationMask(batch, groups, agentOnlySwitches.policy ? bodies : undefined),
    advantage: advantageMask,
    whiten: sharesTurnAdvantage(estimator)
      ? Float32Array.from(turnStarts(batch, advantageMask))
      : mask(agentOnlySwitches.whiten),
  };
  const rewards = subtractKl(batch, envRewards, mask(agentOnlySwitches.klReward), settings);
  const scoreMask = responseMask(batch, groups, agentOnlySwitches.advantage);
  const { advantages, returns } = estimate(batch, rewards, input, { mask: masks.advantage, scoreMask }, settings);
  const whitens = settings.whiten && canWhiten(estimator);
  if (whitens) {
    whiten(advantages, masks.whiten, settings.remask ? masks.advantage : responseMask(batch, groups, false));
  }
  dropRounding(advantages, whitens ? 'whitened' : 'raw');
  const result: Credit = { masks, rewards, advantages: advantages.map((a) => a * settings.scale), returns };
  const { correction } = settings;
  if (!behaviour || !correction || correction.correction === 'none') return result;
  const { weights, rejected } = corrections(batch, behaviour, masks.policy, correction);
  for (const losses of [masks.policy, masks.regularizer, masks.value]) {
    rejected.forEach((isOut, at) => {
      if (isOut === 1) losses[at] = 0;
    });
  }
  return { ...result, corrections: weights };
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
 * Returns the rewards, moved off tokens that are in `scoreMask` but not in `mask`: each goes to the last token before
 * it, in its row, that is in `mask`. `rewards` itself stays as it is.
 */
function moveRewardsBack(
  { rows, length }: CreditBatch,
  rewards: Float64Array,
  { mask, scoreMask }: { readonly mask: Float32Array; readonly scoreMask: Float32Array },
): Float64Array {
  const moved = rewards.slice();
  for (let b = 0; b < rows; b++) {
    let pending = 0;
    for (let at = (b + 1) * length - 1; at >= b * length; at--) {
      if (mask[at] !== 0) {
        moved[at] = rewards[at]! + pending;
        pending = 0;
      } else if (scoreMask[at] !== 0) {
        pending += rewards[at]!;
      }
    }
  }
  return moved;
}

function estimate(
  batch: CreditBatch,
  rewards: Float64Array,
  { groups, states, progress = new Float32Array(rewards.length), solved }: CreditInput,
  { mask, scoreMask }: { readonly mask: Float32Array; readonly scoreMask: Float32Array },
  settings: CreditSettings,
): Estimate {
  const zeros = () => new Float64Array(mask.length);
  const moveBack = (paid: Float64Array) => moveRewardsBack(batch, paid, { mask, scoreMask });
  const movedRewards = moveBack(rewards);
  const spreadOverTokens = (perRow: ArrayLike<number>): Estimate => ({
    advantages: Float64Array.from(mask, (m, at) => (m === 0 ? 0 : (perRow[Math.floor(at / batch.length)] ?? 0))),
    returns: zeros(),
  });
  const compareScores = (baseline: GroupBaseline) =>
    spreadOverTokens(groupRelative(maskedScores(batch, rewards, scoreMask), groups, baseline));
  const { advantageKind, critic, sharesProgress } = ESTIMATORS[settings.estimator];
  if (advantageKind === 'none') return spreadOverTokens([]);
  if (advantageKind === 'success') return spreadOverTokens(solved ?? []);
  if (advantageKind === 'group') return compareScores(baselineOf(settings.estimator, settings.divideByStd));
  const like = comparesTurns(settings.estimator);
  if (like || sharesProgress) {
    const baseline = baselineOf(settings.estimator, settings.divideByStd);
    const marks = { mask, turnStarts: turnStarts(batch, mask) };
    // GAE over turns with λ = 1 and no critic is the return of each turn; with γ = 0 its reward
    const returnsOf = (paid: Float64Array, turnGamma = settings.turnGamma) =>
      turnGae(batch, paid, zeros(), marks, { lambda: 1, turnGamma }).returns;
    const returns = returnsOf(sharesProgress ? moveBack(Float64Array.from(progress)) : movedRewards);
    const { advantages } = like && !like.besideScore ? { advantages: zeros() } : compareScores(baseline);
    if (like && !states) return { advantages, returns };
    const ofTurns = !(like && states)
      ? withoutRowMeans(batch, returns, mask)
      : like.in === 'return'
        ? stateRelative(batch, returns, states, marks, baseline)
        : stateRelative(batch, returnsOf(movedRewards, 0), states, marks, baseline, settings.turnGamma);
    const weight = like && !like.besideScore ? 1 : settings.stateWeight;
    return { advantages: advantages.map((a, at) => a + weight * ofTurns[at]!), returns };
  }
  if (advantageKind === 'turns')
    return biLevelGae(batch, movedRewards, batch.values, { mask, turnEnds: turnEnds(batch, mask) }, settings);
  if (advantageKind === 'whole-turns')
    return turnGae(batch, movedRewards, batch.values, { mask, turnStarts: turnStarts(batch, mask) }, settings);
  if (critic) return gae(batch, movedRewards, batch.values, mask, settings);
  const advantages = rewardToGo(batch, movedRewards, mask, settings.gamma);
  return { advantages, returns: advantages.slice() };
}
