import { FirstUse } from './firstUse.ts';
import type { Gpu } from './device.ts';
import { type PipelineEntry, Pipelines } from './pipelines.ts';

/** Software adapters with so many lanes compile at first use, in one thread a device (Mesa's; SwiftShader, with fewer, when a pipeline is made). */
const LAZY_LANES = 8;

/** Part of the pipelines that two devices make there. */
const SHARED = 0.6;

/** A device and its pipelines. */
interface Compiler {
  readonly gpu: Gpu;
  readonly pipelines: Pipelines;
}

/** Hears how many of the pipelines are done. */
export type CompileProgress = (done: number, total: number) => void;

/**
 * Compiles whatever of `wanted` is not there yet, in parallel, on a software adapter down to what its processor runs. Throws NoGpuError.
 */
export async function compile(
  { gpu, pipelines }: Compiler,
  progress: CompileProgress = () => undefined,
  wanted: readonly PipelineEntry[] = pipelines.entries,
): Promise<void> {
  const missing = wanted.filter((entry) => !entry.pipeline);
  if (missing.length === 0) return;
  let done = 0;
  progress(0, missing.length);
  const finish = (entry: PipelineEntry, pipeline: GPUComputePipeline) => {
    entry.pipeline = pipeline;
    progress(++done, missing.length);
  };
  if (gpu.software) return useOnce({ gpu, pipelines }, missing, finish);
  await settled(missing.map(async (entry) => finish(entry, await pipelines.make(entry))));
}

/**
 * Makes pipelines and uses each once, which is when some drivers compile. Where they do, a companion uses some of them at the same time;
 * what it has used the device need not compile again.
 */
async function useOnce(
  { gpu, pipelines }: Compiler,
  entries: readonly PipelineEntry[],
  finish: (entry: PipelineEntry, pipeline: GPUComputePipeline) => void,
): Promise<void> {
  // longest sources first, a fair guess of what takes longest
  const waiting = entries.toSorted((a, b) => b.kernel.wgsl.length - a.kernel.wgsl.length);
  const making = new Map(waiting.map((entry) => [entry, pipelines.make(entry)]));
  const made = Promise.allSettled(making.values()); // a device whose queue compiles makes no pipelines meanwhile
  // the longest, but not all: to make them takes its time, too
  const shared = new Set(gpu.lanes >= LAZY_LANES ? waiting.slice(0, Math.ceil(waiting.length * SHARED)) : []);
  const opening = shared.size > 0 ? SecondDevice.open(gpu, [...shared]) : null;
  const firstUse = new FirstUse(gpu);
  const use = async (entry: PipelineEntry) => {
    await made;
    const pipeline = await making.get(entry)!;
    await firstUse.run(entry, pipeline);
    finish(entry, pipeline);
  };
  const each = async (next: () => PipelineEntry | undefined, run: (entry: PipelineEntry) => Promise<void>) => {
    for (let entry = next(); entry; entry = next()) {
      waiting.splice(waiting.indexOf(entry), 1);
      await run(entry);
    }
  };
  const own = async () => {
    await made;
    await each(() => waiting.find((entry) => !shared.has(entry)) ?? waiting[0], use);
  };
  const beside = async () => {
    const companion = await opening;
    if (!companion) return;
    const cached: Promise<void>[] = []; // uses of what the driver then has
    await each(
      () => waiting.find((entry) => shared.has(entry)),
      async (entry) => {
        await companion.use(entry);
        const using = use(entry);
        using.catch(() => undefined); // heard below
        cached.push(using);
      },
    );
    companion.close();
    await settled(cached);
  };
  await settled([own(), beside()]).finally(() => firstUse.destroy());
}

/** Resolves or rejects when all have: what fails must not take from others what they still run with. */
async function settled(all: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(all);
  await Promise.all(all);
}

/**
 * A second device that uses pipelines once, for the first one's good. Where a driver compiles at first use, in one thread a device,
 * and devices share what it caches, two threads compile. Where they share nothing, nothing is lost but a thread's time.
 */
export class SecondDevice {
  private readonly gpu: Gpu;
  private readonly firstUse: FirstUse;
  private readonly twins: ReadonlyMap<PipelineEntry, PipelineEntry>; // of the first device's entries

  private constructor(gpu: Gpu, twins: ReadonlyMap<PipelineEntry, PipelineEntry>) {
    this.gpu = gpu;
    this.firstUse = new FirstUse(gpu);
    this.twins = twins;
  }

  /** Opens a device beside `gpu` and makes pipelines of its entries there; null where there is no second device. */
  static async open(gpu: Gpu, entries: readonly PipelineEntry[]): Promise<SecondDevice | null> {
    const other = await gpu.another().catch(() => null);
    if (!other) return null;
    const pipelines = new Pipelines(other);
    const making = entries.map(async (entry) => {
      const twin = pipelines.want(entry.kernel, entry.constants, entry.halves);
      twin.pipeline = await pipelines.make(twin).catch(() => null); // the first device fails in the same way and reports it
      return [entry, twin] as const;
    });
    return new SecondDevice(other, new Map(await Promise.all(making)));
  }

  /** Resolves when a pipeline was used, or cannot be. */
  async use(entry: PipelineEntry): Promise<void> {
    const twin = this.twins.get(entry);
    if (twin?.pipeline) await this.firstUse.run(twin, twin.pipeline).catch(() => undefined);
  }

  /** Gives the device back. */
  close(): void {
    this.gpu.close();
  }
}
