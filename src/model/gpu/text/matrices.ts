import type { Gpu } from '../../../gpu/device.ts';
import { upload } from '../../../gpu/device.ts';
import type { Arena, Tensor } from '../../../gpu/tensor.ts';
import { storedTensor, type WeightSource } from '../../weightSource.ts';
import { deviceFormat, repacked, type DeviceFormat } from './format.ts';

/** Rows of a matrix that lie in one buffer. */
export interface Part {
  readonly first: number;
  readonly rows: number;
  readonly weights: Tensor; // (words) its blocks, as its file packs them
}

/** A matrix (rows, K), or several of one input one below the other, packed on the device. */
export interface Matrix {
  readonly names: readonly string[]; // of its tensors, in order
  readonly rows: number;
  readonly K: number;
  readonly format: DeviceFormat;
  readonly parts: readonly Part[];
}

/** Parts begin at rows whose columns in a product begin at 256 bytes. */
const ROWS = 64;
/** Bytes that are uploaded at once. */
const PIECE = 1 << 24;

/** Declares the matrix of these tensors, in as few parts as `limit` bytes a buffer allow. */
export function declareMatrix(arena: Arena, source: WeightSource, names: readonly string[], limit: number): Matrix {
  const tensors = names.map((name) => storedTensor(source, name));
  const format = deviceFormat(tensors.map((tensor) => tensor.format));
  const K = tensors[0]!.shape[1]!;
  const rows = tensors.reduce((sum, { shape }) => sum + shape[0]!, 0);
  const rowBytes = (K / format.weights) * format.bytes;
  const most = Math.max(ROWS, Math.floor(limit / rowBytes / ROWS) * ROWS);
  const parts = Array.from({ length: Math.ceil(rows / most) }, (_, i): Part => {
    const count = Math.min(most, rows - i * most);
    const weights = arena.declare(`${names[0]} ${i}`, [Math.ceil((count * rowBytes) / 4)]);
    return { first: i * most, rows: count, weights };
  });
  return { names, rows, K, format, parts };
}

/** Reads a matrix's tensors and uploads them; one matrix's bytes are in memory at a time. Throws ProblemError, by file and tensor. */
export async function loadMatrix(gpu: Gpu, source: WeightSource, matrix: Matrix): Promise<void> {
  const { format, K, parts } = matrix;
  const rowBytes = (K / format.weights) * format.bytes;
  const all = new Uint8Array(Math.ceil((matrix.rows * rowBytes) / 4) * 4);
  let at = 0;
  for (const name of matrix.names) {
    const tensor = storedTensor(source, name);
    const own = tensor.format.name === format.name;
    const into = own ? all.subarray(at, at + tensor.bytes) : new Uint8Array(tensor.bytes);
    await tensor.read(into);
    if (!own) all.set(repacked(into, tensor.format, format), at);
    at += tensor.shape[0]! * rowBytes;
  }
  for (const { first, weights } of parts) {
    for (let done = 0; done < weights.bytes; done += PIECE) {
      const words = Math.min(PIECE, weights.bytes - done) / 4;
      upload(gpu, weights.buffer, weights.offset + done, new Uint32Array(all.buffer, first * rowBytes + done, words));
    }
  }
}
