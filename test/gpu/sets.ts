import { inject } from 'vitest';
import { openGpu } from '../../src/gpu/device.ts';
import { KERNEL_SET_NAMES, type KernelSet } from '../../src/config/kernelChoice.ts';
import { defaultSet } from '../../src/model/gpu/kernelSets.ts';

declare module 'vitest' {
  interface ProvidedContext {
    everything: boolean; // all tests run, not only the main claims
  }
}

/** The sets of kernels to test: both among all tests (`npm run test:all`), else the default of this adapter. */
export async function setsHere(): Promise<readonly KernelSet[]> {
  const gpu = await openGpu(navigator.gpu);
  gpu.device.destroy();
  return inject('everything') ? KERNEL_SET_NAMES : [defaultSet(gpu)];
}
