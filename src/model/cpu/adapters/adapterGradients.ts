import { adaptedLinears, type AdapterConfig, adapterScale, type LinearName } from '../../loraAdapters.ts';
import type { Arithmetic } from '../arithmetic.ts';
import type { TrainedTensors } from '../../learning/trainedTensors.ts';
import type { Real } from '../../learning/real.ts';
import type { LayerMatrix, LayerSink } from '../transformer.ts';
import type { InTurn } from '../team/team.ts';
import type { WeightGradients } from '../weightGradients.ts';

/** The linear layers that are stacked in each weight matrix, in order. */
const LINEARS_OF_MATRIX: Readonly<Record<LayerMatrix, readonly LinearName[]>> = {
  qkv: ['q_proj', 'k_proj', 'v_proj'],
  output: ['o_proj'],
  gateUp: ['gate_proj', 'up_proj'],
  down: ['down_proj'],
};

/** The tensors of one adapter and their gradients, as views of the pools. */
interface AdapterTensors {
  readonly column: number; // first column of the linear layer in dy of the whole matrix
  readonly out: number;
  readonly in: number;
  readonly a: Real; // (rank, in)
  readonly b: Real; // (out, rank)
  readonly da: Real;
  readonly db: Real;
}

/** With y = x·(W + s·B·A)ᵀ and s = alpha/rank, dB += s·dyᵀ·(x·Aᵀ) and dA += s·(dy·B)ᵀ·x. B·A is never computed. */
export class AdapterGradients implements WeightGradients {
  readonly head = null;
  readonly embed = null;
  /** (max(d, D)) Receives the gradients of the weights of all norms, which are not used. */
  readonly norm: Real;
  readonly #arithmetic: Arithmetic;
  readonly #rank: number;
  readonly #scale: number;
  readonly #sites: readonly Readonly<Record<LayerMatrix, readonly AdapterTensors[]>>[]; // by layer
  readonly #lowRank: Real; // (n, rank) scratch memory
  readonly #part: Real; // (n, out) dy of one linear layer, if a matrix has several

  /** Allocates memory for passes of up to `tokens` tokens. */
  constructor(arithmetic: Arithmetic, adapters: AdapterConfig, trained: TrainedTensors, tokens: number) {
    const { model, reals } = arithmetic;
    const offsets = new Map(trained.layout.map(({ name, offset }) => [name, offset]));
    const view = (pool: Real, name: string, size: number) =>
      pool.subarray(offsets.get(name), offsets.get(name)! + size);
    const adaptedLayers = adaptedLinears(model, adapters);
    const widths: Record<LinearName, number> = linearWidths(model);
    this.#arithmetic = arithmetic;
    this.#rank = adapters.rank;
    this.#scale = adapterScale(adapters);
    this.norm = reals(unusedSize(model));
    this.#lowRank = reals(tokens * adapters.rank);
    this.#part = reals(tokens * partWidth(model));
    const adaptersOf = (layer: number, matrixName: LayerMatrix): readonly AdapterTensors[] => {
      let column = 0;
      return LINEARS_OF_MATRIX[matrixName].flatMap((linear): AdapterTensors[] => {
        const firstColumn = column;
        column += widths[linear];
        const adaptedLinear = adaptedLayers.find((each) => each.layer === layer && each.linear === linear);
        if (!adaptedLinear) return [];
        const { a, b, out, in: inWidth } = adaptedLinear;
        const weights = { a: view(trained.weights, a.name, a.size), b: view(trained.weights, b.name, b.size) };
        const gradients = { da: view(trained.gradients, a.name, a.size), db: view(trained.gradients, b.name, b.size) };
        return [{ column: firstColumn, out, in: inWidth, ...weights, ...gradients }];
      });
    };
    this.#sites = Array.from({ length: model.num_hidden_layers }, (_, layer) => ({
      qkv: adaptersOf(layer, 'qkv'),
      output: adaptersOf(layer, 'output'),
      gateUp: adaptersOf(layer, 'gateUp'),
      down: adaptersOf(layer, 'down'),
    }));
  }

  layer(layer: number, inTurn: InTurn): LayerSink {
    const adapters = this.#sites[layer]!;
    return {
      matrix: (matrixName, dy, x, n) => {
        for (const adapter of adapters[matrixName]) this.#add(adapter, dy, x, n);
      },
      qkvBias: null,
      headNorms: { q: this.norm, k: this.norm },
      inTurn,
      inputNorm: this.norm,
      postNorm: this.norm,
    };
  }

  #add({ column, out, in: inWidth, a, b, da, db }: AdapterTensors, dyOfMatrix: Real, x: Real, n: number): void {
    const { matmulNT, matmulNN, matmulTN } = this.#arithmetic;
    const rank = this.#rank;
    const lowRank = this.#lowRank.subarray(0, n * rank);
    const stride = dyOfMatrix.length / n;
    const dy = stride === out ? dyOfMatrix : this.#part.subarray(0, n * out);
    if (dy !== dyOfMatrix) {
      for (let i = 0; i < n; i++) dy.set(dyOfMatrix.subarray(i * stride + column, i * stride + column + out), i * out);
    }
    matmulNT(lowRank, x, a, n, rank, inWidth);
    this.#multiplyByScale(lowRank);
    matmulTN(db, dy, lowRank, out, rank, n);
    matmulNN(lowRank, dy, b, n, rank, out);
    this.#multiplyByScale(lowRank);
    matmulTN(da, lowRank, x, rank, inWidth, n);
  }

  #multiplyByScale(values: Real): void {
    for (let i = 0; i < values.length; i++) values[i] = values[i]! * this.#scale;
  }
}

function linearWidths(model: Arithmetic['model']): Record<LinearName, number> {
  const q = model.num_attention_heads * model.head_dim;
  const kv = model.num_key_value_heads * model.head_dim;
  const { hidden_size: d, intermediate_size: f } = model;
  return { q_proj: q, k_proj: kv, v_proj: kv, o_proj: d, gate_proj: f, up_proj: f, down_proj: d };
}

/** Returns the largest output width of a linear layer that shares a matrix with others. */
const partWidth = (model: Arithmetic['model']) =>
  Math.max(model.num_attention_heads * model.head_dim, model.intermediate_size);

const unusedSize = (model: Arithmetic['model']) => Math.max(model.hidden_size, model.head_dim);

/** Returns the size of the memory that `AdapterGradients` allocates for passes of up to `tokens` tokens, in numbers. */
export function adapterGradientSize(model: Arithmetic['model'], { rank }: AdapterConfig, tokens: number): number {
  return unusedSize(model) + tokens * (rank + partWidth(model));
}
