import { adaptedLinears, type AdapterConfig, adapterScale, type AdaptedLinear } from '../../loraAdapters.ts';
import { parameters, type Parameter } from '../../architecture.ts';
import { storedTensor, type StoredTensor, type WeightSource } from '../../weightSource.ts';
import type { Arithmetic } from '../arithmetic.ts';
import { type NetworkTensors, tensorsOf } from '../network.ts';
import type { TrainedTensors } from '../../learning/trainedTensors.ts';
import type { Real } from '../../learning/real.ts';

interface AdaptedMatrix extends AdaptedLinear {
  readonly stored: StoredTensor;
  readonly packed: Uint8Array; // the checkpoint's weights, as the file packs them
  readonly merged: Real; // (out, in) the weights with the adapter
}

/** W + alpha/rank·B·A, unpacked. `merge` starts from the packed weights each time, so that rounding errors don't add up. */
export class MergedWeights {
  readonly tensors: NetworkTensors;
  readonly #sites: readonly AdaptedMatrix[];
  readonly #scale: number;
  readonly #rank: number;
  readonly #transposedB: Real; // (rank, out) alpha/rank·Bᵀ of one adapter

  private constructor(
    arithmetic: Arithmetic,
    tensors: NetworkTensors,
    matrices: readonly AdaptedMatrix[],
    adapters: AdapterConfig,
  ) {
    this.tensors = tensors;
    this.#sites = matrices;
    this.#scale = adapterScale(adapters);
    this.#rank = adapters.rank;
    this.#transposedB = arithmetic.reals(widestOutput(matrices) * adapters.rank);
  }

  /** Reads the checkpoint, tensor by tensor. Throws ProblemError with file and tensor. */
  static async open(arithmetic: Arithmetic, source: WeightSource, adapters: AdapterConfig): Promise<MergedWeights> {
    const model = { ...arithmetic.model, value_head: false };
    const linearsByName = new Map(adaptedLinears(model, adapters).map((linear) => [linear.weightName, linear]));
    const layout: (Parameter & { readonly offset: number })[] = [];
    const pool = arithmetic.reals(mergedSize(model));
    const adaptedMatrices: AdaptedMatrix[] = [];
    let offset = 0;
    for (const parameter of parameters(model)) {
      const stored = storedTensor(source, parameter.name);
      const packed = new Uint8Array(stored.bytes);
      await stored.read(packed);
      const merged = pool.subarray(offset, offset + parameter.size);
      widenInto(merged, stored, packed);
      const adaptedLinear = linearsByName.get(parameter.name);
      if (adaptedLinear) adaptedMatrices.push({ ...adaptedLinear, stored, packed, merged });
      layout.push({ ...parameter, offset });
      offset += parameter.size;
    }
    return new MergedWeights(arithmetic, tensorsOf(model, layout, pool), adaptedMatrices, adapters);
  }

  /** Replaces the adapters merged before; `layout` says where each is in the pool `weights`. */
  merge(arithmetic: Arithmetic, { layout }: Pick<TrainedTensors, 'layout'>, weights: Real): void {
    const offsets = new Map(layout.map(({ name, offset }) => [name, offset]));
    const rank = this.#rank;
    for (const { a, b, out, in: fanIn, merged, stored, packed } of this.#sites) {
      widenInto(merged, stored, packed);
      const bStart = offsets.get(b.name)!;
      for (let o = 0; o < out; o++) {
        for (let r = 0; r < rank; r++) this.#transposedB[r * out + o] = this.#scale * weights[bStart + o * rank + r]!;
      }
      const aWeights = weights.subarray(offsets.get(a.name), offsets.get(a.name)! + a.size);
      arithmetic.matmulTN(merged, this.#transposedB.subarray(0, rank * out), aWeights, out, fanIn, rank);
    }
  }
}

const widestOutput = (matrices: readonly AdaptedLinear[]) => matrices.reduce((most, { out }) => Math.max(most, out), 0);

function widenInto(out: Real, { format }: StoredTensor, packed: Uint8Array): void {
  if (out instanceof Float32Array) {
    format.toFloat32(out, packed);
    return;
  }
  const numbers = new Float32Array(out.length);
  format.toFloat32(numbers, packed);
  out.set(numbers);
}

/** Returns the size of the merged weights, in numbers. */
export function mergedSize(model: Arithmetic['model']): number {
  return parameters({ ...model, value_head: false }).reduce((sum, { size }) => sum + size, 0);
}
