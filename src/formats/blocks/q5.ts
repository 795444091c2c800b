import { float16At } from '../float16.ts';
import { type BlockFormat, finiteFloat16s } from './blockFormat.ts';

const BLOCK_WEIGHTS = 32;

/**
 * The five bits of weight j of a block. The lower four are in the 16 bytes at `low`, in the order of Q4_0; the fifth is
 * bit j of the 32 bits at `high`.
 */
function fiveBits(bytes: Uint8Array, high: number, low: number, j: number): number {
  const pair = bytes[low + (j & 15)]!;
  const fifth = (bytes[high + (j >> 3)]! >> (j & 7)) & 1;
  return (j < 16 ? pair & 15 : pair >> 4) | (fifth << 4);
}

/**
 * ggml's Q5_0: a float16 scale d, the 32 fifth bits, then 16 bytes with the lower four bits. w = d·(q − 16).
 */
export const Q5_0: BlockFormat = {
  name: 'Q5_0',
  blockWeights: BLOCK_WEIGHTS,
  blockBytes: 22,
  allFinite: finiteFloat16s(22, 0),
  toFloat32: (out, bytes) => {
    for (let at = 0, firstWeight = 0; at < bytes.length; at += 22, firstWeight += BLOCK_WEIGHTS) {
      const scale = float16At(bytes, at);
      for (let j = 0; j < BLOCK_WEIGHTS; j++) out[firstWeight + j] = scale * (fiveBits(bytes, at + 2, at + 6, j) - 16);
    }
  },
};

/** ggml's Q5_1: like Q5_0, but with the smallest weight m as a float16 after the scale. w = d·q + m. */
export const Q5_1: BlockFormat = {
  name: 'Q5_1',
  blockWeights: BLOCK_WEIGHTS,
  blockBytes: 24,
  allFinite: finiteFloat16s(24, 0, 2),
  toFloat32: (out, bytes) => {
    for (let at = 0, firstWeight = 0; at < bytes.length; at += 24, firstWeight += BLOCK_WEIGHTS) {
      const scale = float16At(bytes, at);
      const minimum = float16At(bytes, at + 2);
      for (let j = 0; j < BLOCK_WEIGHTS; j++)
        out[firstWeight + j] = scale * fiveBits(bytes, at + 4, at + 8, j) + minimum;
    }
  },
};
