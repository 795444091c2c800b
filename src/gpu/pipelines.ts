import { NoGpuError } from './gpuAdapter.ts';
import type { Gpu } from './device.ts';
import { sourceWithFloat16, type Constants, type Float16Aliases, type Kernel } from './kernel.ts';

/** A kernel with its constants and its f16 aliases, and its pipeline once that is compiled. */
export interface PipelineEntry {
  readonly layout: GPUBindGroupLayout;
  readonly constants: Constants;
  readonly kernel: Kernel;
  readonly float16Aliases: Float16Aliases;
  readonly name: string; // of the kernel, and of the aliases that stand for f16
  pipeline: GPUComputePipeline | null;
}

const pipelinesByDevice = new WeakMap<GPUDevice, Pipelines>();

/** Plans request pipelines (by kernel, constants and f16 aliases) while they are recorded; `compile` then creates them together. */
export class Pipelines {
  private readonly gpu: Pick<Gpu, 'device' | 'counters'>;
  private readonly entriesByKey = new Map<string, PipelineEntry>();
  private readonly layouts = new Map<string, GPUBindGroupLayout>();
  private readonly modules = new Map<string, GPUShaderModule>();

  constructor(gpu: Pick<Gpu, 'device' | 'counters'>) {
    this.gpu = gpu;
  }

  /** The pipelines of a device. What one run has compiled, later runs on the device find compiled. */
  static forDevice(gpu: Gpu): Pipelines {
    let pipelines = pipelinesByDevice.get(gpu.device);
    if (!pipelines) {
      pipelines = new Pipelines(gpu);
      pipelinesByDevice.set(gpu.device, pipelines);
    }
    return pipelines;
  }

  /** All requested entries, in the order of their first request. */
  get entries(): readonly PipelineEntry[] {
    return [...this.entriesByKey.values()];
  }

  /** The entry of a kernel with these constants and f16 aliases. Adds it at the first request. */
  request(kernel: Kernel, constants: Constants, float16Aliases: Float16Aliases = []): PipelineEntry {
    const name = float16Aliases.length > 0 ? `${kernel.name} (f16 ${float16Aliases.join(', ')})` : kernel.name;
    const key = `${name} ${JSON.stringify(constants)}`;
    let entry = this.entriesByKey.get(key);
    if (!entry) {
      entry = { kernel, constants, float16Aliases, name, layout: this.layout(kernel), pipeline: null };
      this.entriesByKey.set(key, entry);
    }
    return entry;
  }

  private layout(kernel: Kernel): GPUBindGroupLayout {
    const accesses = [...kernel.bindings.map((b) => b.access), 'uniform' as const];
    const key = accesses.join(' ');
    let layout = this.layouts.get(key);
    if (!layout) {
      const types = { read: 'read-only-storage', read_write: 'storage', uniform: 'uniform' } as const;
      layout = this.gpu.device.createBindGroupLayout({
        entries: accesses.map((access, binding) => ({
          binding,
          visibility: GPUShaderStage.COMPUTE,
          buffer: { type: types[access] },
        })),
      });
      this.layouts.set(key, layout);
    }
    return layout;
  }

  /** Creates the pipeline of an entry. Throws NoGpuError. */
  async createPipeline({
    kernel,
    layout,
    constants,
    float16Aliases,
    name,
  }: PipelineEntry): Promise<GPUComputePipeline> {
    const device = this.gpu.device;
    let module = this.modules.get(name);
    if (!module) {
      module = device.createShaderModule({ label: name, code: sourceWithFloat16(kernel, float16Aliases) });
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
      throw new NoGpuError(lines.length > 0 ? lines.join('\n') : `${kernel.name}: ${String(error)}`);
    }
  }
}
