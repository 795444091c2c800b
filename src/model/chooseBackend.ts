import { NoGpuError, offersSoftwareOnly } from '../gpu/gpuAdapter.ts';
import { compile } from '../gpu/compile.ts';
import { submit, type Gpu } from '../gpu/device.ts';
import { Pipelines } from '../gpu/pipelines.ts';
import { Plan, ShapePool } from '../gpu/plan.ts';
import { shareGpu } from '../gpu/sharedDevice.ts';
import { Arena } from '../gpu/tensor.ts';
import { simdArithmetic } from './cpu/simd.ts';
import type { Threads } from './cpu/team/threads.ts';
import { defaultSet, partsOf } from './gpu/kernelSets.ts';
import { linear } from './gpu/layers.ts';
import type { PolicySpec } from './policy.ts';

/** Which backend `auto` takes, and why, in a sentence; '' where nothing had to be decided. */
export interface BackendChoice {
  readonly kind: 'gpu' | 'cpu';
  readonly reason: string;
}

/** The clock of the place it runs in. */
export interface Clock {
  readonly now: () => number; // ms
  readonly wait: (ms: number) => Promise<void>;
}

/** A software adapter that has not multiplied its first matrices by then is no help to a run that begins in tens of ms on the CPU. */
const PROBE_MS = 1500;
/** Products are what software adapters do best; everything around them, and starting, is slower there. */
const GPU_ADVANTAGE = 2;
const ROUNDS = 3;
/** Least multiply-adds of a measured product, so that one dispatch is no large part of it; and most rows, so that it takes no second. */
const LEAST_PRODUCT = 2 ** 23;
const MOST_ROWS = 2048;

/**
 * The faster backend for `spec`. A GPU is taken as it is; behind a software adapter is a CPU, on which the product of the
 * run's own MLP is timed through WebGPU, on the device the run would take, and in WebAssembly SIMD, in `threads`; in at most about two seconds.
 * Throws NoGpuError as `openGpu` does, and where the software adapter fails at the product.
 */
export async function chooseBackend(
  gpu: GPU,
  spec: PolicySpec,
  clock: Clock,
  threads?: Threads,
): Promise<BackendChoice> {
  if (!(await offersSoftwareOnly(gpu))) return { kind: 'gpu', reason: '' };
  const opened = await shareGpu(gpu);
  try {
    const late = clock.wait(PROBE_MS).then(() => null);
    const there = productOnGpu(opened, spec, clock);
    there.catch(() => undefined); // a failure after the time limit does not matter
    const rate = await Promise.race([there, late]).catch((error: unknown) => {
      throw new NoGpuError(`${opened.adapter} could not multiply two matrices: ${String(error)}`);
    });
    return decide(opened.adapter, rate, await productOnCpu(spec, clock, threads));
  } finally {
    opened.close();
  }
}

/** @param there GFLOP/s of the adapter, null where it took too long @param here GFLOP/s of the CPU backend, null without SIMD */
export function decide(adapter: string, there: number | null, here: number | null): BackendChoice {
  const rate = (gflops: number) => `${gflops.toPrecision(2)} GFLOP/s`;
  const is = `${adapter} is a CPU behind WebGPU`;
  if (here === null) return { kind: 'gpu', reason: `${is}, and there is no WebAssembly SIMD to take its place.` };
  if (there === null) {
    return { kind: 'cpu', reason: `${is} and was not ready within ${PROBE_MS / 1000} s: the CPU directly is faster.` };
  }
  const measured = `measured on this model's products, ${rate(there)} there and ${rate(here)} in WebAssembly SIMD`;
  return there >= GPU_ADVANTAGE * here
    ? { kind: 'gpu', reason: `${is}, but the faster one: ${measured}.` }
    : { kind: 'cpu', reason: `${is}: ${measured}.` };
}

/** Sizes of the MLP's first product over the tokens of a minibatch. */
function sizes({ model, minibatchRows, length }: PolicySpec) {
  const [K, M] = [model.hidden_size, 2 * model.intermediate_size];
  const N = Math.min(MOST_ROWS, Math.max(minibatchRows * length, Math.ceil(LEAST_PRODUCT / (K * M))));
  return { N, K, M };
}

/** GFLOP/s of the product on a device, in the best of a few rounds; compiling its kernel is not counted. */
async function productOnGpu(gpu: Gpu, spec: PolicySpec, { now }: Clock): Promise<number> {
  const { N, K, M } = sizes(spec);
  const arena = new Arena(gpu);
  const [x, weight, y] = [arena.declare('x', [N, K]), arena.declare('weight', [M, K]), arena.declare('y', [N, M])];
  await arena.allocate();
  const pipelines = Pipelines.of(gpu);
  const plan = new Plan({ gpu, pipelines, shapes: new ShapePool(gpu) }, 'probe');
  linear(plan, partsOf(gpu, defaultSet(gpu)).products, x, weight, y, { N, K, M });
  const wanted = plan.list.map(({ entry }) => entry);
  await compile({ gpu, pipelines }, undefined, wanted);
  let best = Infinity;
  for (let round = 0; round <= ROUNDS; round++) {
    const began = now();
    submit(gpu, (encoder) => plan.encode(encoder));
    await gpu.device.queue.onSubmittedWorkDone();
    if (round > 0) best = Math.min(best, now() - began); // the first warms up
  }
  return plan.flops / best / 1e6;
}

/** GFLOP/s of the product in WebAssembly SIMD; null if there is none. */
async function productOnCpu(spec: PolicySpec, { now }: Clock, threads?: Threads): Promise<number | null> {
  const { N, K, M } = sizes(spec);
  const arithmetic = simdArithmetic(spec.model, 4 * (N * K + M * K + N * M), { threads });
  if (!arithmetic) return null;
  await arithmetic.team?.begun();
  const [x, weight, y] = [arithmetic.reals(N * K), arithmetic.reals(M * K), arithmetic.reals(N * M)];
  let best = Infinity;
  for (let round = 0; round <= ROUNDS; round++) {
    const began = now();
    arithmetic.matmulNT(y, x, weight, N, M, K);
    if (round > 0) best = Math.min(best, now() - began);
  }
  arithmetic.team?.close();
  return (2 * N * M * K) / best / 1e6;
}
