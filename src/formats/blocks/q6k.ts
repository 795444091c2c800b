import { halfAt } from '../half.ts';
import { type BlockFormat, finiteHalves } from './blockFormat.ts';

const SIZE = 256;
const BYTES = 210;
const HIGH = 128; // where the upper two bits begin
const SCALES = 192;
const D = 208;

/**
 * ggml's Q6_K: 128 bytes of lower four bits, 64 of upper two, sixteen int8 scales of sixteen weights each, a scale d in half precision.
 * w = d·scale·(q − 32), the product of the scales first. Weights lie in halves of 128: low nibbles of 64 bytes, then their high ones;
 * the upper bits of weight r of a half are those number r div 32 of byte r mod 32.
 */
export const Q6_K: BlockFormat = {
  name: 'Q6_K',
  weights: SIZE,
  bytes: BYTES,
  finite: finiteHalves(BYTES, D),
  widen: (out, bytes) => {
    for (let at = 0, to = 0; at < bytes.length; at += BYTES, to += SIZE) {
      const d = halfAt(bytes, at + D);
      for (let i = 0; i < SIZE; i++) {
        const half = i >> 7;
        const r = i & 127;
        const pair = bytes[at + 64 * half + (r & 63)]!;
        const low = r < 64 ? pair & 15 : pair >> 4;
        const high = (bytes[at + HIGH + 32 * half + (r & 31)]! >> (2 * (r >> 5))) & 3;
        const scale = (bytes[at + SCALES + (i >> 4)]! << 24) >> 24;
        // d·scale has 19 bits, so it is exact; the last product is rounded as it is stored
        out[to + i] = d * scale * ((low | (high << 4)) - 32);
      }
    }
  },
};
