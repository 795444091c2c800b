import { type Gpu, createBuffer, destroyBuffer, submit } from './device.ts';
import { type PipelineEntry, Pipelines } from './pipelines.ts';
import type { Kernel } from './kernel.ts';

const BINDING_BYTES = 1024; // per binding, more than any struct takes
const MAX_BINDINGS = 16; // of one kernel

interface Runnable {
  readonly kernel: Kernel;
  readonly layout: GPUBindGroupLayout;
}

/**
 * Runs pipelines once, on empty data. Drivers of software adapters may compile a pipeline only at its first use, one
 * after another in their queue. If each is used right away, a page can show how many are compiled; otherwise the first
 * update would seem to hang. With all sizes 0 a kernel has nothing to loop over.
 */
class FirstUse {
  private readonly gpu: Gpu;
  private readonly inputBuffer: GPUBuffer; // zeros
  private readonly outputBuffer: GPUBuffer;

  constructor(gpu: Gpu) {
    this.gpu = gpu;
    const { STORAGE, UNIFORM } = GPUBufferUsage;
    this.inputBuffer = createBuffer(gpu, 'first use, read', BINDING_BYTES, STORAGE | UNIFORM);
    this.outputBuffer = createBuffer(gpu, 'first use, written', BINDING_BYTES * MAX_BINDINGS, STORAGE);
  }

  /** Runs one workgroup. Resolves when it is done. */
  async run({ kernel, layout }: Runnable, pipeline: GPUComputePipeline): Promise<void> {
    const { device, counters } = this.gpu;
    const accesses = [...kernel.bindings.map(({ access }) => access), 'uniform'];
    counters.creations++;
    const bindGroup = device.createBindGroup({
      label: 'first use',
      layout,
      entries: accesses.map((access, binding) => ({
        binding,
        resource:
          access === 'read_write'
            ? { buffer: this.outputBuffer, offset: BINDING_BYTES * binding, size: BINDING_BYTES }
            : { buffer: this.inputBuffer, size: BINDING_BYTES },
      })),
    });
    submit(this.gpu, (encoder) => {
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindGroup);
      pass.dispatchWorkgroups(1);
      pass.end();
      counters.dispatches++;
    });
    await device.queue.onSubmittedWorkDone();
  }

  destroy(): void {
    destroyBuffer(this.gpu, this.inputBuffer);
    destroyBuffer(this.gpu, this.outputBuffer);
  }
}

/**
 * Software adapters with at least this many lanes (Mesa's) compile at the first use of a pipeline, in one thread per
 * device. SwiftShader, with fewer lanes, compiles when a pipeline is created.
 */
const LAZY_LANES = 8;

/** Share of the pipelines that a second device may compile for those adapters. */
const SECOND_DEVICE_SHARE = 0.6;

interface Compiler {
  readonly gpu: Gpu;
  readonly pipelines: Pipelines;
}

/** Called with the number of compiled pipelines. */
export type CompileProgress = (done: number, total: number) => void;

/** On a software adapter also uses each once, so that the driver compiles it to machine code. Throws NoGpuError. */
export async function compile(
  { gpu, pipelines }: Compiler,
  progress: CompileProgress = () => undefined,
  entries: readonly PipelineEntry[] = pipelines.entries,
): Promise<void> {
  const missing = entries.filter((entry) => !entry.pipeline);
  if (missing.length === 0) return;
  let done = 0;
  progress(0, missing.length);
  const finish = (entry: PipelineEntry, pipeline: GPUComputePipeline) => {
    entry.pipeline = pipeline;
    progress(++done, missing.length);
  };
  if (gpu.software) return useOnce({ gpu, pipelines }, missing, finish);
  await settled(missing.map(async (entry) => finish(entry, await pipelines.createPipeline(entry))));
}

/** Some drivers compile only at use: then a second device uses some meanwhile, and the first finds these in the driver's cache. */
async function useOnce(
  { gpu, pipelines }: Compiler,
  entries: readonly PipelineEntry[],
  finish: (entry: PipelineEntry, pipeline: GPUComputePipeline) => void,
): Promise<void> {
  // longest sources first, because they probably take longest
  const waiting = entries.toSorted((a, b) => b.kernel.wgsl.length - a.kernel.wgsl.length);
  const creations = new Map(waiting.map((entry) => [entry, pipelines.createPipeline(entry)]));
  // all are created before any is used, because a device whose queue compiles can create no pipelines meanwhile
  const allCreated = Promise.allSettled(creations.values());
  // only the longest, because the second device must create them, which takes time, too
  const forSecondDevice = new Set(
    gpu.lanes >= LAZY_LANES ? waiting.slice(0, Math.ceil(waiting.length * SECOND_DEVICE_SHARE)) : [],
  );
  const opening = forSecondDevice.size > 0 ? SecondDevice.open(gpu, [...forSecondDevice]) : null;
  const firstUse = new FirstUse(gpu);
  const use = async (entry: PipelineEntry) => {
    await allCreated;
    const pipeline = await creations.get(entry)!;
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
    await runAll(() => waiting.find((entry) => !forSecondDevice.has(entry)) ?? waiting[0], use);
  };
  const onSecondDevice = async () => {
    const secondDevice = await opening;
    if (!secondDevice) return;
    const cached: Promise<void>[] = []; // uses of pipelines that are in the driver's cache by then
    await runAll(
      () => waiting.find((entry) => forSecondDevice.has(entry)),
      async (entry) => {
        await secondDevice.use(entry);
        const using = use(entry);
        using.catch(() => undefined); // `settled` below reports a failure
        cached.push(using);
      },
    );
    secondDevice.close();
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
  private readonly ownEntries: ReadonlyMap<PipelineEntry, PipelineEntry>; // by the entry of the first device

  private constructor(gpu: Gpu, ownEntries: ReadonlyMap<PipelineEntry, PipelineEntry>) {
    this.gpu = gpu;
    this.firstUse = new FirstUse(gpu);
    this.ownEntries = ownEntries;
  }

  /** Opens another device and creates the pipelines of `entries` on it; null if there is no second device. */
  static async open(gpu: Gpu, entries: readonly PipelineEntry[]): Promise<SecondDevice | null> {
    const secondGpu = await gpu.openAnother().catch(() => null);
    if (!secondGpu) return null;
    const pipelines = new Pipelines(secondGpu);
    const creations = entries.map(async (entry) => {
      const ownEntry = pipelines.request(entry.kernel, entry.constants, entry.float16Aliases);
      // a failure is ignored here, because the first device fails in the same way and reports it
      ownEntry.pipeline = await pipelines.createPipeline(ownEntry).catch(() => null);
      return [entry, ownEntry] as const;
    });
    return new SecondDevice(secondGpu, new Map(await Promise.all(creations)));
  }

  /** Uses the pipeline of an entry. Also resolves if that fails. */
  async use(entry: PipelineEntry): Promise<void> {
    const ownEntry = this.ownEntries.get(entry);
    if (ownEntry?.pipeline) await this.firstUse.run(ownEntry, ownEntry.pipeline).catch(() => undefined);
  }

  close(): void {
    this.gpu.close();
  }
}
