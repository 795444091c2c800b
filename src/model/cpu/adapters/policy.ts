import type { AdapterConfig } from '../../adapters.ts';
import type { LearningMath } from '../../learningMath.ts';
import { BackendError, type Policy, type PolicySpec } from '../../policy.ts';
import type { WeightSource } from '../../weightSource.ts';

/** How adapters are opened on the CPU. */
export interface AdaptedPolicyOptions {
  readonly seed: number; // of the fresh adapters
  readonly reason: string; // why this backend; '' where nothing had to be decided
  readonly precision?: 'f32' | 'f64'; // f64 to test against
  readonly simd?: boolean; // false keeps f32 off WebAssembly SIMD
}

/**
 * The `Policy` that learns adapters beside a checkpoint whose weights stay as they are. Its state is `adapterParameters(spec.model, adapters)`.
 * Throws BackendError where it needs more memory than there can be, FormatError by file and tensor where weights cannot be read.
 */
export function openCpuAdaptedPolicy(
  _spec: PolicySpec,
  _source: WeightSource,
  _adapters: AdapterConfig,
  _math: LearningMath,
  _options: AdaptedPolicyOptions,
): Promise<Policy> {
  return Promise.reject(new BackendError('Adapters cannot be trained yet.', 'Wait.'));
}
