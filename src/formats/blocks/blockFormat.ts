/** Each row is a list of blocks of equal size. In most formats a block has a scale, with which its weights are multiplied. */
export interface BlockFormat {
  readonly name: string; // as ggml and safetensors name it
  readonly blockWeights: number; // weights of a block
  readonly blockBytes: number; // bytes of a block
  /** Unpacks all weights of the blocks in `bytes` to float32, with the same rounding as ggml's Python package. */
  readonly toFloat32: (out: Float32Array, bytes: Uint8Array) => void;
  /** Whether all weights of the blocks in `bytes` are finite. Formats with scales check only the scales. */
  readonly allFinite: (bytes: Uint8Array) => boolean;
}

/** Makes a test `allFinite` that checks the float16 numbers at the byte offsets `offsets` of each block. */
export const finiteFloat16s =
  (blockBytes: number, ...offsets: readonly number[]) =>
  (bytes: Uint8Array): boolean => {
    for (const offset of offsets) {
      for (let at = offset + 1; at < bytes.length; at += blockBytes) if ((bytes[at]! & 0x7c) === 0x7c) return false;
    }
    return true;
  };
