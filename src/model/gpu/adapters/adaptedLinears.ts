import type { Kernel } from '../../../gpu/kernel.ts';
import * as kernels from '../../../gpu/kernels/index.ts';
import type { Plan } from '../../../gpu/plan.ts';
import type { Arena, Tensor } from '../../../gpu/tensor.ts';
import { F32 } from '../../../formats/blocks/floats.ts';
import { adaptedLinears, type AdaptedLinear, type AdapterConfig, adapterScale } from '../../loraAdapters.ts';
import type { ModelConfig } from '../../architecture.ts';
import type { PlacedTensor } from '../../learning/trainedTensors.ts';
import { storedTensor, readFloat32, type WeightSource } from '../../weightSource.ts';
import { declareMatrix, type Matrix } from '../matrices.ts';
import type { LayerWeights, TrainedLayers } from '../transformer.ts';

/** A linear layer with an adapter, its packed weights without the adapter, and where its merged weights are. */
export interface DeviceAdaptedLinear extends AdaptedLinear {
  readonly baseMatrix: Matrix; // (out, in)
  readonly mergedMatrix: Matrix; // its rows `firstColumn` … `firstColumn` + out − 1 are this layer's
  readonly firstColumn: number; // first column of this layer's output in the product
  readonly aStart: number; // first scalar of A in the tensor of all adapters
  readonly bStart: number; // first scalar of B there
}

/** Converts adapted matrices to float32, because the device stores merged ones in float32. The adapters are not merged in. */
export function withFloats(source: WeightSource, model: ModelConfig, adapters: AdapterConfig): WeightSource {
  const all = new Map(source);
  for (const { weightName, out, in: fanIn } of adaptedLinears(model, adapters)) {
    const stored = storedTensor(source, weightName);
    const read = async (into: Uint8Array) => into.set(new Uint8Array((await readFloat32(stored)).buffer));
    all.set(weightName, { shape: stored.shape, format: F32, bytes: F32.blockBytes * out * fanIn, read });
  }
  return all;
}

/** Declares the packed weights of every adapted linear layer. `matrices` has the matrices into which they are merged. */
export function declareAdaptedLinears(
  arena: Arena,
  source: WeightSource,
  model: ModelConfig,
  adapters: AdapterConfig,
  placed: readonly PlacedTensor[],
  { matrices, limit }: { readonly matrices: readonly Matrix[]; readonly limit: number },
): readonly DeviceAdaptedLinear[] {
  const offsets = new Map(placed.map(({ name, offset }) => [name, offset]));
  return adaptedLinears(model, adapters).map((linear): DeviceAdaptedLinear => {
    const mergedMatrix = matrices.find(({ names }) => names.includes(linear.weightName))!;
    const before = mergedMatrix.names.slice(0, mergedMatrix.names.indexOf(linear.weightName));
    return {
      ...linear,
      baseMatrix: declareMatrix(arena, source, [linear.weightName], limit),
      mergedMatrix,
      firstColumn: before.reduce((sum, name) => sum + storedTensor(source, name).shape[0]!, 0),
      aStart: offsets.get(linear.a.name)!,
      bStart: offsets.get(linear.b.name)!,
    };
  });
}

const MERGE_KERNELS: ReadonlyMap<string, Kernel> = new Map([
  ['F32', kernels.mergeAdapterFloats],
  ['F16', kernels.mergeAdapterPackedHalves],
  ['BF16', kernels.mergeAdapterBf16],
  ['Q8_0', kernels.mergeAdapterQ80],
  ['Q4_1', kernels.mergeAdapterQ41],
  ['Q4_0', kernels.mergeAdapterQ40],
]);

/** W + alpha/rank·B·A, with W from the packed weights each time, so rounding errors don't add up. */
export function recordMerge(
  plan: Plan,
  linears: readonly DeviceAdaptedLinear[],
  adapterTensor: Tensor,
  adapters: AdapterConfig,
): void {
  for (const { baseMatrix, mergedMatrix, firstColumn, out, in: C, aStart, bStart } of linears) {
    for (const from of baseMatrix.parts) {
      for (const to of mergedMatrix.parts) {
        const first = Math.max(from.firstRow, to.firstRow - firstColumn);
        const end = Math.min(from.firstRow + from.rows, to.firstRow + to.rows - firstColumn, out);
        if (end <= first) continue;
        plan.dispatch(
          MERGE_KERNELS.get(baseMatrix.format.name)!,
          { adapters: adapterTensor, b: from.weights, merged: to.weights },
          {
            ...{ C, R: end - first, first, at: firstColumn + first - to.firstRow, base_at: first - from.firstRow },
            ...{ rank: adapters.rank, a_at: aStart, b_at: bStart },
          },
          { SCALE: adapterScale(adapters) },
        );
      }
    }
  }
}

export interface AdapterTensors {
  readonly adapters: Tensor; // all adapters
  readonly gradients: Tensor; // same layout as `adapters`
  readonly xA: Tensor; // (M, rank) scale·x·Aᵀ
  readonly dyB: Tensor; // (M, rank) scale·dy·B
}

/** The adapters have gradients, and nothing else. */
export function adaptedLayers(
  layers: readonly LayerWeights[],
  linears: readonly DeviceAdaptedLinear[],
  adapters: AdapterConfig,
  tensors: AdapterTensors,
): TrainedLayers {
  return {
    addGradient: (plan, name, layer, dy, x, N) => {
      const matrixLinears = linears.filter(({ mergedMatrix }) => mergedMatrix === layers[layer]![name]);
      recordAdapterGradients(plan, matrixLinears, adapters, { dy, x, N }, tensors);
    },
    trainsInput: false,
  };
}

/** From dy (N, rows of the merged matrix), with s = alpha/rank: dB += dyᵀ·(s·x·Aᵀ), dA += (s·dy·B)ᵀ·x. B·A is never computed. */
function recordAdapterGradients(
  plan: Plan,
  linears: readonly DeviceAdaptedLinear[],
  { rank, ...rest }: AdapterConfig,
  { dy, x, N }: { readonly dy: Tensor; readonly x: Tensor; readonly N: number },
  { adapters, gradients, xA, dyB }: AdapterTensors,
): void {
  const scaled = { SCALE: adapterScale({ rank, ...rest }) };
  const J = rank;
  for (const { mergedMatrix, firstColumn, out, in: fanIn, aStart, bStart } of linears) {
    const width = mergedMatrix.rows;
    const rows = { c_at: 0, ci: rank, cj: 1, add: 0 };
    plan.dispatch(
      kernels.adapterProduct,
      { a: x, b: adapters, c: xA },
      { I: N, J, K: fanIn, a_at: 0, ai: fanIn, ak: 1, b_at: aStart, bk: 1, bj: fanIn, ...rows },
      scaled,
    );
    plan.dispatch(
      kernels.adapterProduct,
      { a: dy, b: adapters, c: dyB },
      { I: N, J, K: out, a_at: firstColumn, ai: width, ak: 1, b_at: bStart, bk: rank, bj: 1, ...rows },
      scaled,
    );
    const rankOperand = { b_at: 0, bk: rank, bj: 1, add: 1 };
    plan.dispatch(
      kernels.adapterProduct,
      { a: dy, b: xA, c: gradients },
      { I: out, J, K: N, a_at: firstColumn, ai: 1, ak: width, ...rankOperand, c_at: bStart, ci: rank, cj: 1 },
    );
    plan.dispatch(
      kernels.adapterProduct,
      { a: x, b: dyB, c: gradients },
      { I: fanIn, J, K: N, a_at: 0, ai: 1, ak: fanIn, ...rankOperand, c_at: aStart, ci: 1, cj: fanIn },
    );
  }
}
