import { openGpu } from '../../src/gpu/device.ts';
import type { KernelSet } from '../../src/config/kernelChoice.ts';
import { setsFor } from '../../src/model/gpu/kernelSets.ts';

/** Every set of kernels that runs here. */
export async function setsHere(): Promise<readonly KernelSet[]> {
  const gpu = await openGpu(navigator.gpu);
  gpu.device.destroy();
  return setsFor(gpu);
}
