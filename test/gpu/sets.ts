import { openGpu } from '../../src/gpu/device.ts';
import { KERNEL_SET_NAMES, type KernelSet } from '../../src/config/kernelChoice.ts';
import { defaultSet } from '../../src/model/gpu/kernelSets.ts';
import { isWeekly } from '../weekly.ts';

/**
 * The sets of kernels to test: all of them in `npm run test:weekly`, else this adapter's default. golden.test.ts compares all of them with
 * PyTorch every time.
 */
export async function setsHere(): Promise<readonly KernelSet[]> {
  const gpu = await openGpu(navigator.gpu);
  gpu.device.destroy();
  return isWeekly ? KERNEL_SET_NAMES : [defaultSet(gpu)];
}
