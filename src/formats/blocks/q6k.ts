import { float16At } from '../float16.ts';
import { type BlockFormat, finiteFloat16s } from './blockFormat.ts';

const BLOCK_WEIGHTS = 256;
const BLOCK_BYTES = 210;
const HIGH_BITS_OFFSET = 128; // byte offset of the upper two bits of each weight
const SCALES_OFFSET = 192; // byte offset of the scales
const D_OFFSET = 208; // byte offset of d

/**
 * ggml's Q6_K: 128 bytes with the lower four bits, 64 bytes with the upper two bits, sixteen int8 scales for sixteen
 * weights each, and a float16 scale d. w = (d·scale)·(q − 32). A block has two halves of 128 weights. In each
 * half, weights 0 to 63 have their lower bits in the low nibbles of 64 bytes, and weights 64 to 127 in the high
 * nibbles. The upper bits of weight r of a half are bit pair r div 32 of byte r mod 32.
 */
export const Q6_K: BlockFormat = {
  name: 'Q6_K',
  blockWeights: BLOCK_WEIGHTS,
  blockBytes: BLOCK_BYTES,
  allFinite: finiteFloat16s(BLOCK_BYTES, D_OFFSET),
  toFloat32: (out, bytes) => {
    for (let at = 0, firstWeight = 0; at < bytes.length; at += BLOCK_BYTES, firstWeight += BLOCK_WEIGHTS) {
      const d = float16At(bytes, at + D_OFFSET);
      for (let i = 0; i < BLOCK_WEIGHTS; i++) {
        const halfIndex = i >> 7;
        const indexInHalf = i & 127;
        const pair = bytes[at + 64 * halfIndex + (indexInHalf & 63)]!;
        const low = indexInHalf < 64 ? pair & 15 : pair >> 4;
        const high =
          (bytes[at + HIGH_BITS_OFFSET + 32 * halfIndex + (indexInHalf & 31)]! >> (2 * (indexInHalf >> 5))) & 3;
        const scale = (bytes[at + SCALES_OFFSET + (i >> 4)]! << 24) >> 24;
        // d·scale has 19 bits, so it is exact; only storing the last product rounds
        out[firstWeight + i] = d * scale * ((low | (high << 4)) - 32);
      }
    }
  },
};
