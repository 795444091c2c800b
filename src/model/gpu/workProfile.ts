import type { Gpu } from '../../gpu/device.ts';
import { sourceWithFloat16 } from '../../gpu/kernel.ts';
import { openOpTimer, type OpTimer } from '../../gpu/opTimer.ts';
import type { Dispatch, Plan } from '../../gpu/plan.ts';
import type { Arena } from '../../gpu/tensor.ts';
import type { MemoryPart } from '../textModel.ts';
import type { KernelSet } from '../../config/kernelChoice.ts';
import type { KernelWork, WorkProfile } from '../../domain/profile.ts';
import { measureCeilings } from './ceilings.ts';
import { variantsOf } from './kernelSets.ts';

/** Large enough to fill a GPU, small enough for a software adapter. */
const PRODUCT_EDGE = { hardware: 1024, software: 256 };
/** Time limit, in ms. Kernels that are not timed by then only have counts. */
const MAX_TIMING_MS = 15_000;

interface DispatchCalls {
  readonly op: Dispatch;
  readonly calls: number;
}

/** Counts how often a policy's recorded dispatches ran, and times them on request. */
export class Profiler {
  private readonly gpu: Gpu;
  private readonly plans: () => readonly Plan[];
  private readonly choice: KernelSet;
  private readonly memory: readonly MemoryPart[];
  private replaysAtStart = new Map<Plan, number>();

  /** @param plans returns all plans recorded so far */
  constructor(gpu: Gpu, plans: () => readonly Plan[], choice: KernelSet, memory: readonly MemoryPart[]) {
    this.gpu = gpu;
    this.plans = plans;
    this.choice = choice;
    this.memory = memory;
  }

  get memoryBytes(): number {
    return this.memory.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  start(): void {
    this.replaysAtStart = new Map(this.plans().map((plan) => [plan, plan.replays]));
  }

  /** Dispatches that ran since `start`, and how often; equal dispatches are merged. */
  private dispatchCalls(): DispatchCalls[] {
    const merged = new Map<string, { op: Dispatch; calls: number }>();
    for (const plan of this.plans()) {
      const replays = plan.replays - (this.replaysAtStart.get(plan) ?? 0);
      if (replays === 0) continue;
      for (const op of plan.dispatches) {
        const { name, constants } = op.entry;
        const key = JSON.stringify([name, constants, op.dims]);
        const known = merged.get(key);
        if (known) known.calls += replays;
        else merged.set(key, { op, calls: replays });
      }
    }
    return [...merged.values()];
  }

  /** Times the dispatch with the most FLOPs first; also measures the ceilings. Overwrites what the dispatches write. */
  async measure(now: () => number): Promise<WorkProfile> {
    const { gpu, choice } = this;
    const work = this.dispatchCalls();
    const edge = gpu.software ? PRODUCT_EDGE.software : PRODUCT_EDGE.hardware;
    const ceilings = await measureCeilings(gpu, [variantsOf(gpu, choice).products], edge, now);
    const timer = await openOpTimer(gpu, now);
    const kernels = await timeKernels(work, timer, now);
    timer.close();
    return { clock: timer.clock, variant: choice, ceilings, kernels, memory: [...this.memory] };
  }
}

/** The work by kernel. Dispatches are timed until the time limit. */
async function timeKernels(work: readonly DispatchCalls[], timer: OpTimer, now: () => number): Promise<KernelWork[]> {
  const end = now() + MAX_TIMING_MS;
  const kernels = new Map<string, KernelWork>();
  const weight = ({ op, calls }: DispatchCalls) => calls * op.entry.kernel.flops(op.dims);
  for (const { op, calls } of work.toSorted((a, b) => weight(b) - weight(a))) {
    const { name, kernel, float16Aliases } = op.entry;
    const source = sourceWithFloat16(kernel, float16Aliases);
    const ms = now() < end && !kernel.runsOut ? calls * (await timer.time(op)) : null;
    const soFar = kernels.get(name) ?? { name, source, calls: 0, flops: 0, bytes: 0, ms: 0 };
    kernels.set(name, {
      ...soFar,
      calls: soFar.calls + calls,
      flops: soFar.flops + calls * kernel.flops(op.dims),
      bytes: soFar.bytes + calls * kernel.bytes(op.dims, float16Aliases),
      ms: soFar.ms === null || ms === null ? null : soFar.ms + ms,
    });
  }
  return [...kernels.values()];
}

const PURPOSES: readonly (readonly [purpose: string, names: RegExp])[] = [
  ['weights, the reference’s and halves too', /weights$/],
  ['gradients', /^(policy|critic) (gradients|step sums)$/],
  ['Adam’s moments', /Adam/],
  ['key-value cache', /^key-value cache$/],
  ['decoding', /^(decode|row state|drawn|sampling)/],
  ['activations', /^train /],
  ['gradients of activations', /^d(x|y|qkv|attended|gateUp|act|elta)$/],
];

export function memoryByPurpose({ declaredTensors: memory }: Arena): readonly MemoryPart[] {
  const sums = new Map<string, number>(PURPOSES.map(([purpose]) => [purpose, 0]));
  for (const { name, bytes } of memory) {
    const purpose = PURPOSES.find(([, names]) => names.test(name))?.[0] ?? 'batch, credit and settings';
    sums.set(purpose, (sums.get(purpose) ?? 0) + bytes);
  }
  return Array.from(sums, ([purpose, bytes]) => ({ purpose, bytes }));
}
