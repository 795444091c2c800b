import { createBuffer, destroyBuffer, submit, upload, type Gpu } from './device.ts';

/** Type of a scalar. f16 takes 2 bytes, f32 takes 4. Integers take 4 and also count as f32. */
export type ScalarType = 'f32' | 'f16';

export function scalarBytes(scalar: ScalarType): number {
  return scalar === 'f16' ? 2 : 4;
}

export interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly scalarType: ScalarType;
  readonly bytes: number; // a multiple of 4, as bindings and copies require
  readonly offset: number; // bytes, a multiple of 256
  readonly buffer: GPUBuffer; // throws before the arena has allocated
}

/** A size of the model or its batch that a tensor can grow with. */
export type Dimension = 'rows' | 'minibatchRows' | 'length' | 'width' | 'ffn' | 'layers';

/** Thrown if the adapter cannot hold a tensor. Nothing stays allocated. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
  readonly tensor: string;
  readonly dimensions: readonly Dimension[]; // sizes that the tensor grows with
  constructor(tensor: string, message: string, dimensions: readonly Dimension[]) {
    super(message);
    this.tensor = tensor;
    this.dimensions = dimensions;
  }
}

/** Slices of a buffer start at multiples of this many bytes. */
const OFFSET_BYTES = 256;
/** A slice that starts at a multiple of this many scalars is aligned, whether its scalars are f16 or f32. */
const ALIGNED_SCALARS = OFFSET_BYTES / 2;

export function alignUp(scalars: number): number {
  return Math.ceil(scalars / ALIGNED_SCALARS) * ALIGNED_SCALARS;
}

/** Bytes of a shape's scalars, rounded up to whole words. */
function shapeBytes(shape: readonly number[], scalarType: ScalarType): number {
  const count = shape.reduce((a, b) => a * b, 1);
  return Math.ceil((count * scalarBytes(scalarType)) / 4) * 4;
}

interface DeclaredTensor {
  readonly name: string;
  readonly bytes: number;
  readonly usage: number;
  readonly dimensions: readonly Dimension[];
  buffer: GPUBuffer | null;
}

/** All are declared, then checked against the adapter's limits, then allocated: a model that does not fit is refused before. */
export class Arena {
  private readonly gpu: Gpu;
  private readonly declared: DeclaredTensor[] = [];

  constructor(gpu: Gpu) {
    this.gpu = gpu;
  }

  /**
   * Declares a zeroed tensor with a buffer of its own. `dimensions` are the sizes that LimitError names if the tensor
   * does not fit.
   */
  declare(
    name: string,
    shape: readonly number[],
    dimensions: readonly Dimension[] = [],
    usage = 0,
    scalarType: ScalarType = 'f32',
  ): Tensor {
    const bytes = shapeBytes(shape, scalarType);
    const entry: DeclaredTensor = { name, bytes: Math.max(16, bytes), usage, dimensions, buffer: null };
    this.declared.push(entry);
    return {
      name,
      shape,
      scalarType,
      bytes,
      offset: 0,
      get buffer() {
        if (!entry.buffer) throw new Error(`${name}: used before the arena allocated it.`);
        return entry.buffer;
      },
    };
  }

  /** Every tensor with a buffer of its own. */
  get declaredTensors(): readonly { readonly name: string; readonly bytes: number }[] {
    return this.declared.map(({ name, bytes }) => ({ name, bytes }));
  }

  get bytes(): number {
    return this.declared.reduce((sum, d) => sum + d.bytes, 0);
  }

  /**
   * Checks all declarations, then allocates. Throws LimitError if a tensor is too large, or if memory runs out; then
   * all buffers are destroyed.
   */
  async allocate(): Promise<void> {
    const limits = this.gpu.device.limits;
    const limit = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
    for (const d of this.declared) {
      if (d.bytes > limit) {
        const limitName = limit === limits.maxBufferSize ? 'maxBufferSize' : 'maxStorageBufferBindingSize';
        throw new LimitError(
          d.name,
          `${d.name} needs ${d.bytes} bytes; this adapter's ${limitName} is ${limit}.`,
          d.dimensions,
        );
      }
    }
    this.gpu.device.pushErrorScope('out-of-memory');
    const commonUsage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    for (const d of this.declared) d.buffer ??= createBuffer(this.gpu, d.name, d.bytes, commonUsage | d.usage);
    const memoryError = await this.gpu.device.popErrorScope();
    if (memoryError) {
      this.destroy();
      const dimensions = [...new Set(this.declared.flatMap((d) => d.dimensions))];
      throw new LimitError(
        'arena',
        `The adapter has no ${this.bytes} bytes left for this model: ${memoryError.message}`,
        dimensions,
      );
    }
    if (this.gpu.software) this.clearAll();
  }

  /** WebGPU would zero each at its first use, and on software adapters the first step would then wait for every memory page. */
  private clearAll(): void {
    submit(this.gpu, (encoder) => {
      for (const { buffer } of this.declared) if (buffer) encoder.clearBuffer(buffer);
    });
  }

  destroy(): void {
    for (const d of this.declared) {
      if (d.buffer) destroyBuffer(this.gpu, d.buffer);
      d.buffer = null;
    }
  }
}

/** A view of `shape` that begins `start` scalars into `parent`, at a multiple of 256 bytes. Throws RangeError. */
export function slice(parent: Tensor, name: string, start: number, shape: readonly number[]): Tensor {
  const { scalarType } = parent;
  const offset = parent.offset + start * scalarBytes(scalarType);
  if (offset % OFFSET_BYTES !== 0)
    throw new RangeError(
      `${name}: starts at scalar ${start}, which is not a multiple of ${OFFSET_BYTES / scalarBytes(scalarType)}.`,
    );
  const bytes = shapeBytes(shape, scalarType);
  if (offset + bytes > parent.offset + parent.bytes) {
    throw new RangeError(
      `${name}: ${shape.join('×')} from ${start} goes past the end of ${parent.name} (${parent.shape.join('×')}).`,
    );
  }
  return {
    name,
    shape,
    scalarType,
    bytes,
    offset,
    get buffer() {
      return parent.buffer;
    },
  };
}

/** Writes 32-bit words into a tensor, from word `start` on. Throws RangeError if they do not fit. */
export function write(gpu: Gpu, tensor: Tensor, data: Uint32Array | Int32Array | Float32Array, start = 0): void {
  if (start * 4 + data.byteLength > tensor.bytes) {
    throw new RangeError(`${tensor.name}: ${data.length} words at ${start} don’t fit: it holds ${tensor.bytes / 4}.`);
  }
  upload(gpu, tensor.buffer, tensor.offset + start * 4, data);
}
