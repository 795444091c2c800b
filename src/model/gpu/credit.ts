import * as kernels from '../../gpu/kernels/index.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { DeviceBatch } from './batch.ts';

/** Plans that turn rewards into masks, advantages and returns, by estimator. */
export function recordCredit(
  recorder: Recorder,
  batch: DeviceBatch,
  settings: Tensor,
  B: number,
  T: number,
): Readonly<Record<'gae' | 'grpo', Plan>> {
  const { record, rewards, masks, credit, sums, groups, oldValues: values } = batch;
  const gae = new Plan(recorder, 'credit gae');
  gae.dispatch(kernels.gae, { record, rewards, values, masks, credit, sums, settings }, { B, T });
  gae.dispatch(kernels.whitenDeviation, { masks, credit, sums }, { B, T });
  gae.dispatch(kernels.whitenApply, { masks, sums, credit, settings }, { B, T });
  const grpo = new Plan(recorder, 'credit grpo');
  grpo.dispatch(kernels.groupAdvantages, { record, rewards, groups, masks, credit, settings }, { B, T });
  return { gae, grpo };
}
