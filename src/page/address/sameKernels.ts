import type { RunConfig } from '../../config/fields.ts';
import type { KernelSet } from '../../config/kernelChoice.ts';

/**
 * A run's knobs with `auto` replaced by the kernels that it used. Named kernels round the same way on every start;
 * `auto` may choose others after it has measured them. Null if there is nothing to replace.
 */
export function withUsedKernels(config: RunConfig, usedKernels: KernelSet | undefined): RunConfig | null {
  if (!usedKernels || config.kernels !== 'auto' || config.backend === 'cpu') return null;
  return { ...config, backend: 'gpu', kernels: usedKernels };
}
