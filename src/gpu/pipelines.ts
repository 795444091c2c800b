import type { Gpu } from './device.ts';
import { FirstUse } from './firstUse.ts';
import { sourceWith, type Constants, type Halves, type Kernel } from './kernel.ts';

interface Entry {
  readonly layout: GPUBindGroupLayout;
  readonly constants: Constants;
  readonly kernel: Kernel;
  readonly halves: Halves;
  readonly name: string; // of the kernel, and of the aliases that stand for f16
  pipeline: GPUComputePipeline | null;
}

/** WGSL that does not compile; the message lists file, line and reason. */
class ShaderError extends Error {
  override readonly name = 'ShaderError';
}

/**
 * Pipelines by kernel, constants and what is stored in halves, with explicit layouts. They are asked for while plans are recorded and compiled
 * together, in parallel, by `compile`.
 */
export class Pipelines {
  private readonly gpu: Gpu;
  private readonly entries = new Map<string, Entry>();
  private readonly layouts = new Map<string, GPUBindGroupLayout>();
  private readonly modules = new Map<string, GPUShaderModule>();

  constructor(gpu: Gpu) {
    this.gpu = gpu;
  }

  /** The entry of a kernel with these constants; its pipeline is there after the next `compile`. */
  want(kernel: Kernel, constants: Constants, halves: Halves = []): Entry {
    const name = halves.length > 0 ? `${kernel.name} (f16 ${halves.join(', ')})` : kernel.name;
    const key = `${name} ${JSON.stringify(constants)}`;
    let entry = this.entries.get(key);
    if (!entry) {
      entry = { kernel, constants, halves, name, layout: this.layout(kernel), pipeline: null };
      this.entries.set(key, entry);
    }
    return entry;
  }

  private layout(kernel: Kernel): GPUBindGroupLayout {
    const kinds = [...kernel.bindings.map((b) => b.access), 'uniform' as const];
    const key = kinds.join(' ');
    let layout = this.layouts.get(key);
    if (!layout) {
      const types = { read: 'read-only-storage', read_write: 'storage', uniform: 'uniform' } as const;
      layout = this.gpu.device.createBindGroupLayout({
        entries: kinds.map((kind, binding) => ({
          binding,
          visibility: GPUShaderStage.COMPUTE,
          buffer: { type: types[kind] },
        })),
      });
      this.layouts.set(key, layout);
    }
    return layout;
  }

  /**
   * Compiles whatever is wanted and not there yet, on a software adapter down to what its processor runs. Throws ShaderError.
   * `progress` hears how many are done.
   */
  async compile(progress: (done: number, total: number) => void = () => undefined): Promise<void> {
    const missing = [...this.entries.values()].filter((e) => !e.pipeline);
    if (missing.length === 0) return;
    const firstUse = this.gpu.software ? new FirstUse(this.gpu) : null;
    let done = 0;
    progress(0, missing.length);
    const compiled = missing.map(async (entry) => {
      const pipeline = await this.pipeline(entry);
      await firstUse?.run(entry, pipeline);
      entry.pipeline = pipeline;
      progress(++done, missing.length);
    });
    await Promise.allSettled(compiled); // one that fails must not take what others still run with
    firstUse?.destroy();
    await Promise.all(compiled);
  }

  private async pipeline({ kernel, layout, constants, halves, name }: Entry): Promise<GPUComputePipeline> {
    const device = this.gpu.device;
    let module = this.modules.get(name);
    if (!module) {
      module = device.createShaderModule({ label: name, code: sourceWith(kernel, halves) });
      this.modules.set(name, module);
    }
    this.gpu.counters.creations++;
    try {
      return await device.createComputePipelineAsync({
        label: name,
        layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: { module, entryPoint: 'main', constants },
      });
    } catch (error) {
      const { messages } = await module.getCompilationInfo();
      const lines = Array.from(messages, (m) => `${kernel.name}.wgsl:${m.lineNum}:${m.linePos} ${m.message}`);
      throw new ShaderError(lines.length > 0 ? lines.join('\n') : `${kernel.name}: ${String(error)}`);
    }
  }
}

export type { Entry as PipelineEntry };
