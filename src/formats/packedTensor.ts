import type { BlockFormat } from './blocks/blockFormats.ts';
import type { ByteSource } from './byteSource.ts';
import { ProblemError } from '../base/problem.ts';

/** A tensor as a file holds it; nothing of it has been read. */
export interface PackedTensor {
  readonly name: string; // the file's
  readonly shape: readonly number[]; // slowest dimension first, so [out, in] for a matrix
  readonly format: BlockFormat;
  readonly source: ByteSource;
  readonly begin: number; // first byte in the file
  readonly bytes: number;
}

/** Most bytes of a tensor that are held twice while it is read. */
const PIECE = 1 << 22;

/**
 * Reads a tensor's bytes in pieces of whole rows, at most 4 MiB or one row, into `out`, which has its size. `rowOf` says where each row goes, where rows
 * change places. Throws ProblemError, by file and tensor, on a source that gives fewer bytes, and on weights that are not finite.
 */
export async function readPacked(
  tensor: PackedTensor,
  out: Uint8Array,
  rowOf?: (row: number) => number,
): Promise<void> {
  const { name, shape, format, source, begin, bytes } = tensor;
  if (out.length !== bytes)
    throw new Error(`readPacked: there is room for ${out.length} bytes, and ${name} has ${bytes}.`);
  const rowBytes = ((shape.at(-1) ?? 1) / format.weights) * format.bytes;
  const step = Math.max(1, Math.floor(PIECE / rowBytes)) * rowBytes;
  for (let at = 0; at < bytes; at += step) {
    const length = Math.min(step, bytes - at);
    const piece = await source.read(begin + at, begin + at + length);
    if (piece.length !== length) {
      throw wrong(
        tensor,
        `${piece.length} bytes from byte ${begin + at} on`,
        `${length}; the file may have been cut off`,
      );
    }
    if (!format.finite(piece)) throw wrong(tensor, 'a weight that is not finite', 'finite weights');
    if (!rowOf) out.set(piece, at);
    else {
      for (let row = 0; row * rowBytes < length; row++) {
        const to = rowOf(at / rowBytes + row) * rowBytes;
        out.set(piece.subarray(row * rowBytes, (row + 1) * rowBytes), to);
      }
    }
  }
}

/** Weights that are compared at once: a multiple of every format's block. */
const COMPARED = 1 << 20;

/** Whether two tensors of one shape have the same weights, however they are packed. Reads both in pieces, up to the first that differs. */
export async function equalPacked(a: PackedTensor, b: PackedTensor): Promise<boolean> {
  const size = a.shape.reduce((product, n) => product * n, 1);
  for (let at = 0; at < size; at += COMPARED) {
    const [left, right] = await Promise.all([a, b].map((tensor) => widenedPiece(tensor, at, Math.min(size, at + COMPARED)))); // prettier-ignore
    if (left!.some((x, i) => x !== right![i])) return false;
  }
  return true;
}

async function widenedPiece(tensor: PackedTensor, begin: number, end: number): Promise<Float32Array> {
  const { format, source } = tensor;
  const place = (weight: number) => tensor.begin + (weight / format.weights) * format.bytes;
  const piece = await source.read(place(begin), place(end));
  const length = place(end) - place(begin);
  if (piece.length !== length) throw wrong(tensor, `${piece.length} bytes from byte ${place(begin)} on`, `${length}; the file may have been cut off`); // prettier-ignore
  const out = new Float32Array(end - begin);
  format.widen(out, piece);
  return out;
}

const wrong = ({ source, name }: PackedTensor, got: string, want: string) =>
  new ProblemError([{ file: source.name, place: name, got, want, remedy: 'Fetch or export the file anew.' }]);
