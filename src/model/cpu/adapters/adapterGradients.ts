import { adapted, type AdapterConfig, adapterScale, type Linear } from '../../loraAdapters.ts';
import type { Arithmetic } from '../arithmetic.ts';
import type { Learned } from '../network.ts';
import type { Real } from '../real.ts';
import type { LayerMatrix, LayerSink } from '../transformer.ts';

/** Which linears lie side by side in a matrix, in order. */
const SIDE_BY_SIDE: Readonly<Record<LayerMatrix, readonly Linear[]>> = {
  qkv: ['q_proj', 'k_proj', 'v_proj'],
  output: ['o_proj'],
  gateUp: ['gate_proj', 'up_proj'],
  down: ['down_proj'],
};

/** A, B and their gradients, views of the pools. */
interface Site {
  readonly column: number; // where its part of dy begins
  readonly out: number;
  readonly in: number;
  readonly a: Real; // (rank, in)
  readonly b: Real; // (out, rank)
  readonly da: Real;
  readonly db: Real;
}

/**
 * Gradients of adapters from what flows by: with y = x·(W + s·B·A)ᵀ, s = alpha/rank, dB += s·dyᵀ·(x·Aᵀ) and dA += s·(dy·B)ᵀ·x. The product B·A is never
 * formed.
 */
export class AdapterGradients {
  /** (d) Receives the gradients of the norms' weights, which are not used. */
  readonly unwanted: Real;
  readonly #arithmetic: Arithmetic;
  readonly #rank: number;
  readonly #scale: number;
  readonly #sites: readonly Readonly<Record<LayerMatrix, readonly Site[]>>[]; // by layer
  readonly #narrow: Real; // (n, rank)
  readonly #part: Real; // (n, out)

  /** For passes of up to `tokens` tokens. */
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
    this.#narrow = reals(tokens * adapters.rank);
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

  /** Where a layer's backward pass tells of its matrices. */
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

  #add({ column, out, in: fanIn, a, b, da, db }: Site, wide: Real, x: Real, n: number): void {
    const { matmulNT, matmulNN, matmulTN } = this.#arithmetic;
    const rank = this.#rank;
    const narrow = this.#narrow.subarray(0, n * rank);
    const stride = wide.length / n;
    const dy = stride === out ? wide : this.#part.subarray(0, n * out);
    if (dy !== wide) {
      for (let i = 0; i < n; i++) dy.set(wide.subarray(i * stride + column, i * stride + column + out), i * out);
    }
    matmulNT(narrow, x, a, n, rank, fanIn);
    this.#scaled(narrow);
    matmulTN(db, dy, narrow, out, rank, n);
    matmulNN(narrow, dy, b, n, rank, out);
    this.#scaled(narrow);
    matmulTN(da, narrow, x, rank, fanIn, n);
  }

  #scaled(values: Real): void {
    for (let i = 0; i < values.length; i++) values[i] = values[i]! * this.#scale;
  }
}

function linearWidths(model: Arithmetic['model']): Record<Linear, number> {
  const q = model.num_attention_heads * model.head_dim;
  const kv = model.num_key_value_heads * model.head_dim;
  const { hidden_size: d, intermediate_size: f } = model;
  return { q_proj: q, k_proj: kv, v_proj: kv, o_proj: d, gate_proj: f, up_proj: f, down_proj: d };
}

/** The widest part of a matrix that several linears share. */
const partWidth = (model: Arithmetic['model']) =>
  Math.max(model.num_attention_heads * model.head_dim, model.intermediate_size);

/** How many numbers gradients take beside the pools, for passes of up to `tokens` tokens. */
export function adapterGradientSize(model: Arithmetic['model'], { rank }: AdapterConfig, tokens: number): number {
  return model.hidden_size + tokens * (rank + partWidth(model));
}
