// The benchmark itself, the same in Node and in a page: measure(gpu, options) → one object of numbers.
import { ceilings, productAtBest } from './ceilings.mjs';
import { setup } from './peer.mjs';
import { accounting, batch, GENERATION, prompts, WORKLOADS } from './workloads.mjs';

/**
 * @typedef {{ seconds: number, variant?: string | undefined, storage: 'f32' | 'f16', slabs?: number, only: readonly string[] }} Options
 * @typedef {Awaited<ReturnType<typeof ceilings>>} Ceilings
 */

/** @param {readonly number[]} values */
function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return { n: values.length, best: sorted[0] ?? NaN, median: sorted[Math.floor(sorted.length / 2)] ?? NaN };
}

/** ms of an awaited run. @param {() => Promise<unknown>} run */
async function timed(run) {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/** Repeats an awaited run for about `seconds`. @param {() => Promise<unknown>} run @param {number} seconds */
async function repeat(run, seconds) {
  /** @type {number[]} */
  const ms = [];
  const end = performance.now() + seconds * 1000;
  do ms.push(await timed(run));
  while (performance.now() < end && ms.length < 200);
  return spread(ms);
}

const PRODUCTS = 3; // before a step and after it

/**
 * Repeats a step for about `seconds`, with products before and after each: an adapter's speed may change by the second, so
 * only neighbours compare. Returns the ms, and step ms beside product ms: the median of the rounds.
 * @param {() => Promise<unknown>} step @param {() => Promise<unknown>} product @param {number} seconds
 */
async function interleaved(step, product, seconds) {
  const products = async () => {
    let ms = 0;
    for (let i = 0; i < PRODUCTS; i++) ms += await timed(product);
    return ms / PRODUCTS;
  };
  /** @type {number[]} */
  const ms = [];
  /** @type {number[]} */
  const times = [];
  const end = performance.now() + seconds * 1000;
  let before = await products();
  do {
    const own = await timed(step);
    const after = await products();
    ms.push(own);
    times.push(own / ((before + after) / 2));
    before = after;
  } while (performance.now() < end && ms.length < 200);
  return { ...spread(ms), products: spread(times).median };
}

/** The engine's counters over one run. @param {import('../src/model/policy.ts').Policy} policy @param {() => Promise<unknown>} run */
async function counted(policy, run) {
  const before = policy.counters();
  await run();
  const after = policy.counters();
  const { dispatches, submits, readbacks, uploadBytes, creations } = before;
  return {
    dispatches: after.dispatches - dispatches,
    submits: after.submits - submits,
    readbacks: after.readbacks - readbacks,
    uploadBytes: after.uploadBytes - uploadBytes,
    creations: after.creations - creations,
  };
}

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
  const jsStart = performance.now();
  await peer.step({ read: false });
  const jsMs = performance.now() - jsStart;
  const lastLoss = await step();
  await peer.dispose();
  return {
    ...{ params: peer.params, setupMs, firstStepMs, firstLoss, lastLoss, stepMs, counts },
    tokensPerSecond: (1000 * tokens) / stepMs.median,
    gflops: flops / stepMs.median / 1e6,
    jsUsPerDispatch: (jsMs * 1000) / counts.dispatches,
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

/** @param {GPU} gpu @param {Options} options */
export async function measure(gpu, options) {
  const top = await ceilings(gpu);
  /** @type {Record<string, Awaited<ReturnType<typeof training>> | Awaited<ReturnType<typeof generation>>>} */
  const workloads = {};
  for (const id of /** @type {const} */ (['W1', 'W2', 'W3'])) {
    if (options.only.includes(id)) workloads[id] = await training(id, gpu, top, options);
  }
  if (options.only.includes('G1')) workloads['G1'] = await generation(gpu, top, options);
  return { ceilings: top, workloads };
}
