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

/** The sets that draw a small model's turn in one dispatch: on hardware all do, in software those with tiles. */
export async function setsThatDrawTurns(): Promise<readonly KernelSet[]> {
  const { device, software, lanes } = await openGpu(navigator.gpu);
  device.destroy();
  if (!software) return KERNEL_SET_NAMES;
  return lanes < 8 ? ['shared'] : [];
}
