import type { Gpu } from '../../../gpu/device.ts';
import { upload } from '../../../gpu/device.ts';
import type { Arena, Tensor } from '../../../gpu/tensor.ts';
import { storedTensor, type WeightSource } from '../../weightSource.ts';
import { deviceFormat, toDeviceFormat, type DeviceFormat } from './format.ts';

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

/**
 * Declares a matrix that stacks these tensors, in as few parts as possible with at most `limit` bytes per buffer.
 */
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

/**
 * Reads a matrix's tensors and uploads them. Holds the bytes of the whole matrix in memory meanwhile. Throws
 * ProblemError that names file and tensor.
 */
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
