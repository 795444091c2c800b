import { beforeEach } from 'vitest';
import { openGpu } from '../../src/gpu/device.ts';

/** Whether the adapter of the tests can store halves; SwiftShader cannot, lavapipe and GPUs can. */
export async function storesHalves(): Promise<boolean> {
  const { device } = await openGpu(navigator.gpu);
  device.destroy();
  return device.features.has('shader-f16');
}

/** Why tests of halves are skipped where `storesHalves` says no. */
export const NO_HALVES = 'adapter has no shader-f16';

/** In a describe: its tests are skipped, and say why, where the adapter stores no halves. */
export function wantHalves(halves: boolean): void {
  beforeEach(({ skip }) => {
    skip(!halves, NO_HALVES);
  });
}
