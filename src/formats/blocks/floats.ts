import { halfAt } from '../half.ts';
import { type BlockFormat, finiteHalves } from './blockFormat.ts';

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
  weights: 1,
  bytes: 4,
  finite: finiteFloats(4),
  widen: (out, bytes) => new Uint8Array(out.buffer, out.byteOffset, bytes.length).set(bytes),
};

/** IEEE half precision. Every half is exactly a float32. */
export const F16: BlockFormat = {
  name: 'F16',
  weights: 1,
  bytes: 2,
  finite: finiteHalves(2, 0),
  widen: (out, bytes) => {
    for (let i = 0; 2 * i < bytes.length; i++) out[i] = halfAt(bytes, 2 * i);
  },
};

/** bfloat16: the upper half of a float32's bits. */
export const BF16: BlockFormat = {
  name: 'BF16',
  weights: 1,
  bytes: 2,
  finite: finiteFloats(2),
  widen: (out, bytes) => {
    const words = new Uint32Array(out.buffer, out.byteOffset, bytes.length / 2);
    for (let i = 0; i < words.length; i++) words[i] = (bytes[2 * i]! << 16) | (bytes[2 * i + 1]! << 24);
  },
};
