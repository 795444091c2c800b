import { halfAt } from '../half.ts';
import { type BlockFormat, finiteHalves } from './blockFormat.ts';

/** Weights of a block. */
const BLOCK_WEIGHTS = 32;

/**
 * The five bits of weight j of a block. The lower four are at `low`, in the order of Q4_0; the fifth is bit j of the 32
 * bits at `high`.
 */
function quant(bytes: Uint8Array, high: number, low: number, j: number): number {
  const pair = bytes[low + (j & 15)]!;
  const fifth = (bytes[high + (j >> 3)]! >> (j & 7)) & 1;
  return (j < 16 ? pair & 15 : pair >> 4) | (fifth << 4);
}

/**
 * ggml's Q5_0: a scale d in half precision, the 32 fifth bits, then 16 bytes with the lower four bits. w = d·(q − 16).
 */
export const Q5_0: BlockFormat = {
  name: 'Q5_0',
  weights: BLOCK_WEIGHTS,
  bytes: 22,
  finite: finiteHalves(22, 0),
  widen: (out, bytes) => {
    for (let at = 0, first = 0; at < bytes.length; at += 22, first += BLOCK_WEIGHTS) {
      const scale = halfAt(bytes, at);
      for (let j = 0; j < BLOCK_WEIGHTS; j++) out[first + j] = scale * (quant(bytes, at + 2, at + 6, j) - 16);
    }
  },
};

/** ggml's Q5_1: like Q5_0, but with the smallest weight m in half precision after the scale. w = d·q + m. */
export const Q5_1: BlockFormat = {
  name: 'Q5_1',
  weights: BLOCK_WEIGHTS,
  bytes: 24,
  finite: finiteHalves(24, 0, 2),
  widen: (out, bytes) => {
    for (let at = 0, first = 0; at < bytes.length; at += 24, first += BLOCK_WEIGHTS) {
      const scale = halfAt(bytes, at);
      const minimum = halfAt(bytes, at + 2);
      for (let j = 0; j < BLOCK_WEIGHTS; j++) out[first + j] = scale * quant(bytes, at + 4, at + 8, j) + minimum;
    }
  },
};
