import type { RunConfig } from '../../config/fields.ts';
import type { KernelSet } from '../../config/kernelChoice.ts';

/**
 * The knobs of a run with the kernels named that it took by itself: they round alike on every start, while `auto` may take others
 * once they are measured. Null where there is nothing to name.
 */
export function withKernels(config: RunConfig, taken: KernelSet | undefined): RunConfig | null {
  if (!taken || config.kernels !== 'auto' || config.backend === 'cpu') return null;
  return { ...config, backend: 'gpu', kernels: taken };
}
