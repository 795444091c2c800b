import { createBuffer, destroyBuffer, submit, type Gpu } from './device.ts';
import type { Kernel } from './kernel.ts';

const BINDING_BYTES = 1024; // per binding, more than any struct takes
const MAX_BINDINGS = 16; // of one kernel

/** The kernel of a pipeline, and its layout. */
interface Runnable {
  readonly kernel: Kernel;
  readonly layout: GPUBindGroupLayout;
}

/**
 * Runs pipelines once, on empty data. Drivers of software adapters may compile a pipeline only at its first use, one
 * after another in their queue. If each is used right away, a page can show how many are compiled; otherwise the first
 * update would seem to hang. With all sizes 0 a kernel has nothing to loop over.
 */
export class FirstUse {
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
