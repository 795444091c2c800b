import { createBuffer, destroyBuffer, submit, type Gpu } from './device.ts';
import type { Kernel } from './kernel.ts';

const PLACE = 1024; // bytes for each binding, more than any struct takes
const PLACES = 16; // bindings of one kernel at most

/** What a pipeline is run with. */
interface Runnable {
  readonly kernel: Kernel;
  readonly layout: GPUBindGroupLayout;
}

/**
 * Runs pipelines once, on nothing. Drivers of software adapters may leave compiling to the first use, one pipeline after
 * another in their queue. What is used at once is compiled while others are still being made, and a page can say how far that
 * is; left to the first update, it would stand still there. With every size 0 a kernel has nothing to loop over.
 */
export class FirstUse {
  private readonly gpu: Gpu;
  private readonly read: GPUBuffer; // zeros
  private readonly written: GPUBuffer;

  constructor(gpu: Gpu) {
    this.gpu = gpu;
    const { STORAGE, UNIFORM } = GPUBufferUsage;
    this.read = createBuffer(gpu, 'first use, read', PLACE, STORAGE | UNIFORM);
    this.written = createBuffer(gpu, 'first use, written', PLACE * PLACES, STORAGE);
  }

  /** Runs one workgroup; resolves when that is done. */
  async run({ kernel, layout }: Runnable, pipeline: GPUComputePipeline): Promise<void> {
    const { device, counters } = this.gpu;
    const kinds = [...kernel.bindings.map(({ access }) => access), 'uniform'];
    counters.creations++;
    const group = device.createBindGroup({
      label: 'first use',
      layout,
      entries: kinds.map((kind, binding) => ({
        binding,
        resource:
          kind === 'read_write'
            ? { buffer: this.written, offset: PLACE * binding, size: PLACE }
            : { buffer: this.read, size: PLACE },
      })),
    });
    submit(this.gpu, (encoder) => {
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(1);
      pass.end();
      counters.dispatches++;
    });
    await device.queue.onSubmittedWorkDone();
  }

  destroy(): void {
    destroyBuffer(this.gpu, this.read);
    destroyBuffer(this.gpu, this.written);
  }
}
