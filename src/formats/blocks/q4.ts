import { halfAt } from '../half.ts';
import { type BlockFormat, finiteHalves } from './blockFormat.ts';

/** Weights of a block. */
const BLOCK_WEIGHTS = 32;

/**
 * ggml's Q4_0: a scale d in half precision, then 16 bytes with two weights each. Byte j has weight j in its low four
 * bits and weight j + 16 in its high four bits. w = d·(q − 8).
 */
export const Q4_0: BlockFormat = {
  name: 'Q4_0',
  weights: BLOCK_WEIGHTS,
  bytes: 18,
  finite: finiteHalves(18, 0),
  widen: (out, bytes) => {
    for (let at = 0, first = 0; at < bytes.length; at += 18, first += BLOCK_WEIGHTS) {
      const scale = halfAt(bytes, at);
      for (let j = 0; j < 16; j++) {
        const pair = bytes[at + 2 + j]!;
        out[first + j] = scale * ((pair & 15) - 8);
        out[first + j + 16] = scale * ((pair >> 4) - 8);
      }
    }
  },
};

/** ggml's Q4_1: like Q4_0, but with the smallest weight m in half precision after the scale. w = d·q + m. */
export const Q4_1: BlockFormat = {
  name: 'Q4_1',
  weights: BLOCK_WEIGHTS,
  bytes: 20,
  finite: finiteHalves(20, 0, 2),
  widen: (out, bytes) => {
    for (let at = 0, first = 0; at < bytes.length; at += 20, first += BLOCK_WEIGHTS) {
      const scale = halfAt(bytes, at);
      const minimum = halfAt(bytes, at + 2);
      // d·q has 15 bits, so it is exact; only storing the sum rounds
      for (let j = 0; j < 16; j++) {
        const pair = bytes[at + 4 + j]!;
        out[first + j] = scale * (pair & 15) + minimum;
        out[first + j + 16] = scale * (pair >> 4) + minimum;
      }
    }
  },
};
