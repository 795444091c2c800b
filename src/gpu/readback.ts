import { createBuffer, destroyBuffer, submit, type Gpu } from './device.ts';
import type { Tensor } from './tensor.ts';

/** Reads a fixed set of tensors together, through a staging buffer that is created once. One read at a time. */
export class Readback {
  private readonly gpu: Gpu;
  private readonly tensors: readonly Tensor[];
  private readonly staging: GPUBuffer;
  private readonly starts: readonly number[];

  constructor(gpu: Gpu, label: string, tensors: readonly Tensor[]) {
    this.gpu = gpu;
    this.tensors = tensors;
    let bytes = 0;
    this.starts = tensors.map((t) => {
      const start = bytes;
      bytes += t.bytes;
      return start;
    });
    this.staging = createBuffer(gpu, label, Math.max(4, bytes), GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
  }

  /** Encodes the copies of the first `count` tensors, all by default; call before the submit that `read` waits for. */
  encode(encoder: GPUCommandEncoder, count = this.tensors.length): void {
    for (const [i, t] of this.tensors.slice(0, count).entries()) {
      encoder.copyBufferToBuffer(t.buffer, t.offset, this.staging, this.starts[i]!, t.bytes);
    }
  }

  /** Waits for the copies of the first `count` tensors. Returns the words of each tensor. */
  async read(count = this.tensors.length): Promise<Uint32Array<ArrayBuffer>[]> {
    this.gpu.counters.readbacks++;
    const tensors = this.tensors.slice(0, count);
    const bytes = Math.max(
      4,
      tensors.reduce((sum, t) => sum + t.bytes, 0),
    );
    await this.staging.mapAsync(GPUMapMode.READ, 0, bytes);
    const all = this.staging.getMappedRange(0, bytes).slice(0);
    this.staging.unmap();
    return tensors.map((t, i) => new Uint32Array(all, this.starts[i], t.bytes / 4));
  }

  destroy(): void {
    destroyBuffer(this.gpu, this.staging);
  }
}

/** Reads tensors once, with a temporary staging buffer: for snapshots and tests, not for the training loop. */
export async function readOnce(gpu: Gpu, tensors: readonly Tensor[]): Promise<Uint32Array<ArrayBuffer>[]> {
  const readback = new Readback(gpu, 'read once', tensors);
  submit(gpu, (encoder) => readback.encode(encoder));
  try {
    return await readback.read();
  } finally {
    readback.destroy();
  }
}
