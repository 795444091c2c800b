/** Number types in which a merged model's matrices can be written. In a GGUF file, vectors are always F32. */
export const MERGED_TYPES = ['F32', 'F16'] as const;
export type MergedType = (typeof MERGED_TYPES)[number];
