import { halfAt } from '../half.ts';
import { type BlockFormat, finiteHalves } from './blockFormat.ts';

/** Weights of a block. */
const SIZE = 32;

/** ggml's Q4_0: a scale d in half precision, then 16 bytes of two weights each; byte j has weight j in its low half and j + 16 in its high one. w = d·(q − 8). */
export const Q4_0: BlockFormat = {
  name: 'Q4_0',
  weights: SIZE,
  bytes: 18,
  finite: finiteHalves(18, 0),
  widen: (out, bytes) => {
    for (let at = 0, to = 0; at < bytes.length; at += 18, to += SIZE) {
      const d = halfAt(bytes, at);
      for (let j = 0; j < 16; j++) {
        const pair = bytes[at + 2 + j]!;
        out[to + j] = d * ((pair & 15) - 8);
        out[to + j + 16] = d * ((pair >> 4) - 8);
      }
    }
  },
};

/** ggml's Q4_1: as Q4_0 with a least weight m in half precision after the scale. w = d·q + m. */
export const Q4_1: BlockFormat = {
  name: 'Q4_1',
  weights: SIZE,
  bytes: 20,
  finite: finiteHalves(20, 0, 2),
  widen: (out, bytes) => {
    for (let at = 0, to = 0; at < bytes.length; at += 20, to += SIZE) {
      const d = halfAt(bytes, at);
      const m = halfAt(bytes, at + 2);
      // d·q has 15 bits, so it is exact, and the sum is rounded once, as it is stored
      for (let j = 0; j < 16; j++) {
        const pair = bytes[at + 4 + j]!;
        out[to + j] = d * (pair & 15) + m;
        out[to + j + 16] = d * (pair >> 4) + m;
      }
    }
  },
};
