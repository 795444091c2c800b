// What the adapter can do at best, measured with the engine's own kernels and calls: products by variant, copies, dispatches,
// submits and read-backs. The best of a few repeats: other work on the machine only ever adds time.
import { openGpu, submit } from '../src/gpu/device.ts';
import { Pipelines } from '../src/gpu/pipelines.ts';
import { Plan, ShapePool } from '../src/gpu/plan.ts';
import { Readback } from '../src/gpu/readback.ts';
import { Arena, write } from '../src/gpu/tensor.ts';
import { linear, variantsFor } from '../src/model/gpu/layers.ts';

const N = 512; // edge of the products
const COPY = 4 * 1024 * 1024; // scalars

/** Least milliseconds of `run` in `rounds`, after one to warm up. @param {() => Promise<void>} run */
async function least(run, rounds = 4) {
  await run();
  let best = Infinity;
  for (let i = 0; i < rounds; i++) {
    const start = performance.now();
    await run();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

/** @param {GPU} given */
export async function ceilings(given) {
  const gpu = await openGpu(given);
  const recorder = { gpu, pipelines: new Pipelines(gpu), shapes: new ShapePool(gpu) };
  const arena = new Arena(gpu);
  const matrix = (/** @type {string} */ name) => arena.declare(name, [N, N]);
  const [a, b, c] = [matrix('a'), matrix('b'), matrix('c')];
  const [from, to, small] = [arena.declare('from', [COPY]), arena.declare('to', [COPY]), arena.declare('small', [64])];
  await arena.allocate();
  const some = Float32Array.from({ length: N * N }, (_, i) => Math.sin(i));
  write(gpu, a, some);
  write(gpu, b, some);
  const done = () => gpu.device.queue.onSubmittedWorkDone();
  const replay = (/** @type {Plan} */ plan, times = 1) =>
    least(async () => {
      submit(gpu, (encoder) => plan.encode(encoder, times));
      await done();
    });
  /** @type {Record<string, number>} */
  const matmul = {};
  for (const variant of variantsFor(gpu)) {
    const plan = new Plan(recorder, variant);
    linear(plan, variant, a, b, c, { N, K: N, M: N });
    await recorder.pipelines.compile();
    matmul[variant] = (2 * N ** 3) / (await replay(plan)) / 1e6;
  }
  const copy = new Plan(recorder, 'copy');
  copy.copy(from, 0, to);
  const copyMs = await replay(copy, 4);
  const tiny = new Plan(recorder, 'tiny');
  linear(tiny, 'barrier-free', a, b, c, { N: 1, K: 1, M: 1 });
  await recorder.pipelines.compile();
  const dispatchMs = await replay(tiny, 500);
  const oneMs = await replay(tiny, 1);
  const readback = new Readback(gpu, 'small', [small]);
  const readbackMs = await least(async () => {
    submit(gpu, (encoder) => readback.encode(encoder));
    await readback.read();
  }, 20);
  const jsStart = performance.now();
  submit(gpu, (encoder) => tiny.encode(encoder, 500));
  const jsMs = performance.now() - jsStart;
  await done();
  const { adapter, lanes } = gpu;
  gpu.device.destroy();
  return {
    adapter,
    lanes,
    matmulGflops: matmul,
    bestMatmulGflops: Math.max(...Object.values(matmul)),
    copyGBps: (4 * 8 * COPY) / copyMs / 1e6,
    dispatchUs: (dispatchMs * 1000) / 500,
    jsUsPerDispatch: (jsMs * 1000) / 500,
    submitUs: oneMs * 1000,
    readbackUs: readbackMs * 1000,
  };
}
