import { compile } from '../../gpu/compile.ts';
import { submit, type Gpu } from '../../gpu/device.ts';
import { Pipelines } from '../../gpu/pipelines.ts';
import { Plan, ShapeUniforms, type Recorder } from '../../gpu/plan.ts';
import { Readback } from '../../gpu/readback.ts';
import { Arena, write } from '../../gpu/tensor.ts';
import type { Ceilings } from '../../domain/profile.ts';
import type { KernelVariants } from './kernelSets.ts';
import { linear } from './layers.ts';

const COPIED_SCALARS = 2 ** 22;
const TIMED_DISPATCHES = 500;

/** Shortest of `rounds` runs, in ms, after one to warm up. The shortest counts, because other work can only add time. */
async function shortestMs(run: () => Promise<void>, now: () => number, rounds = 4): Promise<number> {
  await run();
  let best = Infinity;
  for (let i = 0; i < rounds; i++) {
    const startedAt = now();
    await run();
    best = Math.min(best, now() - startedAt);
  }
  return best;
}

/** Ceilings, with the measurements behind them: GFLOP/s by variant, and costs of API calls in µs. */
export interface MeasuredCeilings extends Ceilings {
  readonly products: Readonly<Partial<Record<KernelVariants['products'], number>>>;
  readonly submitUs: number; // a submit with one tiny dispatch, until it is done
  readonly jsUs: number; // JavaScript time per dispatch
}

/** A square product that can be run again and again. */
export interface SquareProduct {
  readonly flops: number; // of a run
  readonly run: () => Promise<void>; // submits it, and waits until it is done
  readonly destroy: () => void;
}

export async function squareProduct(
  gpu: Gpu,
  variant: KernelVariants['products'],
  edge: number,
): Promise<SquareProduct> {
  const recorder: Recorder = { gpu, pipelines: new Pipelines(gpu), shapes: new ShapeUniforms(gpu) };
  const arena = new Arena(gpu);
  const matrix = (name: string) => arena.declare(name, [edge, edge]);
  const [a, b, c] = [matrix('a'), matrix('b'), matrix('c')];
  await arena.allocate();
  const values = Float32Array.from({ length: edge * edge }, (_, i) => Math.sin(i));
  write(gpu, a, values);
  write(gpu, b, values);
  const plan = new Plan(recorder, variant);
  linear(plan, variant, a, b, c, { N: edge, K: edge, M: edge });
  await compile(recorder);
  return {
    flops: 2 * edge ** 3,
    run: () => replayAndWait(gpu, plan),
    destroy: () => {
      recorder.shapes.destroy();
      arena.destroy();
    },
  };
}

async function replayAndWait(gpu: Gpu, plan: Plan, times = 1): Promise<void> {
  submit(gpu, (encoder) => plan.encode(encoder, times));
  await gpu.device.queue.onSubmittedWorkDone();
}

/** Uses the engine's own kernels and calls: `edge`×`edge` products by variant, copies, dependent dispatches, submits and read-backs. */
export async function measureCeilings(
  gpu: Gpu,
  variants: readonly KernelVariants['products'][],
  edge: number,
  now: () => number,
): Promise<MeasuredCeilings> {
  const recorder: Recorder = { gpu, pipelines: new Pipelines(gpu), shapes: new ShapeUniforms(gpu) };
  const arena = new Arena(gpu);
  const [copySource, copyTarget, readTensor] = [
    arena.declare('from', [COPIED_SCALARS]),
    arena.declare('to', [COPIED_SCALARS]),
    arena.declare('small', [64]),
  ];
  const scalar = (name: string) => arena.declare(name, [1]);
  const [a, b, c] = [scalar('a'), scalar('b'), scalar('c')];
  await arena.allocate();
  const shortestOf = (plan: Plan, times = 1) => shortestMs(() => replayAndWait(gpu, plan, times), now);
  const products: Partial<Record<KernelVariants['products'], number>> = {};
  for (const variant of variants) {
    const product = await squareProduct(gpu, variant, edge);
    products[variant] = product.flops / (await shortestMs(product.run, now)) / 1e6;
    product.destroy();
  }
  const copy = new Plan(recorder, 'copy');
  copy.copy(copySource, 0, copyTarget);
  const copyMs = await shortestOf(copy, 4);
  const oneDispatch = new Plan(recorder, 'tiny');
  linear(oneDispatch, 'none', a, b, c, { N: 1, K: 1, M: 1 });
  await compile(recorder);
  const dispatchMs = await shortestOf(oneDispatch, TIMED_DISPATCHES);
  const singleDispatchMs = await shortestOf(oneDispatch);
  const readback = new Readback(gpu, 'small', [readTensor]);
  const readbackMs = await shortestMs(
    async () => {
      submit(gpu, (encoder) => readback.encode(encoder));
      await readback.read();
    },
    now,
    20,
  );
  const encodeStart = now();
  submit(gpu, (encoder) => oneDispatch.encode(encoder, TIMED_DISPATCHES));
  const jsMs = now() - encodeStart;
  await gpu.device.queue.onSubmittedWorkDone();
  readback.destroy();
  recorder.shapes.destroy();
  arena.destroy();
  return {
    products,
    gflops: Math.max(...Object.values(products)),
    gbps: (4 * 8 * COPIED_SCALARS) / copyMs / 1e6,
    launchUs: (dispatchMs * 1000) / TIMED_DISPATCHES,
    readbackUs: readbackMs * 1000,
    submitUs: singleDispatchMs * 1000,
    jsUs: (jsMs * 1000) / TIMED_DISPATCHES,
  };
}
