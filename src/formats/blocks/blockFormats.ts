import { type BlockFormat, finiteFloat16s } from './blockFormat.ts';
import { BF16, F16, F32 } from './floats.ts';
import { float16At } from './float16.ts';

const Q5_WEIGHTS = 32;

/** The lower four are in the 16 bytes at `low`, in the order of Q4_0; the fifth is bit j of the 32 bits at `high`. */
function fiveBits(bytes: Uint8Array, high: number, low: number, j: number): number {
  const pair = bytes[low + (j & 15)]!;
  const fifth = (bytes[high + (j >> 3)]! >> (j & 7)) & 1;
  return (j < 16 ? pair & 15 : pair >> 4) | (fifth << 4);
}

/** ggml's Q5_0: a float16 scale d, the 32 fifth bits, then 16 bytes with the lower four bits. w = d·(q − 16). */
export const Q5_0: BlockFormat = {
  name: 'Q5_0',
  blockWeights: Q5_WEIGHTS,
  blockBytes: 22,
  allFinite: finiteFloat16s(22, 0),
  toFloat32: (out, bytes) => {
    for (let at = 0, firstWeight = 0; at < bytes.length; at += 22, firstWeight += Q5_WEIGHTS) {
      const scale = float16At(bytes, at);
      for (let j = 0; j < Q5_WEIGHTS; j++) out[firstWeight + j] = scale * (fiveBits(bytes, at + 2, at + 6, j) - 16);
    }
  },
};

/** ggml's Q5_1: like Q5_0, but with the smallest weight m as a float16 after the scale. w = d·q + m. */
export const Q5_1: BlockFormat = {
  name: 'Q5_1',
  blockWeights: Q5_WEIGHTS,
  blockBytes: 24,
  allFinite: finiteFloat16s(24, 0, 2),
  toFloat32: (out, bytes) => {
    for (let at = 0, firstWeight = 0; at < bytes.length; at += 24, firstWeight += Q5_WEIGHTS) {
      const scale = float16At(bytes, at);
      const minimum = float16At(bytes, at + 2);
      for (let j = 0; j < Q5_WEIGHTS; j++) out[firstWeight + j] = scale * fiveBits(bytes, at + 4, at + 8, j) + minimum;
    }
  },
};

const Q4_WEIGHTS = 32;

/** ggml's Q4_0: a float16 scale d, then 16 bytes: weight j in the low, weight j + 16 in the high four bits of byte j. w = d·(q − 8). */
export const Q4_0: BlockFormat = {
  name: 'Q4_0',
  blockWeights: Q4_WEIGHTS,
  blockBytes: 18,
  allFinite: finiteFloat16s(18, 0),
  toFloat32: (out, bytes) => {
    for (let at = 0, firstWeight = 0; at < bytes.length; at += 18, firstWeight += Q4_WEIGHTS) {
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
  blockWeights: Q4_WEIGHTS,
  blockBytes: 20,
  allFinite: finiteFloat16s(20, 0, 2),
  toFloat32: (out, bytes) => {
    for (let at = 0, firstWeight = 0; at < bytes.length; at += 20, firstWeight += Q4_WEIGHTS) {
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

export type { BlockFormat } from './blockFormat.ts';

/** The formats that can be read, by ggml's type number. */
export const GGML_FORMATS: ReadonlyMap<number, BlockFormat> = new Map([
  [0, F32],
  [1, F16],
  [2, Q4_0],
  [3, Q4_1],
  [6, Q5_0],
  [7, Q5_1],
  [8, Q8_0],
  [14, Q6_K],
  [30, BF16],
]);

/** The formats of weights in safetensors files, by dtype. */
export const SAFETENSORS_FORMATS: ReadonlyMap<string, BlockFormat> = new Map([F32, F16, BF16].map((f) => [f.name, f]));
