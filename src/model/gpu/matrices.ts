import { type Gpu, upload } from '../../gpu/device.ts';
import type { Arena, Tensor } from '../../gpu/tensor.ts';
import { storedTensor, type WeightSource } from '../weightSource.ts';
import type { BlockFormat } from '../../formats/blocks/blockFormats.ts';
import { toFloat16 } from '../../formats/blocks/float16.ts';
import type { Kernel } from '../../gpu/kernel.ts';
import * as kernels from '../../gpu/kernels/index.ts';

interface DeviceFormat {
  readonly name: string; // as ggml and safetensors name it
  readonly weightsPerBlock: number; // per block
  readonly bytesPerBlock: number; // per block
  readonly tilesKernel: Kernel; // products of many rows
  readonly fewRowsKernel: Kernel; // products of few rows
  readonly embedKernel: Kernel; // rows of an embedding table
}

const F32: DeviceFormat = {
  name: 'F32',
  weightsPerBlock: 1,
  bytesPerBlock: 4,
  tilesKernel: kernels.matmulTiles,
  fewRowsKernel: kernels.matmulRowsFloats,
  embedKernel: kernels.embedFloats,
};
const F16: DeviceFormat = {
  name: 'F16',
  weightsPerBlock: 1,
  bytesPerBlock: 2,
  tilesKernel: kernels.matmulTilesPackedHalves,
  fewRowsKernel: kernels.matmulRowsPackedHalves,
  embedKernel: kernels.embedPackedHalves,
};
const BF16: DeviceFormat = {
  name: 'BF16',
  weightsPerBlock: 1,
  bytesPerBlock: 2,
  tilesKernel: kernels.matmulTilesBf16,
  fewRowsKernel: kernels.matmulRowsBf16,
  embedKernel: kernels.embedBf16,
};
const Q8_0: DeviceFormat = {
  name: 'Q8_0',
  weightsPerBlock: 32,
  bytesPerBlock: 34,
  tilesKernel: kernels.matmulTilesQ80,
  fewRowsKernel: kernels.matmulRowsQ80,
  embedKernel: kernels.embedQ80,
};
const Q4_1: DeviceFormat = {
  name: 'Q4_1',
  weightsPerBlock: 32,
  bytesPerBlock: 20,
  tilesKernel: kernels.matmulTilesQ41,
  fewRowsKernel: kernels.matmulRowsQ41,
  embedKernel: kernels.embedQ41,
};
const Q4_0: DeviceFormat = {
  name: 'Q4_0',
  weightsPerBlock: 32,
  bytesPerBlock: 18,
  tilesKernel: kernels.matmulTilesQ40,
  fewRowsKernel: kernels.matmulRowsQ40,
  embedKernel: kernels.embedQ40,
};
const DEVICE_FORMATS: ReadonlyMap<string, DeviceFormat> = new Map(
  [F32, F16, BF16, Q8_0, Q4_1, Q4_0].map((format) => [format.name, format]),
);

/** For stacked matrices: their own format if they share one that kernels read; else F16, or F32 if one of them is F32 or BF16. */
export function deviceFormat(formats: readonly BlockFormat[]): DeviceFormat {
  const names = new Set(formats.map(({ name }) => name));
  const [firstName] = names;
  const common = names.size === 1 ? DEVICE_FORMATS.get(firstName ?? '') : undefined;
  if (common) return common;
  return names.has('F32') || names.has('BF16') ? F32 : F16;
}

/** Converts weights from blocks of a file to the device format. Returns the same bytes if the format is the same. */
export function toDeviceFormat(bytes: Uint8Array, format: BlockFormat, target: DeviceFormat): Uint8Array {
  if (format.name === target.name) return bytes;
  const floats = new Float32Array((bytes.length / format.blockBytes) * format.blockWeights);
  format.toFloat32(floats, bytes);
  return new Uint8Array(target === F32 ? floats.buffer : toFloat16(floats).buffer);
}

/** Consecutive rows of a matrix, in one buffer. */
export interface MatrixPart {
  readonly firstRow: number;
  readonly rows: number;
  readonly weights: Tensor; // blocks in the device format, as 4-byte words
}

/** A packed matrix (rows, K) on the device. It can stack several matrices that have the same input. */
export interface Matrix {
  readonly names: readonly string[]; // of the stacked tensors, in order
  readonly rows: number;
  readonly K: number;
  readonly format: DeviceFormat;
  readonly parts: readonly MatrixPart[];
}

/** Parts begin at multiples of this many rows, so that their columns in a product begin at multiples of 256 bytes. */
const PART_ROWS = 64;
/** Maximum bytes per upload. */
const UPLOAD_BYTES = 1 << 24;

/** Declares a matrix that stacks these tensors, in as few parts as possible with at most `limit` bytes per buffer. */
export function declareMatrix(arena: Arena, source: WeightSource, names: readonly string[], limit: number): Matrix {
  const tensors = names.map((name) => storedTensor(source, name));
  const format = deviceFormat(tensors.map((tensor) => tensor.format));
  const K = tensors[0]!.shape[1]!;
  const rows = tensors.reduce((sum, { shape }) => sum + shape[0]!, 0);
  const rowBytes = (K / format.weightsPerBlock) * format.bytesPerBlock;
  const maxRows = Math.max(PART_ROWS, Math.floor(limit / rowBytes / PART_ROWS) * PART_ROWS);
  const parts = Array.from({ length: Math.ceil(rows / maxRows) }, (_, i): MatrixPart => {
    const count = Math.min(maxRows, rows - i * maxRows);
    const weights = arena.declare(`${names[0]} ${i}`, [Math.ceil((count * rowBytes) / 4)]);
    return { firstRow: i * maxRows, rows: count, weights };
  });
  return { names, rows, K, format, parts };
}

/** Holds the bytes of the whole matrix in memory meanwhile. Throws ProblemError that names file and tensor. */
export async function loadMatrix(gpu: Gpu, source: WeightSource, matrix: Matrix): Promise<void> {
  const { format, K, parts } = matrix;
  const rowBytes = (K / format.weightsPerBlock) * format.bytesPerBlock;
  const matrixBytes = new Uint8Array(Math.ceil((matrix.rows * rowBytes) / 4) * 4);
  let at = 0;
  for (const name of matrix.names) {
    const tensor = storedTensor(source, name);
    const sameFormat = tensor.format.name === format.name;
    const target = sameFormat ? matrixBytes.subarray(at, at + tensor.bytes) : new Uint8Array(tensor.bytes);
    await tensor.read(target);
    if (!sameFormat) matrixBytes.set(toDeviceFormat(target, tensor.format, format), at);
    at += tensor.shape[0]! * rowBytes;
  }
  for (const { firstRow: first, weights } of parts) {
    for (let done = 0; done < weights.bytes; done += UPLOAD_BYTES) {
      const words = Math.min(UPLOAD_BYTES, weights.bytes - done) / 4;
      upload(
        gpu,
        weights.buffer,
        weights.offset + done,
        new Uint32Array(matrixBytes.buffer, first * rowBytes + done, words),
      );
    }
  }
}

/** A matrix (rows, K) of a network's own numbers, f32 or f16: a slice of the tensor of all its weights. */
export function floatMatrix(name: string, rows: number, K: number, weights: Tensor): Matrix {
  return { names: [name], rows, K, format: F32, parts: [{ firstRow: 0, rows, weights }] };
}
