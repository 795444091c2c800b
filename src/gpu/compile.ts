import { FirstUse } from './firstUse.ts';
import type { Gpu } from './device.ts';
import { type PipelineEntry, Pipelines } from './pipelines.ts';

/**
 * Software adapters with at least this many lanes (Mesa's) compile at the first use of a pipeline, in one thread per
 * device. SwiftShader, with fewer lanes, compiles when a pipeline is created.
 */
const LAZY_LANES = 8;

/** Share of the pipelines that a second device may compile for those adapters. */
const SECOND_DEVICE_SHARE = 0.6;

/** A device and its pipelines. */
interface Compiler {
  readonly gpu: Gpu;
  readonly pipelines: Pipelines;
}

/** Called with the number of compiled pipelines. */
export type CompileProgress = (done: number, total: number) => void;

/**
 * Compiles the wanted pipelines that are not compiled yet, in parallel. On a software adapter it also uses each once,
 * so that the driver compiles it to machine code. Throws NoGpuError.
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
 * Creates pipelines and uses each once, because some drivers compile only then. With such a driver, a second device
 * uses some of them at the same time, and the first device finds these in the driver's cache.
 */
async function useOnce(
  { gpu, pipelines }: Compiler,
  entries: readonly PipelineEntry[],
  finish: (entry: PipelineEntry, pipeline: GPUComputePipeline) => void,
): Promise<void> {
  // longest sources first, because they probably take longest
  const waiting = entries.toSorted((a, b) => b.kernel.wgsl.length - a.kernel.wgsl.length);
  const making = new Map(waiting.map((entry) => [entry, pipelines.make(entry)]));
  // all are created before any is used, because a device whose queue compiles can create no pipelines meanwhile
  const allCreated = Promise.allSettled(making.values());
  // only the longest, because the second device must create them, which takes time, too
  const shared = new Set(
    gpu.lanes >= LAZY_LANES ? waiting.slice(0, Math.ceil(waiting.length * SECOND_DEVICE_SHARE)) : [],
  );
  const opening = shared.size > 0 ? SecondDevice.open(gpu, [...shared]) : null;
  const firstUse = new FirstUse(gpu);
  const use = async (entry: PipelineEntry) => {
    await allCreated;
    const pipeline = await making.get(entry)!;
    await firstUse.run(entry, pipeline);
    finish(entry, pipeline);
  };
  const runAll = async (next: () => PipelineEntry | undefined, run: (entry: PipelineEntry) => Promise<void>) => {
    for (let entry = next(); entry; entry = next()) {
      waiting.splice(waiting.indexOf(entry), 1);
      await run(entry);
    }
  };
  const onThisDevice = async () => {
    await allCreated;
    await runAll(() => waiting.find((entry) => !shared.has(entry)) ?? waiting[0], use);
  };
  const onSecondDevice = async () => {
    const companion = await opening;
    if (!companion) return;
    const cached: Promise<void>[] = []; // uses of pipelines that are in the driver's cache by then
    await runAll(
      () => waiting.find((entry) => shared.has(entry)),
      async (entry) => {
        await companion.use(entry);
        const using = use(entry);
        using.catch(() => undefined); // `settled` below reports a failure
        cached.push(using);
      },
    );
    companion.close();
    await settled(cached);
  };
  await settled([onThisDevice(), onSecondDevice()]).finally(() => firstUse.destroy());
}

/** Waits for all promises, then rejects if one has. A failure must not destroy buffers that others still use. */
async function settled(all: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(all);
  await Promise.all(all);
}

/**
 * A second device that uses pipelines once, so that the first device finds them compiled. Some drivers compile at first
 * use, in one thread per device, and share their cache between devices; then two threads compile. With a driver that
 * shares nothing, only a thread's time is lost.
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

  /** Opens another device and creates the pipelines of `entries` on it; null if there is no second device. */
  static async open(gpu: Gpu, entries: readonly PipelineEntry[]): Promise<SecondDevice | null> {
    const other = await gpu.another().catch(() => null);
    if (!other) return null;
    const pipelines = new Pipelines(other);
    const making = entries.map(async (entry) => {
      const twin = pipelines.want(entry.kernel, entry.constants, entry.halves);
      // a failure is ignored here, because the first device fails in the same way and reports it
      twin.pipeline = await pipelines.make(twin).catch(() => null);
      return [entry, twin] as const;
    });
    return new SecondDevice(other, new Map(await Promise.all(making)));
  }

  /** Uses the pipeline of an entry. Also resolves if that fails. */
  async use(entry: PipelineEntry): Promise<void> {
    const twin = this.twins.get(entry);
    if (twin?.pipeline) await this.firstUse.run(twin, twin.pipeline).catch(() => undefined);
  }

  /** Closes the device. */
  close(): void {
    this.gpu.close();
  }
}
