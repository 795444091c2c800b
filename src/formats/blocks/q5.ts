import { halfAt } from '../half.ts';
import { type BlockFormat, finiteHalves } from './blockFormat.ts';

/** Weights of a block. */
const SIZE = 32;

/** Weight j of the 32 at `low`, four bits of each there as in Q4_0, its fifth bit j of the 32 bits at `high`. */
function quant(bytes: Uint8Array, high: number, low: number, j: number): number {
  const pair = bytes[low + (j & 15)]!;
  const fifth = (bytes[high + (j >> 3)]! >> (j & 7)) & 1;
  return (j < 16 ? pair & 15 : pair >> 4) | (fifth << 4);
}

/** ggml's Q5_0: a scale d in half precision, 32 fifth bits, 16 bytes of lower four. w = d·(q − 16). */
export const Q5_0: BlockFormat = {
  name: 'Q5_0',
  weights: SIZE,
  bytes: 22,
  finite: finiteHalves(22, 0),
  widen: (out, bytes) => {
    for (let at = 0, to = 0; at < bytes.length; at += 22, to += SIZE) {
      const d = halfAt(bytes, at);
      for (let j = 0; j < SIZE; j++) out[to + j] = d * (quant(bytes, at + 2, at + 6, j) - 16);
    }
  },
};

/** ggml's Q5_1: as Q5_0 with a least weight m in half precision after the scale. w = d·q + m. */
export const Q5_1: BlockFormat = {
  name: 'Q5_1',
  weights: SIZE,
  bytes: 24,
  finite: finiteHalves(24, 0, 2),
  widen: (out, bytes) => {
    for (let at = 0, to = 0; at < bytes.length; at += 24, to += SIZE) {
      const d = halfAt(bytes, at);
      const m = halfAt(bytes, at + 2);
      for (let j = 0; j < SIZE; j++) out[to + j] = d * quant(bytes, at + 4, at + 8, j) + m;
    }
  },
};
