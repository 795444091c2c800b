import type { MergedType } from '../../domain/mergedTypes.ts';
import { narrowedHalves } from '../../formats/half.ts';
import { ProblemError } from '../../base/problem.ts';
import { type StoredTensor, widened } from '../../model/weightSource.ts';

/** Bytes per number. */
export const WIDTH: Readonly<Record<MergedType, number>> = { F32: 4, F16: 2 };

/** The number of weights in a tensor. */
export const sizeOf = ({ bytes, format }: StoredTensor) => (bytes / format.bytes) * format.weights;

/**
 * Reads a tensor as `type`, little-endian; half precision is rounded to the nearest. Throws ProblemError, with file and
 * tensor, if a weight is too large for half precision.
 */
export async function bytesAs(
  type: MergedType,
  tensor: StoredTensor,
  place: { readonly file: string; readonly name: string },
): Promise<Uint8Array> {
  if (tensor.format.name === type) {
    const packed = new Uint8Array(tensor.bytes);
    await tensor.read(packed);
    return packed;
  }
  const values = await widened(tensor);
  if (type === 'F32') return new Uint8Array(values.buffer);
  const halves = narrowedHalves(values);
  // find an infinite half: all bits of its exponent are set
  let at = 0;
  while (at < halves.length && (halves[at]! & 0x7c00) !== 0x7c00) at++;
  if (at === halves.length) return new Uint8Array(halves.buffer);
  const [got, want] = [`the weight ${values[at]}`, 'at most 65504, the largest half'];
  throw new ProblemError([{ file: place.file, place: place.name, got, want, remedy: 'Write it as F32.' }]);
}
