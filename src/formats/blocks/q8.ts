import { float16At } from '../float16.ts';
import { type BlockFormat, finiteFloat16s } from './blockFormat.ts';

/** ggml's Q8_0: a float16 scale d, then 32 weights as int8. w = d·q. */
export const Q8_0: BlockFormat = {
  name: 'Q8_0',
  blockWeights: 32,
  blockBytes: 34,
  allFinite: finiteFloat16s(34, 0),
  toFloat32: (out, bytes) => {
    for (let at = 0, firstWeight = 0; at < bytes.length; at += 34, firstWeight += 32) {
      const scale = float16At(bytes, at);
      for (let j = 0; j < 32; j++) out[firstWeight + j] = scale * ((bytes[at + 2 + j]! << 24) >> 24);
    }
  },
};
