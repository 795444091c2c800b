import { float16At } from '../float16.ts';
import { type BlockFormat, finiteFloat16s } from './blockFormat.ts';

const BLOCK_WEIGHTS = 32;

/**
 * ggml's Q4_0: a float16 scale d, then 16 bytes with two weights each. Byte j has weight j in its low four
 * bits and weight j + 16 in its high four bits. w = d·(q − 8).
 */
export const Q4_0: BlockFormat = {
  name: 'Q4_0',
  blockWeights: BLOCK_WEIGHTS,
  blockBytes: 18,
  allFinite: finiteFloat16s(18, 0),
  toFloat32: (out, bytes) => {
    for (let at = 0, firstWeight = 0; at < bytes.length; at += 18, firstWeight += BLOCK_WEIGHTS) {
      const scale = float16At(bytes, at);
      for (let j = 0; j < 16; j++) {
        const pair = bytes[at + 2 + j]!;
        out[firstWeight + j] = scale * ((pair & 15) - 8);
        out[firstWeight + j + 16] = scale * ((pair >> 4) - 8);
      }
    }
  },
};

/** ggml's Q4_1: like Q4_0, but with the smallest weight m as a float16 after the scale. w = d·q + m. */
export const Q4_1: BlockFormat = {
  name: 'Q4_1',
  blockWeights: BLOCK_WEIGHTS,
  blockBytes: 20,
  allFinite: finiteFloat16s(20, 0, 2),
  toFloat32: (out, bytes) => {
    for (let at = 0, firstWeight = 0; at < bytes.length; at += 20, firstWeight += BLOCK_WEIGHTS) {
      const scale = float16At(bytes, at);
      const minimum = float16At(bytes, at + 2);
      // d·q has 15 bits, so it is exact; only storing the sum rounds
      for (let j = 0; j < 16; j++) {
        const pair = bytes[at + 4 + j]!;
        out[firstWeight + j] = scale * (pair & 15) + minimum;
        out[firstWeight + j + 16] = scale * (pair >> 4) + minimum;
      }
    }
  },
};
