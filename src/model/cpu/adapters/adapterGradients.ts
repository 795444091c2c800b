import { adapted, type AdapterConfig, adapterScale, type Linear } from '../../loraAdapters.ts';
import type { Arithmetic } from '../arithmetic.ts';
import type { Learned } from '../network.ts';
import type { Real } from '../real.ts';
import type { LayerMatrix, LayerSink } from '../transformer.ts';

/** The linear layers that are stacked in each weight matrix, in order. */
const SIDE_BY_SIDE: Readonly<Record<LayerMatrix, readonly Linear[]>> = {
  qkv: ['q_proj', 'k_proj', 'v_proj'],
  output: ['o_proj'],
  gateUp: ['gate_proj', 'up_proj'],
  down: ['down_proj'],
};

/** One adapter: A, B and their gradients, as views of the pools. */
interface Site {
  readonly column: number; // first column of the linear layer in dy of the whole matrix
  readonly out: number;
  readonly in: number;
  readonly a: Real; // (rank, in)
  readonly b: Real; // (out, rank)
  readonly da: Real;
  readonly db: Real;
}

/**
 * Computes the gradients of adapters from the inputs and output gradients of the weight matrices. With
 * y = x·(W + s·B·A)ᵀ and s = alpha/rank, dB += s·dyᵀ·(x·Aᵀ) and dA += s·(dy·B)ᵀ·x. The product B·A is never computed.
 */
export class AdapterGradients {
  /** (d) Receives the gradients of the norms' weights, which are not used. */
  readonly unwanted: Real;
  readonly #arithmetic: Arithmetic;
  readonly #rank: number;
  readonly #scale: number;
  readonly #sites: readonly Readonly<Record<LayerMatrix, readonly Site[]>>[]; // by layer
  readonly #lowRank: Real; // (n, rank) scratch memory
  readonly #part: Real; // (n, out) dy of one linear layer, if a matrix has several

  /** Allocates memory for passes of up to `tokens` tokens. */
  constructor(arithmetic: Arithmetic, adapters: AdapterConfig, learned: Learned, tokens: number) {
    const { model, reals } = arithmetic;
    const offsets = new Map(learned.placed.map(({ name, offset }) => [name, offset]));
    const view = (pool: Real, name: string, size: number) =>
      pool.subarray(offsets.get(name), offsets.get(name)! + size);
    const all = adapted(model, adapters);
    const widths: Record<Linear, number> = linearWidths(model);
    this.#arithmetic = arithmetic;
    this.#rank = adapters.rank;
    this.#scale = adapterScale(adapters);
    this.unwanted = reals(model.hidden_size);
    this.#lowRank = reals(tokens * adapters.rank);
    this.#part = reals(tokens * partWidth(model));
    const sitesOf = (layer: number, which: LayerMatrix): readonly Site[] => {
      let column = 0;
      return SIDE_BY_SIDE[which].flatMap((linear): Site[] => {
        const begin = column;
        column += widths[linear];
        const found = all.find((each) => each.layer === layer && each.linear === linear);
        if (!found) return [];
        const { a, b, out, in: fanIn } = found;
        const pools = { a: view(learned.weights, a.name, a.size), b: view(learned.weights, b.name, b.size) };
        const grads = { da: view(learned.gradients, a.name, a.size), db: view(learned.gradients, b.name, b.size) };
        return [{ column: begin, out, in: fanIn, ...pools, ...grads }];
      });
    };
    this.#sites = Array.from({ length: model.num_hidden_layers }, (_, layer) => ({
      qkv: sitesOf(layer, 'qkv'),
      output: sitesOf(layer, 'output'),
      gateUp: sitesOf(layer, 'gateUp'),
      down: sitesOf(layer, 'down'),
    }));
  }

  /** Returns the receiver of a layer's gradients in the backward pass. */
  sink(layer: number): LayerSink {
    const sites = this.#sites[layer]!;
    return {
      matrix: (which, dy, x, n) => {
        for (const site of sites[which]) this.#add(site, dy, x, n);
      },
      qkvBias: null,
      inputNorm: this.unwanted,
      postNorm: this.unwanted,
    };
  }

  #add({ column, out, in: fanIn, a, b, da, db }: Site, dyOfMatrix: Real, x: Real, n: number): void {
    const { matmulNT, matmulNN, matmulTN } = this.#arithmetic;
    const rank = this.#rank;
    const lowRank = this.#lowRank.subarray(0, n * rank);
    const stride = dyOfMatrix.length / n;
    const dy = stride === out ? dyOfMatrix : this.#part.subarray(0, n * out);
    if (dy !== dyOfMatrix) {
      for (let i = 0; i < n; i++) dy.set(dyOfMatrix.subarray(i * stride + column, i * stride + column + out), i * out);
    }
    matmulNT(lowRank, x, a, n, rank, fanIn);
    this.#multiplyByScale(lowRank);
    matmulTN(db, dy, lowRank, out, rank, n);
    matmulNN(lowRank, dy, b, n, rank, out);
    this.#multiplyByScale(lowRank);
    matmulTN(da, lowRank, x, rank, fanIn, n);
  }

  #multiplyByScale(values: Real): void {
    for (let i = 0; i < values.length; i++) values[i] = values[i]! * this.#scale;
  }
}

function linearWidths(model: Arithmetic['model']): Record<Linear, number> {
  const q = model.num_attention_heads * model.head_dim;
  const kv = model.num_key_value_heads * model.head_dim;
  const { hidden_size: d, intermediate_size: f } = model;
  return { q_proj: q, k_proj: kv, v_proj: kv, o_proj: d, gate_proj: f, up_proj: f, down_proj: d };
}

/** Returns the largest output width of a linear layer that shares a matrix with others. */
const partWidth = (model: Arithmetic['model']) =>
  Math.max(model.num_attention_heads * model.head_dim, model.intermediate_size);

/** Returns the size of the memory that `AdapterGradients` allocates for passes of up to `tokens` tokens, in numbers. */
export function adapterGradientSize(model: Arithmetic['model'], { rank }: AdapterConfig, tokens: number): number {
  return model.hidden_size + tokens * (rank + partWidth(model));
}
