import { createBuffer, destroyBuffer, type Gpu } from './device.ts';
import type { Binding, Constants, Dims, Float16Aliases, Kernel } from './kernel.ts';
import type { PipelineEntry, Pipelines } from './pipelines.ts';
import { scalarBytes, type Tensor } from './tensor.ts';
import { uniformBytes } from './uniform.ts';

export interface Dispatch {
  readonly kind: 'dispatch';
  readonly entry: PipelineEntry;
  readonly bindGroup: GPUBindGroup;
  readonly grid: readonly [number, number, number];
  readonly dims: Dims;
}
type Op =
  | Dispatch
  | {
      readonly kind: 'copy';
      readonly from: Tensor;
      readonly start: number;
      readonly to: Tensor;
      readonly bytes: number;
    }
  | { readonly kind: 'clear'; readonly tensor: Tensor };

const SLOT_BYTES = 256; // uniform offsets are multiples of this many bytes
const BUFFER_SLOTS = 256; // slots in one uniform buffer, one per shape

/** The sizes and strides of dispatches. Each different shape is written once, into a slot that dispatches with equal shapes share. */
export class ShapeUniforms {
  private readonly gpu: Gpu;
  private readonly bindingsByShape = new Map<string, GPUBufferBinding>();
  private readonly buffers: GPUBuffer[] = [];

  constructor(gpu: Gpu) {
    this.gpu = gpu;
  }

  /** The slot with this shape, given as 32-bit words. Writes it if no slot has it yet. */
  slotFor(words: readonly number[]): GPUBufferBinding {
    const key = words.join(' ');
    let binding = this.bindingsByShape.get(key);
    if (!binding) {
      const index = this.bindingsByShape.size % BUFFER_SLOTS;
      if (index === 0) {
        this.buffers.push(
          createBuffer(this.gpu, 'shapes', SLOT_BYTES * BUFFER_SLOTS, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST),
        );
      }
      const buffer = this.buffers.at(-1)!;
      this.gpu.device.queue.writeBuffer(buffer, index * SLOT_BYTES, new Uint32Array(words));
      binding = { buffer, offset: index * SLOT_BYTES, size: Math.ceil((words.length * 4) / 16) * 16 };
      this.bindingsByShape.set(key, binding);
    }
    return binding;
  }

  destroy(): void {
    for (const buffer of this.buffers) destroyBuffer(this.gpu, buffer);
  }
}

export interface Recorder {
  readonly gpu: Gpu;
  readonly pipelines: Pipelines;
  readonly shapes: ShapeUniforms;
}

/** Recorded once and then replayed: a replay creates no bind group, buffer or pipeline. */
export class Plan {
  readonly label: string;
  private readonly recorder: Recorder;
  private readonly ops: Op[] = [];
  /** How many times this plan was encoded. */
  replays = 0;

  constructor(recorder: Recorder, label: string) {
    this.recorder = recorder;
    this.label = label;
  }

  /** Throws if the tensors, their number formats, the shape fields or the access modes do not fit the kernel. */
  dispatch(kernel: Kernel, tensors: Readonly<Record<string, Tensor>>, dims: Dims, constants: Constants = {}): void {
    const { gpu, pipelines, shapes } = this.recorder;
    const context = `${this.label} / ${kernel.name}`;
    const unknown = Object.keys(tensors).find((name) => !kernel.bindings.some((b) => b.name === name));
    if (unknown)
      throw new Error(
        `${context}: there is a tensor for ${unknown}, but the kernel binds ${kernel.bindings.map((b) => b.name).join(', ')}.`,
      );
    const boundTensors = kernel.bindings.map((binding) => {
      const tensor = tensors[binding.name];
      if (!tensor)
        throw new Error(
          `${context}: there is no tensor for ${binding.name}. There are ${Object.keys(tensors).join(', ')}.`,
        );
      if (binding.struct && tensor.bytes < uniformBytes(binding.struct))
        throw new Error(
          `${context}: ${tensor.name} has ${tensor.bytes} bytes; struct ${binding.struct.name} has ${uniformBytes(binding.struct)}.`,
        );
      return { binding, tensor };
    });
    for (const written of boundTensors.filter((b) => b.binding.access === 'read_write')) {
      const other = boundTensors.find((b) => b !== written && b.tensor.buffer === written.tensor.buffer);
      if (other)
        throw new Error(
          `${context}: ${written.tensor.name} is written while ${other.tensor.name} of the same buffer is bound.`,
        );
    }
    const words = kernel.dims.map((name) => {
      const value = dims[name];
      if (value === undefined)
        throw new Error(`${context}: the shape field ${name} is missing. There are ${Object.keys(dims).join(', ')}.`);
      return value;
    });
    const grid = kernel.grid(dims);
    const [x, y = 1, z = 1] = grid;
    if (Math.max(x, y, z) > 65535)
      throw new Error(`${context}: a grid of ${grid.join('×')} workgroups is too large: the limit is 65,535 each way.`);
    const entry = pipelines.request(kernel, constants, float16AliasesOf(boundTensors, context));
    gpu.counters.creations++;
    const bindGroup = gpu.device.createBindGroup({
      label: kernel.name,
      layout: entry.layout,
      entries: [
        ...boundTensors.map(({ tensor }, binding) => ({
          binding,
          resource: { buffer: tensor.buffer, offset: tensor.offset, size: Math.max(4, tensor.bytes) },
        })),
        { binding: boundTensors.length, resource: shapes.slotFor(words) },
      ],
    });
    this.ops.push({ kind: 'dispatch', entry, bindGroup, grid: [x, y, z], dims });
  }

  /** Adds a copy of `bytes` from scalar `start` of `from` to the beginning of `to`. */
  copy(from: Tensor, start: number, to: Tensor, bytes = to.bytes): void {
    this.ops.push({ kind: 'copy', from, start, to, bytes });
  }

  clear(tensor: Tensor): void {
    this.ops.push({ kind: 'clear', tensor });
  }

  get dispatches(): readonly Dispatch[] {
    return this.ops.filter((op) => op.kind === 'dispatch');
  }

  get dispatchCount(): number {
    return this.dispatches.length;
  }

  get flops(): number {
    return this.dispatches.reduce((sum, op) => sum + op.entry.kernel.flops(op.dims), 0);
  }

  /** Encodes the whole list `times` times. Dispatches in a row share a compute pass. */
  encode(encoder: GPUCommandEncoder, times = 1): void {
    let pass: GPUComputePassEncoder | null = null;
    let current: GPUComputePipeline | null = null;
    for (let i = 0; i < times; i++) {
      for (const op of this.ops) {
        if (op.kind === 'dispatch') {
          const pipeline = op.entry.pipeline;
          if (!pipeline)
            throw new Error(
              `${this.label}: ${op.entry.kernel.name} is not compiled; open the policy for this work, too.`,
            );
          pass ??= encoder.beginComputePass();
          if (pipeline !== current) pass.setPipeline(pipeline);
          current = pipeline;
          pass.setBindGroup(0, op.bindGroup);
          pass.dispatchWorkgroups(...op.grid);
          continue;
        }
        pass?.end();
        pass = null;
        current = null;
        if (op.kind === 'copy') {
          encoder.copyBufferToBuffer(
            op.from.buffer,
            op.from.offset + op.start * scalarBytes(op.from.scalarType),
            op.to.buffer,
            op.to.offset,
            op.bytes,
          );
        } else {
          encoder.clearBuffer(op.tensor.buffer, op.tensor.offset, op.tensor.bytes);
        }
      }
    }
    pass?.end();
    this.replays += times;
    this.recorder.gpu.counters.dispatches += this.dispatchCount * times;
  }
}

/** Aliases whose tensors hold f16. Throws if a binding without an alias gets f16, or if an alias has both f16 and f32. */
function float16AliasesOf(
  bound: readonly { readonly binding: Binding; readonly tensor: Tensor }[],
  context: string,
): Float16Aliases {
  const aliases = new Set<string>();
  for (const { binding, tensor } of bound) {
    if (tensor.scalarType === 'f32') continue;
    if (binding.alias === null) throw new Error(`${context}: ${tensor.name} holds halves; ${binding.name} wants f32.`);
    aliases.add(binding.alias);
  }
  for (const { binding, tensor } of bound) {
    if (tensor.scalarType === 'f32' && binding.alias !== null && aliases.has(binding.alias))
      throw new Error(`${context}: ${tensor.name} holds f32, and other tensors of ${binding.alias} hold halves.`);
  }
  return [...aliases];
}
