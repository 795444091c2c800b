import type { AdapterConfig } from '../../loraAdapters.ts';
import type { LearningMath } from '../../learningMath.ts';
import { BackendError, type PolicySpec } from '../../policy.ts';
import type { WeightSource } from '../../weightSource.ts';
import { nameOfBegun } from '../team/team.ts';
import type { Arithmetic } from '../arithmetic.ts';
import { plainArithmetic } from '../plainArithmetic.ts';
import { simdArithmetic } from '../simd.ts';
import { timedArithmetic } from '../timed.ts';
import { AdaptedPolicy, type AdaptedPolicyOptions } from './adaptedPolicy.ts';
import { type AdaptedPlan, adaptedPolicyPlan, MOST_ADAPTED_BYTES } from './memory.ts';
import { MergedTrunk } from './mergedTrunk.ts';

export type { AdaptedPolicy, AdaptedPolicyOptions } from './adaptedPolicy.ts';

/**
 * The `Policy` that learns adapters beside a checkpoint whose weights stay as they are, on the CPU. Its state is
 * `adapterParameters(spec.model, adapters)`; adapters begin fresh. Throws BackendError, before anything is read, where it needs more memory than there can
 * be or a critic of its own, ProblemError by file and tensor where weights cannot be read.
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
  const { plan, opened } = openedPlan(spec, source, adapters, options);
  const timed = timedArithmetic(opened);
  const { arithmetic } = timed;
  try {
    const trunk = await MergedTrunk.open(arithmetic, source, adapters);
    const name = await nameOfBegun(arithmetic);
    return new AdaptedPolicy(spec, trunk, adapters, timed, plan, math, options, name);
  } catch (error) {
    arithmetic.team?.close();
    throw error;
  }
}

/** The fastest plan for which there is memory, and its arithmetic: what does not fit, or is not to be had, is tried more frugally. */
function openedPlan(
  { model, ...spec }: PolicySpec,
  source: WeightSource,
  adapters: AdapterConfig,
  options: AdaptedPolicyOptions,
): { readonly plan: AdaptedPlan; readonly opened: Arithmetic } {
  const { precision = 'f32', simd = true, threads, mostBytes = MOST_ADAPTED_BYTES } = options;
  const fast = simd && precision === 'f32';
  const planned = (most: number) => adaptedPolicyPlan({ model, ...spec }, source, adapters, { ...options, mostBytes: most }); // prettier-ignore
  const first = planned(mostBytes);
  if (first.bytes > mostBytes) {
    const gib = (n: number) => (n / 2 ** 30).toFixed(1);
    throw new BackendError(
      `The run needs ${gib(first.bytes)} GiB. On the CPU at most ${gib(mostBytes)} GiB fit.`,
      'Use fewer prompts, smaller groups, shorter episodes, or a smaller model.',
      ['prompts', 'groupSize', 'maxTurns'],
    );
  }
  for (let plan = first, tried = Infinity; fast && plan.bytes < tried; plan = planned(plan.bytes - 1)) {
    tried = plan.bytes;
    const opened = simdArithmetic(model, plan.bytes, { threads, rounding: 'fused' });
    if (opened) return { plan, opened };
  }
  return { plan: first, opened: plainArithmetic(model, precision) };
}
