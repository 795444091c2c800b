import type { BlockFormat } from '../formats/blocks/blockFormats.ts';

/** A tensor of a checkpoint that has not been read yet. Its rows are in the order that Hugging Face uses. */
export interface StoredTensor {
  readonly shape: readonly number[]; // [out, in] for matrices
  readonly format: BlockFormat;
  readonly bytes: number;
  /** Still packed, into `out`, which is `bytes` long. Throws ProblemError that names file and tensor. */
  readonly read: (out: Uint8Array) => Promise<void>;
}

/** All tensors of `parameters(model)`, by Hugging Face name. */
export type WeightSource = ReadonlyMap<string, StoredTensor>;

/** The tensor of this name. Throws if there is none. */
export function storedTensor(source: WeightSource, name: string): StoredTensor {
  const tensor = source.get(name);
  if (tensor) return tensor;
  throw new Error(
    `${name} is missing: a source must have every parameter of the model. Open the checkpoint with openCheckpoint.`,
  );
}

/** Reads a tensor's weights as float32. Until this resolves, memory holds the packed weights as well. */
export async function readFloat32({ format, bytes, read }: StoredTensor): Promise<Float32Array> {
  const packed = new Uint8Array(bytes);
  await read(packed);
  const out = new Float32Array((bytes / format.blockBytes) * format.blockWeights);
  format.toFloat32(out, packed);
  return out;
}
