import type { BlockFormat } from './blocks/blockFormats.ts';
import type { ByteSource } from './byteSource.ts';
import { ProblemError } from '../base/problem.ts';

/** A tensor in a file. Its bytes have not been read. */
export interface PackedTensor {
  readonly name: string; // in the file
  readonly shape: readonly number[]; // slowest dimension first, so [out, in] for a matrix
  readonly format: BlockFormat;
  readonly source: ByteSource;
  readonly begin: number; // first byte in the file
  readonly bytes: number;
}

/** Size of the pieces in which a tensor is read. A piece is in memory twice, as read and in the output. */
const PIECE_BYTES = 1 << 22;

/**
 * Reads a tensor's bytes into `out`, which must have the tensor's size. Reads pieces of whole rows, of at most 4 MiB or
 * one row. `outputRow` maps each row of the file to its row in `out`, if rows change their order. Throws
 * ProblemError, with file and tensor, if the source gives fewer bytes or a weight is not finite.
 */
export async function readPacked(
  tensor: PackedTensor,
  out: Uint8Array,
  outputRow?: (row: number) => number,
): Promise<void> {
  const { name, shape, format, source, begin, bytes } = tensor;
  if (out.length !== bytes) throw new Error(`readPacked: out has ${out.length} bytes, but ${name} has ${bytes}.`);
  const rowBytes = ((shape.at(-1) ?? 1) / format.blockWeights) * format.blockBytes;
  const pieceBytes = Math.max(1, Math.floor(PIECE_BYTES / rowBytes)) * rowBytes;
  for (let at = 0; at < bytes; at += pieceBytes) {
    const length = Math.min(pieceBytes, bytes - at);
    const piece = await source.read(begin + at, begin + at + length);
    if (piece.length !== length) {
      throw problemWith(
        tensor,
        `${piece.length} bytes from byte ${begin + at} on`,
        `${length}; the file may have been cut off`,
      );
    }
    if (!format.allFinite(piece)) throw problemWith(tensor, 'a weight that is not finite', 'finite weights');
    if (!outputRow) out.set(piece, at);
    else {
      for (let row = 0; row * rowBytes < length; row++) {
        const target = outputRow(at / rowBytes + row) * rowBytes;
        out.set(piece.subarray(row * rowBytes, (row + 1) * rowBytes), target);
      }
    }
  }
}

/** Number of weights that are compared at a time. It is a multiple of every format's block size. */
const COMPARED_WEIGHTS = 1 << 20;

/** Compares any packings. Reads both tensors in pieces, up to the first difference. */
export async function equalPacked(a: PackedTensor, b: PackedTensor): Promise<boolean> {
  const size = a.shape.reduce((product, n) => product * n, 1);
  for (let at = 0; at < size; at += COMPARED_WEIGHTS) {
    const [left, right] = await Promise.all([a, b].map((tensor) => readWeights(tensor, at, Math.min(size, at + COMPARED_WEIGHTS)))); // prettier-ignore
    if (left!.some((x, i) => x !== right![i])) return false;
  }
  return true;
}

/** Weights `begin` to `end` (exclusive) as float32. Both are multiples of the block size, or the end of the tensor. */
async function readWeights(tensor: PackedTensor, begin: number, end: number): Promise<Float32Array> {
  const { format, source } = tensor;
  const byteOffset = (weight: number) => tensor.begin + (weight / format.blockWeights) * format.blockBytes;
  const piece = await source.read(byteOffset(begin), byteOffset(end));
  const length = byteOffset(end) - byteOffset(begin);
  if (piece.length !== length) throw problemWith(tensor, `${piece.length} bytes from byte ${byteOffset(begin)} on`, `${length}; the file may have been cut off`); // prettier-ignore
  const out = new Float32Array(end - begin);
  format.toFloat32(out, piece);
  return out;
}

const problemWith = ({ source, name }: PackedTensor, got: string, want: string) =>
  new ProblemError([{ file: source.name, place: name, got, want, remedy: 'Fetch or export the file anew.' }]);
