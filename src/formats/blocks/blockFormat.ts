/** A packing of a tensor's weights in a file. Each row is a list of blocks, which in most formats have a scale each. */
export interface BlockFormat {
  readonly name: string; // as ggml and safetensors name it
  readonly weights: number; // per block
  readonly bytes: number; // per block
  /** Unpacks all weights of the blocks in `bytes` to float32, with the same rounding as ggml's Python package. */
  readonly widen: (out: Float32Array, bytes: Uint8Array) => void;
  /** Whether all weights of the blocks in `bytes` are finite. Formats with scales check only the scales. */
  readonly finite: (bytes: Uint8Array) => boolean;
}

/** Makes a `finite` test that checks the half precision numbers at the byte offsets `places` of each block. */
export const finiteHalves =
  (blockBytes: number, ...places: readonly number[]) =>
  (bytes: Uint8Array): boolean => {
    for (const place of places) {
      for (let at = place + 1; at < bytes.length; at += blockBytes) if ((bytes[at]! & 0x7c) === 0x7c) return false;
    }
    return true;
  };
