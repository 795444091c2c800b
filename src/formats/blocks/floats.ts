import { float16At } from './float16.ts';
import { type BlockFormat, finiteFloat16s } from './blockFormat.ts';

/** Whether all numbers are finite: no exponent has all bits set. Each number is the upper `size` bytes of a float32. */
const finiteFloats = (size: number) => (bytes: Uint8Array) => {
  for (let at = size - 1; at < bytes.length; at += size) {
    if ((bytes[at]! & 0x7f) === 0x7f && (bytes[at - 1]! & 0x80) !== 0) return false;
  }
  return true;
};

/** Float32, little-endian. */
export const F32: BlockFormat = {
  name: 'F32',
  blockWeights: 1,
  blockBytes: 4,
  allFinite: finiteFloats(4),
  toFloat32: (out, bytes) => new Uint8Array(out.buffer, out.byteOffset, bytes.length).set(bytes),
};

/** IEEE float16 (half precision). Every float16 is exactly a float32. */
export const F16: BlockFormat = {
  name: 'F16',
  blockWeights: 1,
  blockBytes: 2,
  allFinite: finiteFloat16s(2, 0),
  toFloat32: (out, bytes) => {
    for (let i = 0; 2 * i < bytes.length; i++) out[i] = float16At(bytes, 2 * i);
  },
};

/** bfloat16: the upper 16 bits of a float32. */
export const BF16: BlockFormat = {
  name: 'BF16',
  blockWeights: 1,
  blockBytes: 2,
  allFinite: finiteFloats(2),
  toFloat32: (out, bytes) => {
    const words = new Uint32Array(out.buffer, out.byteOffset, bytes.length / 2);
    for (let i = 0; i < words.length; i++) words[i] = (bytes[2 * i]! << 16) | (bytes[2 * i + 1]! << 24);
  },
};
