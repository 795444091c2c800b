// The benchmark itself, the same in Node and in a page: measure(gpu, options) → one object of numbers.
import { ceilings, productAtBest } from './ceilings.mjs';
import { setup } from './peer.mjs';
import { counted, interleaved, repeat } from './timing.mjs';
import { updates } from './update.mjs';
import { accounting, batch, GENERATION, prompts, WORKLOADS } from './workloads.mjs';

/**
 * @typedef {{ seconds: number, variant?: string | undefined, storage: 'f32' | 'f16', slabs?: number, only: readonly string[] }} Options
 * @typedef {Awaited<ReturnType<typeof ceilings>>} Ceilings
 */

/**
 * Least time in which the ceilings allow that many FLOPs, dispatches and read-backs.
 * @param {Ceilings} top @param {number} flops @param {{ dispatches: number, readbacks: number }} counts
 */
function attainableMs(top, flops, { dispatches, readbacks }) {
  return flops / top.bestMatmulGflops / 1e6 + (dispatches * top.dispatchUs + readbacks * top.readbackUs) / 1000;
}

/** @param {'W1' | 'W2' | 'W3'} id @param {GPU} gpu @param {Ceilings} top @param {Options} options */
async function training(id, gpu, top, { seconds, variant, storage, slabs }) {
  const c = WORKLOADS[id];
  const { tokens, flops } = accounting(c);
  const start = performance.now();
  const options = { storage, ...(variant && { variant }), ...(slabs && { slabs }) };
  const peer = await setup(c, { ...batch(c), want: 'train', gpu, options });
  const setupMs = performance.now() - start;
  const firstLoss = await peer.step({ read: true });
  const firstStepMs = performance.now() - start;
  const step = () => peer.step({ read: true });
  const counts = await counted(peer.policy, step);
  const product = await productAtBest(gpu, top);
  const stepMs = await interleaved(step, product.run, seconds);
  product.destroy();
  const lastLoss = await step();
  await peer.dispose();
  return {
    ...{ params: peer.params, setupMs, firstStepMs, firstLoss, lastLoss, stepMs, counts },
    tokensPerSecond: (1000 * tokens) / stepMs.median,
    gflops: flops / stepMs.median / 1e6,
    ofBestMatmul: flops / (stepMs.products * product.flops),
    ofRoofline: attainableMs(top, flops, counts) / stepMs.best,
  };
}

/** @param {GPU} gpu @param {Ceilings} top @param {Options} options */
async function generation(gpu, top, { seconds, variant, storage }) {
  const c = WORKLOADS.W1;
  const generationOf = { ...GENERATION, prompts: prompts(c) };
  const none = new Uint32Array(0);
  const options = { storage, ...(variant && { variant }) };
  const peer = await setup(c, { x: none, y: none, want: 'generate', generation: generationOf, gpu, options });
  const generate = peer.generate ?? (() => Promise.resolve(0));
  const drawn = await generate();
  const counts = await counted(peer.policy, generate);
  const generateMs = await repeat(generate, seconds);
  await peer.dispose();
  const flops = accounting(c).forwardFlopsPerToken * GENERATION.sequences * (GENERATION.prompt + GENERATION.newTokens);
  return {
    ...{ drawn, generateMs, counts },
    tokensPerSecond: (1000 * drawn) / generateMs.median,
    gflops: flops / generateMs.median / 1e6,
    ofRoofline: attainableMs(top, flops, counts) / generateMs.best,
  };
}

/** @param {'W1' | 'W2' | 'W3'} id @param {GPU} gpu @param {Ceilings} top @param {Options} options */
async function updating(id, gpu, top, options) {
  const { flops, tokens, drawn, ...rest } = await updates(WORKLOADS[id], gpu, options);
  const { updateMs, stageMs, counts } = rest;
  return {
    ...rest,
    tokensPerSecond: (1000 * tokens) / updateMs.median,
    drawnPerSecond: (1000 * drawn) / (stageMs['sampling'] ?? NaN),
    gflops: flops / updateMs.median / 1e6,
    ofRoofline: attainableMs(top, flops, counts) / updateMs.best,
  };
}

/** @param {GPU} gpu @param {Options} options */
export async function measure(gpu, options) {
  const top = await ceilings(gpu);
  const sizes = /** @type {const} */ (['W1', 'W2', 'W3']);
  /** @type {{ [id: string]: Awaited<ReturnType<typeof training>> | Awaited<ReturnType<typeof generation>> | Awaited<ReturnType<typeof updating>> }} */
  const workloads = {};
  for (const id of sizes) {
    if (options.only.includes(id)) workloads[id] = await training(id, gpu, top, options);
  }
  if (options.only.includes('G1')) workloads['G1'] = await generation(gpu, top, options);
  for (const [i, id] of sizes.entries()) {
    if (options.only.includes(`U${i + 1}`)) workloads[`U${i + 1}`] = await updating(id, gpu, top, options);
  }
  return { ceilings: top, workloads };
}
