import type { Metrics } from '../domain/metrics.ts';
import { sharesTurnAdvantage } from '../config/estimators.ts';
import type { CreditSettings } from '../model/learningSettings.ts';
import type { PolicyReport } from '../model/policyReport.ts';
import { untrainedTurns } from '../domain/tokenMasks.ts';
import { Role } from '../domain/tokens.ts';
import type { EpisodeRecord } from './episodeRecord.ts';

/**
 * Checks an update on the tensors that it used. Measures the number of observation tokens with a gradient in the policy
 * loss, and their share of all |d(loss)/d(log-probability)|; the reward per rollout at tokens that no estimator reads;
 * and the number of rollouts whose masks don't fit their tokens.
 *
 * Masks don't fit if one includes a token outside the response, or leaves out a token of the agent. With `choicesOnly`,
 * tokens without a choice must be left out instead, and their reward moves to the choice before. The masks of the losses
 * must leave out the turns that `trainTurns` does, and tokens with 1 in `rejected`. If whitening counts turns, its mask has
 * only one token of each. Rows whose prompt was filtered out (`kept` 0) are not counted.
 */
export function invariants(
  record: EpisodeRecord,
  report: PolicyReport,
  kept: Uint8Array,
  {
    choicesOnly,
    estimator,
    trainTurns = 'all',
  }: Pick<CreditSettings, 'choicesOnly' | 'estimator'> & Partial<Pick<CreditSettings, 'trainTurns'>>,
  rejected?: Uint8Array,
): Metrics {
  const { rows, length, roles, rewards, singles } = record;
  const lossMasks = [report.lossMask, report.regularizerMask];
  const tokenMasks = [...lossMasks, report.advantageMask];
  const masks = sharesTurnAdvantage(estimator) ? tokenMasks : [...tokenMasks, report.whitenMask];
  const untrained = untrainedTurns(record, trainTurns);
  let gradedObservations = 0;
  let weightOnObservations = 0;
  let totalWeight = 0;
  let rewardOutside = 0;
  let misfits = 0;
  let counted = 0;
  for (let row = 0; row < rows; row++) {
    if (kept[row] === 0) continue;
    counted++;
    let fits = true;
    for (let at = row * length; at < (row + 1) * length; at++) {
      const role = roles[at];
      const weight = Math.abs(report.gradWeights[at]!);
      totalWeight += weight;
      if (role === Role.observation) {
        weightOnObservations += weight;
        if (report.policyWeights[at] !== 0) gradedObservations++;
      }
      const leftOut = choicesOnly && singles[at] !== 0;
      if (report.advantageMask[at] === 0 && !leftOut) rewardOutside += Math.abs(rewards[at]!);
      const response = role === Role.action || role === Role.observation;
      const outOfLosses = untrained?.[at] === 1 || rejected?.[at] === 1;
      for (const [i, mask] of masks.entries()) {
        const isOut = leftOut || (outOfLosses && i < lossMasks.length);
        if (mask[at] !== 0 ? !response || isOut : role === Role.action && !isOut) fits = false;
      }
    }
    if (!fits) misfits++;
  }
  return {
    'mask/observation_weights': gradedObservations,
    'mask/observation_share': totalWeight > 0 ? weightOnObservations / totalWeight : 0,
    'mask/reward_outside': counted > 0 ? rewardOutside / counted : 0,
    'mask/length_mismatch': misfits,
  };
}
