import { openGpu } from '../../src/gpu/device.ts';

/** Whether the adapter of the tests can store halves; SwiftShader cannot, lavapipe and GPUs can. */
export async function storesHalves(): Promise<boolean> {
  const { device } = await openGpu(navigator.gpu);
  device.destroy();
  return device.features.has('shader-f16');
}
