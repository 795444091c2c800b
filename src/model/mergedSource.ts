import { F32 } from '../formats/blocks/floats.ts';
import { type AdapterConfig, type Adapted, adapted, adapterScale } from './loraAdapters.ts';
import type { ModelConfig, Weights } from './architecture.ts';
import { type StoredTensor, storedTensor, type WeightSource } from './weightSource.ts';

/**
 * A checkpoint with its adapters merged in. Each W with an adapter reads as float32 W + alpha/rank·B·A, rounded once;
 * all other tensors are those of `source`. A merged tensor is computed only when it is read. `weights` has A and B of
 * every adapter; throws if one is missing or has another size.
 */
export function mergedSource(
  source: WeightSource,
  model: ModelConfig,
  adapters: AdapterConfig,
  weights: Weights,
): WeightSource {
  const merged = new Map(source);
  for (const layer of adapted(model, adapters)) {
    const [a, b] = [layer.a, layer.b].map(({ name, size }) => {
      const tensor = weights.get(name);
      if (tensor?.length === size) return tensor;
      throw new Error(
        `mergedSource: ${name} has ${tensor?.length ?? 'no'} numbers and needs ${size}. Give every tensor of adapterParameters.`,
      );
    });
    merged.set(layer.weight, mergedTensor(storedTensor(source, layer.weight), layer, a!, b!, adapterScale(adapters)));
  }
  return merged;
}

function mergedTensor(
  base: StoredTensor,
  size: Adapted,
  a: Float32Array,
  b: Float32Array,
  scale: number,
): StoredTensor {
  const bytes = size.out * size.in * F32.bytes;
  const read = async (out: Uint8Array) => {
    const packed = new Uint8Array(base.bytes);
    await base.read(packed);
    // float32 must begin at a multiple of four bytes
    const aligned = out.byteOffset % F32.bytes === 0;
    const values = aligned ? new Float32Array(out.buffer, out.byteOffset, bytes / F32.bytes) : new Float32Array(bytes / F32.bytes); // prettier-ignore
    base.format.widen(values, packed);
    addProduct(values, size, a, b, scale);
    if (!aligned) out.set(new Uint8Array(values.buffer));
  };
  return { shape: base.shape, format: F32, bytes, read };
}

/** Adds scale·B·A to W (out, in), each sum in float64. */
function addProduct(w: Float32Array, size: Adapted, a: Float32Array, b: Float32Array, scale: number): void {
  const rank = a.length / size.in;
  const row = new Float64Array(size.in);
  for (let o = 0; o < size.out; o++) {
    const at = o * size.in;
    for (let i = 0; i < size.in; i++) row[i] = w[at + i]!;
    for (let r = 0; r < rank; r++) {
      const factor = scale * b[o * rank + r]!;
      const from = r * size.in;
      for (let i = 0; i < size.in; i++) row[i] = row[i]! + factor * a[from + i]!;
    }
    w.set(row, at);
  }
}
