/** How a file packs the weights of a tensor: rows of blocks, most of them with a scale of their own. */
export interface BlockFormat {
  readonly name: string; // as ggml and safetensors name it
  readonly weights: number; // of a block
  readonly bytes: number; // of a block
  /** Writes every weight of the blocks in `bytes` to `out`, as float32, rounded as ggml's own Python package rounds. */
  readonly widen: (out: Float32Array, bytes: Uint8Array) => void;
  /** Whether every weight of the blocks in `bytes` is a number and finite: told by their scales where they have some. */
  readonly finite: (bytes: Uint8Array) => boolean;
}

/** Whether the half precision numbers at these bytes of each block are all finite. */
export const finiteHalves =
  (blockBytes: number, ...places: readonly number[]) =>
  (bytes: Uint8Array): boolean => {
    for (const place of places) {
      for (let at = place + 1; at < bytes.length; at += blockBytes) if ((bytes[at]! & 0x7c) === 0x7c) return false;
    }
    return true;
  };
