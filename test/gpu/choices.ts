import { openGpu } from '../../src/gpu/device.ts';
import { nameOfChoice, uniformChoice } from '../../src/config/kernelChoice.ts';
import { variantsFor } from '../../src/model/gpu/kernelSets.ts';

/**
 * Names of choices of training kernels that run here: every uniform one, and for each a mixed one, so that every variant of every
 * family also works beside variants of another kind. Families meet in tensors only, so not all combinations are needed.
 */
export async function choicesHere(): Promise<readonly string[]> {
  const gpu = await openGpu(navigator.gpu);
  gpu.device.destroy();
  const { products, attention } = variantsFor(gpu);
  return products.flatMap((variant, i) => {
    const reductions = i % 2 === 0 ? 'workgroup' : 'barrier-free';
    const beside = attention[(i + 1) % attention.length] ?? 'barrier-free';
    const mixed = { products: variant, attention: beside, reductions, sums: 'slabs', decoding: 'stepwise' } as const;
    return [uniformChoice(variant), mixed].map(nameOfChoice);
  });
}
