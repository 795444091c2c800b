import type { BlockFormat } from './blockFormat.ts';
import { BF16, F16, F32 } from './floats.ts';
import { Q4_0, Q4_1 } from './q4.ts';
import { Q5_0, Q5_1 } from './q5.ts';
import { Q6_K } from './q6k.ts';
import { Q8_0 } from './q8.ts';

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
