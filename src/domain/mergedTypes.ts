/** Types that a merged model's matrices can be written in; vectors are F32 in a GGUF file whatever is chosen. */
export const MERGED_TYPES = ['F32', 'F16'] as const;
export type MergedType = (typeof MERGED_TYPES)[number];
