import type { BlockFormat } from '../formats/blocks/blockFormats.ts';

/** A tensor of a checkpoint that has not been read yet, by its Hugging Face name and in its order of rows. */
export interface StoredTensor {
  readonly shape: readonly number[]; // [out, in] for matrices
  readonly format: BlockFormat;
  readonly bytes: number;
  /** Reads all of it into `out`, `bytes` long, as it is packed. Throws FormatError, by file and tensor. */
  readonly read: (out: Uint8Array) => Promise<void>;
}

/** The tensors of a model by Hugging Face name: each of `parameters(model)`. */
export type WeightSource = ReadonlyMap<string, StoredTensor>;

/** The tensor of this name, or an error that says so. */
export function storedTensor(source: WeightSource, name: string): StoredTensor {
  const tensor = source.get(name);
  if (tensor) return tensor;
  throw new Error(`${name} is missing; want every parameter of the model. Open the checkpoint with openCheckpoint.`);
}

/** A tensor's weights as float32, in memory that holds the packed ones too while it is made. */
export async function widened({ format, bytes, read }: StoredTensor): Promise<Float32Array> {
  const packed = new Uint8Array(bytes);
  await read(packed);
  const out = new Float32Array((bytes / format.bytes) * format.weights);
  format.widen(out, packed);
  return out;
}
