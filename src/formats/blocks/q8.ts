import { halfAt } from '../half.ts';
import { type BlockFormat, finiteHalves } from './blockFormat.ts';

/** ggml's Q8_0: a scale d in half precision, then 32 weights as int8. w = d·q. */
export const Q8_0: BlockFormat = {
  name: 'Q8_0',
  weights: 32,
  bytes: 34,
  finite: finiteHalves(34, 0),
  widen: (out, bytes) => {
    for (let at = 0, first = 0; at < bytes.length; at += 34, first += 32) {
      const scale = halfAt(bytes, at);
      for (let j = 0; j < 32; j++) out[first + j] = scale * ((bytes[at + 2 + j]! << 24) >> 24);
    }
  },
};
