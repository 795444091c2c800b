import { ESTIMATORS, usesRewards } from '../../config/estimators.ts';
import * as kernels from '../../gpu/kernels/index.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { CreditSettings } from '../learningSettings.ts';
import { firstChannels, type DeviceBatch } from './deviceBatch.ts';

const PLAN_NAMES = { walk: 'walk', group: 'group', states: 'states', progress: 'progress' } as const;
const WHITENED_PLAN_NAMES = {
  walk: 'walk whitened',
  group: 'group whitened',
  states: 'states',
  progress: 'progress',
} as const;

/**
 * Masks and, from rewards, advantages and returns. All estimators share these plans; only their settings differ. `supplied`
 * is for masks and advantages that the caller wrote, with settings that are all 0.
 */
export type CreditPlans = Readonly<
  Record<'walk' | 'group' | 'states' | 'progress' | 'walk whitened' | 'group whitened' | 'supplied', Plan>
>;

export function creditPlan(plans: CreditPlans, { estimator, whiten }: CreditSettings): Plan {
  const { advantageKind, canWhiten, sharesProgress } = ESTIMATORS[estimator];
  const ofTurns = sharesProgress ? 'progress' : 'states';
  const perRollout = advantageKind === 'group' || !usesRewards(estimator);
  const core = perRollout ? 'group' : advantageKind === 'group-turns' ? ofTurns : 'walk';
  return plans[(whiten && canWhiten ? WHITENED_PLAN_NAMES : PLAN_NAMES)[core]];
}

export function recordCredit(
  recorder: Recorder,
  batch: DeviceBatch,
  settings: Tensor,
  B: number,
  T: number,
): CreditPlans {
  const { record, rewards, rewardsAfterKl, masks, advantagesAndReturns, rowSums, rowGroups, oldValues: values } = batch;
  const { oldScores: old_scores, refScores: ref_scores } = batch;
  const dims = { B, T };
  const recordCorrections = (plan: Plan) => {
    const tensors = { record, old_scores, rewards, masks, corrections: batch.corrections, settings };
    plan.dispatch(kernels.corrections, tensors, dims);
    return plan;
  };
  const recordPlan = (core: keyof typeof PLAN_NAMES, whitened: boolean) => {
    const recorded = new Plan(recorder, `credit ${core}`);
    // otherwise a row that is in no minibatch would keep the coefficients of the last batch
    recorded.clear(firstChannels(batch.coefficients, 2, B, T));
    const inputs = { record, groups: rowGroups, rewards, old_scores, ref_scores };
    recorded.dispatch(kernels.creditMasks, { ...inputs, masks, shaped: rewardsAfterKl, sums: rowSums, settings }, dims);
    if (core !== 'group')
      recorded.dispatch(
        kernels.gae,
        {
          record,
          rewards: core === 'progress' ? rewards : rewardsAfterKl,
          values,
          masks,
          credit: advantagesAndReturns,
          settings,
        },
        dims,
      );
    if (core !== 'walk')
      recorded.dispatch(
        kernels.groupAdvantages,
        { groups: rowGroups, rewards, masks, sums: rowSums, credit: advantagesAndReturns, settings },
        dims,
      );
    if (core === 'states' || core === 'progress')
      recorded.dispatch(
        kernels.stateAdvantages,
        { groups: rowGroups, rewards, masks, credit: advantagesAndReturns, settings },
        dims,
      );
    if (whitened) {
      recorded.dispatch(kernels.whitenSums, { masks, credit: advantagesAndReturns, sums: rowSums }, dims);
      recorded.dispatch(kernels.whitenDeviation, { masks, credit: advantagesAndReturns, sums: rowSums }, dims);
    }
    recorded.dispatch(
      kernels.whitenApply,
      { record, groups: rowGroups, masks, sums: rowSums, credit: advantagesAndReturns, settings },
      dims,
    );
    // last, because a rejected token leaves the masks of the losses but keeps its part in the advantages
    return recordCorrections(recorded);
  };
  return {
    supplied: recordCorrections(new Plan(recorder, 'credit supplied')),
    walk: recordPlan('walk', false),
    group: recordPlan('group', false),
    states: recordPlan('states', false),
    progress: recordPlan('progress', false),
    'walk whitened': recordPlan('walk', true),
    'group whitened': recordPlan('group', true),
  };
}
