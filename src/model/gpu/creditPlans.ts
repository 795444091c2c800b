import { ESTIMATORS } from '../../config/estimators.ts';
import * as kernels from '../../gpu/kernels/index.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { CreditSettings } from '../learningSettings.ts';
import { firstChannels, type DeviceBatch } from './deviceBatch.ts';

const PLAIN = { walk: 'walk', group: 'group' } as const;
const WHITENED = { walk: 'walk whitened', group: 'group whitened' } as const;

/**
 * Plans that compute masks and, from rewards, advantages and returns. All estimators share these plans; only their
 * settings differ.
 */
export type CreditPlans = Readonly<Record<'walk' | 'group' | 'walk whitened' | 'group whitened', Plan>>;

/** The plan for these settings. */
export function creditPlan(plans: CreditPlans, { estimator, whiten }: CreditSettings): Plan {
  const { core, whitens } = ESTIMATORS[estimator];
  return plans[(whiten && whitens ? WHITENED : PLAIN)[core === 'group' ? 'group' : 'walk']];
}

/** Records every credit plan. */
export function recordCredit(
  recorder: Recorder,
  batch: DeviceBatch,
  settings: Tensor,
  B: number,
  T: number,
): CreditPlans {
  const { record, rewards, shaped, masks, credit, sums, groups, oldValues: values } = batch;
  const { oldScores: old_scores, refScores: ref_scores } = batch;
  const dims = { B, T };
  const plan = (core: keyof typeof PLAIN, whitened: boolean) => {
    const out = new Plan(recorder, `credit ${core}`);
    // otherwise a row that is in no minibatch would keep the coefficients of the last batch
    out.clear(firstChannels(batch.coefficients, 2, B, T));
    const inputs = { record, groups, rewards, old_scores, ref_scores };
    out.dispatch(kernels.creditMasks, { ...inputs, masks, shaped, sums, settings }, dims);
    if (core === 'walk') out.dispatch(kernels.gae, { record, rewards: shaped, values, masks, credit, settings }, dims);
    else out.dispatch(kernels.groupAdvantages, { groups, masks, sums, credit, settings }, dims);
    if (whitened) {
      out.dispatch(kernels.whitenSums, { masks, credit, sums }, dims);
      out.dispatch(kernels.whitenDeviation, { masks, credit, sums }, dims);
    }
    out.dispatch(kernels.whitenApply, { record, groups, masks, sums, credit, settings }, dims);
    return out;
  };
  return {
    walk: plan('walk', false),
    group: plan('group', false),
    'walk whitened': plan('walk', true),
    'group whitened': plan('group', true),
  };
}
