import type { AdapterConfig } from '../../adapters.ts';
import type { LearningMath } from '../../learningMath.ts';
import { BackendError, type PolicySpec } from '../../policy.ts';
import type { WeightSource } from '../../weightSource.ts';
import { nameOfBegun } from '../team/team.ts';
import { openArithmetic, timedArithmetic } from '../timed.ts';
import { AdaptedPolicy, type AdaptedPolicyOptions } from './adaptedPolicy.ts';
import { adaptedPolicyMemory, MOST_ADAPTED_BYTES } from './memory.ts';
import { MergedTrunk } from './mergedTrunk.ts';

export type { AdaptedPolicy, AdaptedPolicyOptions } from './adaptedPolicy.ts';

/**
 * The `Policy` that learns adapters beside a checkpoint whose weights stay as they are, on the CPU. Its state is
 * `adapterParameters(spec.model, adapters)`; adapters begin fresh. Throws BackendError, before anything is read, where it needs more memory than there can
 * be or a critic of its own, FormatError by file and tensor where weights cannot be read.
 */
export async function openCpuAdaptedPolicy(
  spec: PolicySpec,
  source: WeightSource,
  adapters: AdapterConfig,
  math: LearningMath,
  options: AdaptedPolicyOptions,
): Promise<AdaptedPolicy> {
  const { precision = 'f32', simd = true } = options;
  if (spec.critic === 'separate') {
    const message =
      'A critic of its own would be a second copy of the checkpoint; want none, or one that shares its trunk.';
    throw new BackendError(message, 'Set critic to none or shared.', ['critic']);
  }
  const memory = adaptedPolicyMemory(spec, source, adapters, options);
  const bytes = memory.reduce((sum, part) => sum + part.bytes, 0);
  if (bytes > MOST_ADAPTED_BYTES) {
    const gib = (n: number) => (n / 2 ** 30).toFixed(1);
    throw new BackendError(
      `The run needs ${gib(bytes)} GiB; want at most ${gib(MOST_ADAPTED_BYTES)} GiB on the CPU.`,
      'Use fewer prompts, smaller groups, shorter episodes, or a smaller model.',
      ['prompts', 'groupSize', 'maxTurns'],
    );
  }
  const timed = timedArithmetic(
    openArithmetic(spec.model, precision, bytes, simd, { threads: options.threads, rounding: 'fused' }),
  );
  const { arithmetic } = timed;
  try {
    const trunk = await MergedTrunk.open(arithmetic, source, adapters);
    const name = await nameOfBegun(arithmetic);
    return new AdaptedPolicy(spec, trunk, adapters, timed, memory, math, options, name);
  } catch (error) {
    arithmetic.team?.close();
    throw error;
  }
}
