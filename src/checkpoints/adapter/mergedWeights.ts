import type { MergedType } from '../../domain/mergedTypes.ts';
import { toFloat16 } from '../../formats/blocks/float16.ts';
import { ProblemError } from '../../base/problem.ts';
import { type StoredTensor, readFloat32 } from '../../model/weightSource.ts';

export const BYTES_PER_NUMBER: Readonly<Record<MergedType, number>> = { F32: 4, F16: 2 };

export const weightCount = ({ bytes, format }: StoredTensor) => (bytes / format.blockBytes) * format.blockWeights;

/** Little-endian. F16 rounds to the nearest; throws ProblemError, with file and tensor, if a weight is too large for it. */
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
  const values = await readFloat32(tensor);
  if (type === 'F32') return new Uint8Array(values.buffer);
  const float16s = toFloat16(values);
  // find an infinite float16: all bits of its exponent are set
  let infiniteIndex = 0;
  while (infiniteIndex < float16s.length && (float16s[infiniteIndex]! & 0x7c00) !== 0x7c00) infiniteIndex++;
  if (infiniteIndex === float16s.length) return new Uint8Array(float16s.buffer);
  const [got, want] = [`the weight ${values[infiniteIndex]}`, 'at most 65504, the largest half'];
  throw new ProblemError([{ file: place.file, place: place.name, got, want, remedy: 'Write it as F32.' }]);
}
