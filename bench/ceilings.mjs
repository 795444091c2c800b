// What the adapter can do at best, measured with the engine's own kernels and calls by every variant that runs on it.
import { openGpu } from '../src/gpu/device.ts';
import { measureCeilings } from '../src/model/gpu/ceilings.ts';
import { variantsFor } from '../src/model/gpu/kernelSets.ts';

const EDGE = 512; // of the products

/** @param {GPU} given */
export async function ceilings(given) {
  const gpu = await openGpu(given);
  const top = await measureCeilings(gpu, variantsFor(gpu).products, EDGE, () => performance.now());
  gpu.device.destroy();
  return {
    adapter: gpu.adapter,
    lanes: gpu.lanes,
    matmulGflops: top.products,
    bestMatmulGflops: top.gflops,
    copyGBps: top.gbps,
    dispatchUs: top.launchUs,
    jsUsPerDispatch: top.jsUs,
    submitUs: top.submitUs,
    readbackUs: top.readbackUs,
  };
}
