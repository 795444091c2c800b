import { NoGpuError, offersSoftwareOnly } from '../gpu/gpuAdapter.ts';
import { compile } from '../gpu/compile.ts';
import { submit, type Gpu } from '../gpu/device.ts';
import { Pipelines } from '../gpu/pipelines.ts';
import { Plan, ShapeUniforms } from '../gpu/plan.ts';
import { shareGpu } from '../gpu/sharedDevice.ts';
import { Arena } from '../gpu/tensor.ts';
import { simdArithmetic } from '../model/cpu/simd.ts';
import type { Threads } from '../model/cpu/team/threads.ts';
import { defaultSet, variantsOf } from '../model/gpu/kernelSets.ts';
import { linear } from '../model/gpu/layers.ts';
import type { PolicySpec } from '../model/policy.ts';

/** The backend that `auto` chose. `reason` says why in one sentence; '' if there was nothing to decide. */
export interface BackendChoice {
  readonly kind: 'gpu' | 'cpu';
  readonly reason: string;
}

export interface Clock {
  readonly now: () => number; // ms
  readonly wait: (ms: number) => Promise<void>;
}

const REAL_CLOCK: Clock = {
  now: () => performance.now(),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};
/** Time limit in ms for measuring a software adapter. A slower one isn't worth the wait: a run on the CPU starts within tens of ms. */
const TIME_LIMIT_MS = 1500;
/** How many times faster at products a software adapter must be. They are what it does best; all else, and starting, is slower. */
const GPU_ADVANTAGE = 2;
const TIMED_ROUNDS = 3;
/** Minimum multiply-adds of the measured product, so that the cost of the dispatch hardly counts. */
const MIN_MULTIPLY_ADDS = 2 ** 23;
/** Maximum rows of the measured product, so that it takes less than a second. */
const MAX_ROWS = 2048;

/**
 * Chooses the faster backend for `spec`. A hardware GPU is chosen without measuring. A software adapter (a CPU behind
 * WebGPU) is compared with the CPU backend: the first product of the run's own MLP is timed through WebGPU, on the
 * device the run would use, and in WebAssembly SIMD with `threads`. That takes at most about two seconds. Throws
 * NoGpuError as `openGpu` does, and if the software adapter fails at the product.
 */
export async function chooseBackend(
  gpu: GPU,
  spec: PolicySpec,
  threads?: Threads,
  clock = REAL_CLOCK,
): Promise<BackendChoice> {
  if (!(await offersSoftwareOnly(gpu))) return { kind: 'gpu', reason: '' };
  const openedGpu = await shareGpu(gpu);
  try {
    const timeout = clock.wait(TIME_LIMIT_MS).then(() => null);
    const measuring = measureOnGpu(openedGpu, spec, clock);
    measuring.catch(() => undefined); // a failure after the time limit does not matter
    const gpuRate = await Promise.race([measuring, timeout]).catch((error: unknown) => {
      throw new NoGpuError(`${openedGpu.adapter} could not multiply two matrices: ${String(error)}`);
    });
    return decide(openedGpu.adapter, gpuRate, await measureOnCpu(spec, clock, threads));
  } finally {
    openedGpu.close();
  }
}

/**
 * Compares the two measured rates.
 * @param gpuRate GFLOP/s of the software adapter, null if it took too long
 * @param cpuRate GFLOP/s of the CPU backend, null without WebAssembly SIMD
 */
export function decide(adapter: string, gpuRate: number | null, cpuRate: number | null): BackendChoice {
  const rateText = (gflops: number) => `${gflops.toPrecision(2)} GFLOP/s`;
  const adapterIsCpu = `${adapter} is a CPU behind WebGPU`;
  if (cpuRate === null)
    return { kind: 'gpu', reason: `${adapterIsCpu}, and there is no WebAssembly SIMD to take its place.` };
  if (gpuRate === null) {
    return {
      kind: 'cpu',
      reason: `${adapterIsCpu} and was not ready within ${TIME_LIMIT_MS / 1000} s: the CPU directly is faster.`,
    };
  }
  const measured = `measured on this model's products, ${rateText(gpuRate)} there and ${rateText(cpuRate)} in WebAssembly SIMD`;
  return gpuRate >= GPU_ADVANTAGE * cpuRate
    ? { kind: 'gpu', reason: `${adapterIsCpu}, but the faster one: ${measured}.` }
    : { kind: 'cpu', reason: `${adapterIsCpu}: ${measured}.` };
}

/** Sizes of the MLP's first product over the tokens of a minibatch, within the limits above. */
function productSizes({ model, minibatchRows, length }: PolicySpec) {
  const [K, M] = [model.hidden_size, 2 * model.intermediate_size];
  const N = Math.min(MAX_ROWS, Math.max(minibatchRows * length, Math.ceil(MIN_MULTIPLY_ADDS / (K * M))));
  return { N, K, M };
}

/** GFLOP/s of the product on a device, in the fastest of a few rounds. Compiling its kernel is not counted. */
async function measureOnGpu(gpu: Gpu, spec: PolicySpec, { now }: Clock): Promise<number> {
  const { N, K, M } = productSizes(spec);
  const arena = new Arena(gpu);
  const [x, weight, y] = [arena.declare('x', [N, K]), arena.declare('weight', [M, K]), arena.declare('y', [N, M])];
  await arena.allocate();
  const pipelines = Pipelines.forDevice(gpu);
  const plan = new Plan({ gpu, pipelines, shapes: new ShapeUniforms(gpu) }, 'probe');
  linear(plan, variantsOf(gpu, defaultSet(gpu)).products, x, weight, y, { N, K, M });
  const entries = plan.dispatches.map(({ entry }) => entry);
  await compile({ gpu, pipelines }, undefined, entries);
  let bestMs = Infinity;
  for (let round = 0; round <= TIMED_ROUNDS; round++) {
    const startTime = now();
    submit(gpu, (encoder) => plan.encode(encoder));
    await gpu.device.queue.onSubmittedWorkDone();
    if (round > 0) bestMs = Math.min(bestMs, now() - startTime); // the first warms up
  }
  return plan.flops / bestMs / 1e6;
}

/** GFLOP/s of the product in WebAssembly SIMD, in the fastest of a few rounds; null without SIMD. */
async function measureOnCpu(spec: PolicySpec, { now }: Clock, threads?: Threads): Promise<number | null> {
  const { N, K, M } = productSizes(spec);
  const arithmetic = simdArithmetic(spec.model, 4 * (N * K + M * K + N * M), { threads });
  if (!arithmetic) return null;
  await arithmetic.team?.whenStarted();
  const [x, weight, y] = [arithmetic.reals(N * K), arithmetic.reals(M * K), arithmetic.reals(N * M)];
  let bestMs = Infinity;
  for (let round = 0; round <= TIMED_ROUNDS; round++) {
    const startTime = now();
    arithmetic.matmulNT(y, x, weight, N, M, K);
    if (round > 0) bestMs = Math.min(bestMs, now() - startTime);
  }
  arithmetic.team?.close();
  return (2 * N * M * K) / bestMs / 1e6;
}
