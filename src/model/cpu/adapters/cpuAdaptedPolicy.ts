import type { AdapterConfig } from '../../loraAdapters.ts';
import type { LearningMath } from '../../learningMath.ts';
import { BackendError, type PolicySpec } from '../../policy.ts';
import type { WeightSource } from '../../weightSource.ts';
import { nameWhenStarted } from '../team/team.ts';
import type { Arithmetic } from '../arithmetic.ts';
import { simdArithmetic } from '../simd.ts';
import { openArithmetic, timedArithmetic } from '../timedArithmetic.ts';
import { AdaptedPolicy, type AdaptedPolicyOptions } from './adaptedPolicy.ts';
import { type AdaptedPlan, adaptedPolicyPlan, MAX_ADAPTED_BYTES } from './memory.ts';
import { MergedWeights } from './mergedTensors.ts';

export type { AdaptedPolicy, AdaptedPolicyOptions } from './adaptedPolicy.ts';

/**
 * Opens a `Policy` that trains adapters for a checkpoint on the CPU. The checkpoint's weights don't change. The state
 * of the policy is `adapterParameters(spec.model, adapters)`, and adapters start fresh. Throws BackendError, before it
 * reads anything, if the memory would exceed the limit or the run has a separate critic. Throws ProblemError with file
 * and tensor if weights can't be read.
 */
export async function openCpuAdaptedPolicy(
  spec: PolicySpec,
  source: WeightSource,
  adapters: AdapterConfig,
  math: LearningMath,
  options: AdaptedPolicyOptions,
): Promise<AdaptedPolicy> {
  if (spec.critic === 'separate') {
    const message = 'A separate critic would need a second copy of the checkpoint.';
    throw new BackendError(message, 'Set critic to none or shared.', ['critic']);
  }
  const { plan, arithmetic: opened } = openPlan(spec, source, adapters, options);
  const timed = timedArithmetic(opened);
  const { arithmetic } = timed;
  try {
    const merged = await MergedWeights.open(arithmetic, source, adapters);
    const name = await nameWhenStarted(arithmetic);
    return new AdaptedPolicy(spec, merged, adapters, timed, plan, math, options, name);
  } catch (error) {
    arithmetic.team?.close();
    throw error;
  }
}

/** The fastest for which memory can be allocated: if an allocation fails, tries the next smaller plan. */
function openPlan(
  { model, ...spec }: PolicySpec,
  source: WeightSource,
  adapters: AdapterConfig,
  options: AdaptedPolicyOptions,
): { readonly plan: AdaptedPlan; readonly arithmetic: Arithmetic } {
  const { loops, threads, maxBytes = MAX_ADAPTED_BYTES } = options;
  const planWithin = (limit: number) => adaptedPolicyPlan({ model, ...spec }, source, adapters, { ...options, maxBytes: limit }); // prettier-ignore
  const fastestPlan = planWithin(maxBytes);
  if (fastestPlan.bytes > maxBytes) {
    const gib = (n: number) => (n / 2 ** 30).toFixed(1);
    throw new BackendError(
      `The run needs ${gib(fastestPlan.bytes)} GiB. On the CPU at most ${gib(maxBytes)} GiB fit.`,
      'Use fewer or shorter rollouts, or a smaller model.',
      ['rows', 'length'],
    );
  }
  for (
    let plan = fastestPlan, lastBytes = Infinity;
    !loops && plan.bytes < lastBytes;
    plan = planWithin(plan.bytes - 1)
  ) {
    lastBytes = plan.bytes;
    const opened = simdArithmetic(model, plan.bytes, { threads, rounding: 'fused' });
    if (opened) return { plan, arithmetic: opened };
  }
  return { plan: fastestPlan, arithmetic: openArithmetic(model, fastestPlan.bytes, loops) };
}
