import type { ModelConfig } from '../architecture.ts';
import type { Arithmetic } from './arithmetic.ts';
import { attentionShape, qkvWidth, type Reach } from './attention.ts';
import type { Real } from './real.ts';

/** Most that one pass holds; n tokens lie packed, without padding. */
export interface Capacity {
  readonly tokens: number; // n
  readonly pairs: number; // (token, token up to it)
  readonly longest: number; // tokens of one row
}

/** The largest pass over a batch of full rows. */
export function capacityOf(rows: number, length: number): Capacity {
  return { tokens: rows * length, pairs: (rows * length * (length + 1)) / 2, longest: length };
}

/** How many numbers one layer's backward pass needs of its forward pass. */
function layerSizes(model: ModelConfig, { tokens: n, pairs }: Capacity) {
  const { hidden_size: d, intermediate_size: f } = model;
  return {
    input: n * d, // residual stream
    normed: n * d,
    scales: n, // of the first norm
    qkv: n * qkvWidth(attentionShape(model)), // rotated
    probabilities: pairs * model.num_attention_heads, // for each token and head, one number for each token up to it
    attended: n * model.num_attention_heads * model.head_dim,
    middle: n * d, // residual stream after attention
    postNormed: n * d,
    postScales: n,
    gateUp: n * 2 * f,
    sigmoid: n * f, // of the gate
    gated: n * f,
  };
}

/** How many numbers all layers share. */
function sharedSizes(model: ModelConfig, { tokens: n, longest }: Capacity) {
  const { hidden_size: d, intermediate_size: f } = model;
  const inner = model.num_attention_heads * model.head_dim;
  return {
    final: n * d, // residual stream after the last layer
    finalScales: n,
    hidden: n * d, // final norm's output
    narrow: n * Math.max(d, inner), // scratch
    dstream: n * d, // gradient of the residual stream
    dnarrow: n * Math.max(d, inner), // scratch
    dhidden: n * d, // gradient of `hidden`, written by the head
    dqkv: n * qkvWidth(attentionShape(model)),
    dwide: n * 2 * f,
    dgated: n * f,
    scores: longest + 3, // one query's numbers, in whole vectors
  };
}

type Arrays<Sizes> = { readonly [Name in keyof Sizes]: Real };

/** What one layer's backward pass needs of its forward pass: arrays as in `layerSizes`. */
export type LayerActivations = Arrays<ReturnType<typeof layerSizes>>;

/** Room for one pass over packed tokens. */
export interface Activations extends Arrays<ReturnType<typeof sharedSizes>> {
  readonly arithmetic: Arithmetic;
  readonly layers: readonly LayerActivations[];
  readonly positions: Int32Array; // of the packed tokens in their rows
  readonly reach: Reach; // of the packed tokens
}

/** An upper bound of the numbers in `createActivations`, at four or eight bytes each. */
export function activationSize(model: ModelConfig, capacity: Capacity): number {
  const sum = (sizes: Record<string, number>) => Object.values(sizes).reduce((a, b) => a + b, 0);
  const layers = model.num_hidden_layers * sum(layerSizes(model, capacity));
  return layers + sum(sharedSizes(model, capacity)) + 3 * capacity.tokens;
}

/** Room for the largest pass. It costs no memory that a pass does not touch: systems hand out pages on first use. */
export function createActivations(arithmetic: Arithmetic, capacity: Capacity): Activations {
  const { model } = arithmetic;
  const make = <S extends Record<string, number>>(sizes: S) =>
    Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, arithmetic.reals(size)])) as Arrays<S>;
  return {
    arithmetic,
    layers: Array.from({ length: model.num_hidden_layers }, () => make(layerSizes(model, capacity))),
    positions: arithmetic.integers(capacity.tokens),
    reach: { first: arithmetic.integers(capacity.tokens), counts: arithmetic.integers(capacity.tokens) },
    ...make(sharedSizes(model, capacity)),
  };
}
