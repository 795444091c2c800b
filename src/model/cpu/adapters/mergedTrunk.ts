import { adapted, type AdapterConfig, adapterScale, type Adapted } from '../../loraAdapters.ts';
import { parameters, type Parameter } from '../../architecture.ts';
import { storedTensor, type StoredTensor, type WeightSource } from '../../weightSource.ts';
import type { Arithmetic } from '../arithmetic.ts';
import { type Learned, type Tensors, tensorsOf } from '../network.ts';
import type { Real } from '../real.ts';

/** A matrix that an adapter lies beside: what it weighs without, as its file packs it, and where it is held with. */
interface Site extends Adapted {
  readonly stored: StoredTensor;
  readonly packed: Uint8Array;
  readonly merged: Real; // (out, in)
}

/**
 * The weights of a checkpoint with its adapters merged into them: W + alpha/rank·B·A, as numbers. Passes read these, so that adapters cost a forward pass
 * nothing; `merge` makes them again from the packed weights, so that no rounding adds up from step to step.
 */
export class MergedTrunk {
  readonly tensors: Tensors;
  readonly #sites: readonly Site[];
  readonly #scale: number;
  readonly #rank: number;
  readonly #turned: Real; // (rank, out) scale·Bᵀ of one adapter

  private constructor(arithmetic: Arithmetic, tensors: Tensors, sites: readonly Site[], adapters: AdapterConfig) {
    this.tensors = tensors;
    this.#sites = sites;
    this.#scale = adapterScale(adapters);
    this.#rank = adapters.rank;
    this.#turned = arithmetic.reals(mostOut(sites) * adapters.rank);
  }

  /** Reads the checkpoint, tensor by tensor. Throws ProblemError, by file and tensor. */
  static async open(arithmetic: Arithmetic, source: WeightSource, adapters: AdapterConfig): Promise<MergedTrunk> {
    const model = { ...arithmetic.model, value_head: false };
    const sites = new Map(adapted(model, adapters).map((site) => [site.weight, site]));
    const placed: (Parameter & { readonly offset: number })[] = [];
    const pool = arithmetic.reals(wholeSize(model));
    const held: Site[] = [];
    let offset = 0;
    for (const parameter of parameters(model)) {
      const stored = storedTensor(source, parameter.name);
      const packed = new Uint8Array(stored.bytes);
      await stored.read(packed);
      const merged = pool.subarray(offset, offset + parameter.size);
      widenInto(merged, stored, packed);
      const site = sites.get(parameter.name);
      if (site) held.push({ ...site, stored, packed, merged });
      placed.push({ ...parameter, offset });
      offset += parameter.size;
    }
    return new MergedTrunk(arithmetic, tensorsOf(model, placed, pool), held, adapters);
  }

  /** Merges these adapters, laid out as `placed`, in place of those before. */
  merge(arithmetic: Arithmetic, { placed }: Pick<Learned, 'placed'>, weights: Real): void {
    const offsets = new Map(placed.map(({ name, offset }) => [name, offset]));
    const rank = this.#rank;
    for (const { a, b, out, in: fanIn, merged, stored, packed } of this.#sites) {
      widenInto(merged, stored, packed);
      const from = offsets.get(b.name)!;
      for (let o = 0; o < out; o++) {
        for (let r = 0; r < rank; r++) this.#turned[r * out + o] = this.#scale * weights[from + o * rank + r]!;
      }
      const given = weights.subarray(offsets.get(a.name), offsets.get(a.name)! + a.size);
      arithmetic.matmulTN(merged, this.#turned.subarray(0, rank * out), given, out, fanIn, rank);
    }
  }
}

const mostOut = (sites: readonly Adapted[]) => sites.reduce((most, { out }) => Math.max(most, out), 0);

function widenInto(to: Real, { format }: StoredTensor, packed: Uint8Array): void {
  if (to instanceof Float32Array) {
    format.widen(to, packed);
    return;
  }
  const wide = new Float32Array(to.length);
  format.widen(wide, packed);
  to.set(wide);
}

/** How many numbers the merged weights take. */
export function wholeSize(model: Arithmetic['model']): number {
  return parameters({ ...model, value_head: false }).reduce((sum, { size }) => sum + size, 0);
}
