import type { Kernel } from '../../../gpu/kernel.ts';
import * as kernels from '../../../gpu/kernels/index.ts';
import type { Plan } from '../../../gpu/plan.ts';
import type { Arena, Tensor } from '../../../gpu/tensor.ts';
import { F32 } from '../../../formats/blocks/floats.ts';
import { adapted, type Adapted, type AdapterConfig, adapterScale } from '../../loraAdapters.ts';
import type { ModelConfig } from '../../architecture.ts';
import type { Placed } from '../../cpu/network.ts';
import { storedTensor, widened, type WeightSource } from '../../weightSource.ts';
import { declareMatrix, type Matrix } from '../text/matrices.ts';

/** A linear layer with an adapter, its packed weights without the adapter, and where its merged weights are. */
export interface Site extends Adapted {
  readonly base: Matrix; // (out, in)
  readonly merged: Matrix; // its rows `column` … column + out − 1 are this layer's
  readonly column: number; // first column of this layer's output in the product
  readonly aAt: number; // first scalar of A in the pool of adapters
  readonly bAt: number; // first scalar of B
}

/**
 * The checkpoint with its adapted matrices converted to float32, because the device stores merged matrices in float32.
 * The adapters are not merged in.
 */
export function withFloats(source: WeightSource, model: ModelConfig, adapters: AdapterConfig): WeightSource {
  const all = new Map(source);
  for (const { weight, out, in: fanIn } of adapted(model, adapters)) {
    const stored = storedTensor(source, weight);
    const read = async (into: Uint8Array) => into.set(new Uint8Array((await widened(stored)).buffer));
    all.set(weight, { shape: stored.shape, format: F32, bytes: F32.bytes * out * fanIn, read });
  }
  return all;
}

/**
 * Declares the packed weights of every adapted linear layer. `matrices` has the matrices into which they are merged.
 */
export function declareSites(
  arena: Arena,
  source: WeightSource,
  model: ModelConfig,
  adapters: AdapterConfig,
  placed: readonly Placed[],
  { matrices, limit }: { readonly matrices: readonly Matrix[]; readonly limit: number },
): readonly Site[] {
  const offsets = new Map(placed.map(({ name, offset }) => [name, offset]));
  return adapted(model, adapters).map((site): Site => {
    const merged = matrices.find(({ names }) => names.includes(site.weight))!;
    const before = merged.names.slice(0, merged.names.indexOf(site.weight));
    return {
      ...site,
      base: declareMatrix(arena, source, [site.weight], limit),
      merged,
      column: before.reduce((sum, name) => sum + storedTensor(source, name).shape[0]!, 0),
      aAt: offsets.get(site.a.name)!,
      bAt: offsets.get(site.b.name)!,
    };
  });
}

const MERGE: ReadonlyMap<string, Kernel> = new Map([
  ['F32', kernels.mergeAdapterFloats],
  ['F16', kernels.mergeAdapterPackedHalves],
  ['BF16', kernels.mergeAdapterBf16],
  ['Q8_0', kernels.mergeAdapterQ80],
  ['Q4_1', kernels.mergeAdapterQ41],
  ['Q4_0', kernels.mergeAdapterQ40],
]);

/**
 * Records W + alpha/rank·B·A for every site, with the adapters in the pool. W comes from the packed weights each time,
 * so rounding errors don't add up.
 */
export function recordMerge(plan: Plan, sites: readonly Site[], pool: Tensor, adapters: AdapterConfig): void {
  for (const { base, merged, column, out, in: C, aAt, bAt } of sites) {
    for (const from of base.parts) {
      for (const to of merged.parts) {
        const first = Math.max(from.first, to.first - column);
        const end = Math.min(from.first + from.rows, to.first + to.rows - column, out);
        if (end <= first) continue;
        plan.dispatch(
          MERGE.get(base.format.name)!,
          { adapters: pool, b: from.weights, merged: to.weights },
          {
            ...{ C, R: end - first, first, at: column + first - to.first, base_at: first - from.first },
            ...{ rank: adapters.rank, a_at: aAt, b_at: bAt },
          },
          { SCALE: adapterScale(adapters) },
        );
      }
    }
  }
}

/** Tensors for computing the gradients of adapters. */
export interface SiteTensors {
  readonly pool: Tensor; // all adapters
  readonly gradients: Tensor; // same layout as the pool
  readonly downward: Tensor; // (M, rank) scale·x·Aᵀ
  readonly upward: Tensor; // (M, rank) scale·dy·B
}

/**
 * Records the gradients of the adapters of a matrix, from dy (N, rows of the merged matrix), and adds them to
 * `gradients`. With s = alpha/rank: dB += dyᵀ·(s·x·Aᵀ), dA += (s·dy·B)ᵀ·x. The product B·A is never computed.
 */
export function recordSiteGradients(
  plan: Plan,
  sites: readonly Site[],
  { rank, ...rest }: AdapterConfig,
  { dy, x, N }: { readonly dy: Tensor; readonly x: Tensor; readonly N: number },
  { pool, gradients, downward, upward }: SiteTensors,
): void {
  const scaled = { SCALE: adapterScale({ rank, ...rest }) };
  const J = rank;
  for (const { merged, column, out, in: fanIn, aAt, bAt } of sites) {
    const width = merged.rows;
    const rows = { c_at: 0, ci: rank, cj: 1, add: 0 };
    plan.dispatch(
      kernels.adapterProduct,
      { a: x, b: pool, c: downward },
      { I: N, J, K: fanIn, a_at: 0, ai: fanIn, ak: 1, b_at: aAt, bk: 1, bj: fanIn, ...rows },
      scaled,
    );
    plan.dispatch(
      kernels.adapterProduct,
      { a: dy, b: pool, c: upward },
      { I: N, J, K: out, a_at: column, ai: width, ak: 1, b_at: bAt, bk: rank, bj: 1, ...rows },
      scaled,
    );
    const rankOperand = { b_at: 0, bk: rank, bj: 1, add: 1 };
    plan.dispatch(
      kernels.adapterProduct,
      { a: dy, b: downward, c: gradients },
      { I: out, J, K: N, a_at: column, ai: 1, ak: width, ...rankOperand, c_at: bAt, ci: rank, cj: 1 },
    );
    plan.dispatch(
      kernels.adapterProduct,
      { a: x, b: upward, c: gradients },
      { I: fanIn, J, K: N, a_at: 0, ai: 1, ak: fanIn, ...rankOperand, c_at: aAt, ci: 1, cj: fanIn },
    );
  }
}
