import { adapted, type AdapterConfig, adapterScale, type Adapted } from '../../loraAdapters.ts';
import { parameters, type Parameter } from '../../architecture.ts';
import { storedTensor, type StoredTensor, type WeightSource } from '../../weightSource.ts';
import type { Arithmetic } from '../arithmetic.ts';
import { type Learned, type Tensors, tensorsOf } from '../network.ts';
import type { Real } from '../real.ts';

/** A weight matrix with an adapter. */
interface Site extends Adapted {
  readonly stored: StoredTensor;
  readonly packed: Uint8Array; // the checkpoint's weights, as the file packs them
  readonly merged: Real; // (out, in) the weights with the adapter
}

/**
 * The weights of a checkpoint with the adapters merged in: W + alpha/rank·B·A, unpacked. Passes read these weights, so
 * adapters cost nothing in a forward pass. `merge` computes them from the packed weights each time, so that rounding
 * errors don't add up over steps.
 */
export class MergedTrunk {
  readonly tensors: Tensors;
  readonly #sites: readonly Site[];
  readonly #scale: number;
  readonly #rank: number;
  readonly #transposedB: Real; // (rank, out) alpha/rank·Bᵀ of one adapter

  private constructor(arithmetic: Arithmetic, tensors: Tensors, sites: readonly Site[], adapters: AdapterConfig) {
    this.tensors = tensors;
    this.#sites = sites;
    this.#scale = adapterScale(adapters);
    this.#rank = adapters.rank;
    this.#transposedB = arithmetic.reals(mostOut(sites) * adapters.rank);
  }

  /** Reads the checkpoint, tensor by tensor. Throws ProblemError with file and tensor. */
  static async open(arithmetic: Arithmetic, source: WeightSource, adapters: AdapterConfig): Promise<MergedTrunk> {
    const model = { ...arithmetic.model, value_head: false };
    const sites = new Map(adapted(model, adapters).map((site) => [site.weight, site]));
    const placed: (Parameter & { readonly offset: number })[] = [];
    const pool = arithmetic.reals(mergedSize(model));
    const adaptedSites: Site[] = [];
    let offset = 0;
    for (const parameter of parameters(model)) {
      const stored = storedTensor(source, parameter.name);
      const packed = new Uint8Array(stored.bytes);
      await stored.read(packed);
      const merged = pool.subarray(offset, offset + parameter.size);
      widenInto(merged, stored, packed);
      const site = sites.get(parameter.name);
      if (site) adaptedSites.push({ ...site, stored, packed, merged });
      placed.push({ ...parameter, offset });
      offset += parameter.size;
    }
    return new MergedTrunk(arithmetic, tensorsOf(model, placed, pool), adaptedSites, adapters);
  }

  /**
   * Merges the adapters `weights`, which have the layout of `placed`. Replaces the adapters that were merged before.
   */
  merge(arithmetic: Arithmetic, { placed }: Pick<Learned, 'placed'>, weights: Real): void {
    const offsets = new Map(placed.map(({ name, offset }) => [name, offset]));
    const rank = this.#rank;
    for (const { a, b, out, in: fanIn, merged, stored, packed } of this.#sites) {
      widenInto(merged, stored, packed);
      const from = offsets.get(b.name)!;
      for (let o = 0; o < out; o++) {
        for (let r = 0; r < rank; r++) this.#transposedB[r * out + o] = this.#scale * weights[from + o * rank + r]!;
      }
      const aWeights = weights.subarray(offsets.get(a.name), offsets.get(a.name)! + a.size);
      arithmetic.matmulTN(merged, this.#transposedB.subarray(0, rank * out), aWeights, out, fanIn, rank);
    }
  }
}

const mostOut = (sites: readonly Adapted[]) => sites.reduce((most, { out }) => Math.max(most, out), 0);

function widenInto(to: Real, { format }: StoredTensor, packed: Uint8Array): void {
  if (to instanceof Float32Array) {
    format.widen(to, packed);
    return;
  }
  const numbers = new Float32Array(to.length);
  format.widen(numbers, packed);
  to.set(numbers);
}

/** Returns the size of the merged weights, in numbers. */
export function mergedSize(model: Arithmetic['model']): number {
  return parameters({ ...model, value_head: false }).reduce((sum, { size }) => sum + size, 0);
}
