import { F32 } from '../formats/blocks/floats.ts';
import { type AdapterConfig, type AdaptedLinear, adaptedLinears, adapterScale } from './loraAdapters.ts';
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
  for (const layer of adaptedLinears(model, adapters)) {
    const [a, b] = [layer.a, layer.b].map(({ name, size }) => {
      const tensor = weights.get(name);
      if (tensor?.length === size) return tensor;
      throw new Error(
        `mergedSource: ${name} has ${tensor?.length ?? 'no'} numbers and needs ${size}. Give every tensor of adapterParameters.`,
      );
    });
    merged.set(
      layer.weightName,
      mergedTensor(storedTensor(source, layer.weightName), layer, a!, b!, adapterScale(adapters)),
    );
  }
  return merged;
}

function mergedTensor(
  base: StoredTensor,
  layer: AdaptedLinear,
  a: Float32Array,
  b: Float32Array,
  scale: number,
): StoredTensor {
  const bytes = layer.out * layer.in * F32.blockBytes;
  const read = async (out: Uint8Array) => {
    const packed = new Uint8Array(base.bytes);
    await base.read(packed);
    // float32 must begin at a multiple of four bytes
    const isAligned = out.byteOffset % F32.blockBytes === 0;
    const values = isAligned ? new Float32Array(out.buffer, out.byteOffset, bytes / F32.blockBytes) : new Float32Array(bytes / F32.blockBytes); // prettier-ignore
    base.format.toFloat32(values, packed);
    addProduct(values, layer, a, b, scale);
    if (!isAligned) out.set(new Uint8Array(values.buffer));
  };
  return { shape: base.shape, format: F32, bytes, read };
}

/** Adds scale·B·A to W (out, in), each sum in float64. */
function addProduct(w: Float32Array, layer: AdaptedLinear, a: Float32Array, b: Float32Array, scale: number): void {
  const rank = a.length / layer.in;
  const row = new Float64Array(layer.in);
  for (let o = 0; o < layer.out; o++) {
    const rowStart = o * layer.in;
    for (let i = 0; i < layer.in; i++) row[i] = w[rowStart + i]!;
    for (let r = 0; r < rank; r++) {
      const factor = scale * b[o * rank + r]!;
      const aRowStart = r * layer.in;
      for (let i = 0; i < layer.in; i++) row[i] = row[i]! + factor * a[aRowStart + i]!;
    }
    w.set(row, rowStart);
  }
}
