import type { Gpu } from './device.ts';
import { FirstUse } from './firstUse.ts';
import { Pipelines, type PipelineEntry } from './pipelines.ts';

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
      twin.pipeline = await pipelines.make(twin).catch(() => null); // it fails on the first device too, and is told there
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
