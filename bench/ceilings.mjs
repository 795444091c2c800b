// What the adapter can do at best, measured with the engine's own kernels and calls by both sets of kernels.
import { openGpu } from '../src/gpu/device.ts';
import { measureCeilings, squareProduct } from '../src/model/gpu/ceilings.ts';
import { KERNEL_SET_NAMES } from '../src/config/kernelChoice.ts';
import { variantsOf } from '../src/model/gpu/kernelSets.ts';
import { repeat } from './timing.mjs';

const EDGE = 512; // of the products
const LARGER_EDGES = [1024, 2048, 4096]; // of more products, on hardware only

/** Ways to multiply on an adapter. @param {{ software: boolean, lanes: number }} gpu */
const products = (gpu) => KERNEL_SET_NAMES.map((set) => variantsOf(gpu, set).products);

/** @param {GPU} given */
export async function ceilings(given) {
  const gpu = await openGpu(given);
  const top = await measureCeilings(gpu, products(gpu), EDGE, () => performance.now());
  /** @type {Record<string, number>} GFLOP/s of the kernels for GPUs, by edge */
  const productsByEdge = {};
  for (const edge of gpu.software ? [] : LARGER_EDGES) {
    const product = await squareProduct(gpu, 'tiles', edge);
    productsByEdge[edge] = product.flops / (await repeat(product.run, 0.5)).best / 1e6;
    product.destroy();
  }
  gpu.device.destroy();
  return {
    adapter: gpu.adapter,
    lanes: gpu.lanes,
    matmulGflops: top.products,
    bestMatmulGflops: Math.max(top.gflops, ...Object.values(productsByEdge)),
    productsByEdge,
    copyGBps: top.gbps,
    dispatchUs: top.launchUs,
    jsUsPerDispatch: top.jsUs,
    submitUs: top.submitUs,
    readbackUs: top.readbackUs,
  };
}

/**
 * The product of the fastest variant, on a device of its own, to run beside something else.
 * @param {GPU} given @param {Awaited<ReturnType<typeof ceilings>>} top
 */
export async function productAtBest(given, top) {
  const gpu = await openGpu(given);
  const best = products(gpu).toSorted((a, b) => (top.matmulGflops[b] ?? 0) - (top.matmulGflops[a] ?? 0));
  const product = await squareProduct(gpu, best[0] ?? 'none', EDGE);
  await product.run();
  return {
    flops: product.flops,
    run: product.run,
    destroy: () => {
      product.destroy();
      gpu.device.destroy();
    },
  };
}
