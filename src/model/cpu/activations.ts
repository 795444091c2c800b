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

/** How many numbers the forward pass of one layer writes. */
function forwardSizes(model: ModelConfig, n: number) {
  const { hidden_size: d, intermediate_size: f } = model;
  return {
    input: n * d, // residual stream
    normed: n * d,
    scales: n, // of the first norm
    qkv: n * qkvWidth(attentionShape(model)), // rotated
    attended: n * model.num_attention_heads * model.head_dim,
    middle: n * d, // residual stream after attention
    postNormed: n * d,
    postScales: n,
    gateUp: n * 2 * f,
    sigmoid: n * f, // of the gate
    gated: n * f,
  };
}

/** How many numbers one layer's backward pass needs of its forward pass. */
function layerSizes(model: ModelConfig, { tokens: n, pairs }: Capacity) {
  // for each token and head, one number for each token up to it
  return { ...forwardSizes(model, n), probabilities: pairs * model.num_attention_heads };
}

/** How many numbers all layers of a forward pass share. */
function passSizes(model: ModelConfig, n: number, longest: number) {
  const { hidden_size: d, num_attention_heads: heads, head_dim: headDim } = model;
  return {
    final: n * d, // residual stream after the last layer
    finalScales: n,
    hidden: n * d, // final norm's output
    narrow: n * Math.max(d, heads * headDim), // scratch
    scores: longest + 3, // one query's numbers, in whole vectors
  };
}

/** How many numbers all layers share. */
function sharedSizes(model: ModelConfig, { tokens: n, longest }: Capacity) {
  return {
    ...passSizes(model, n, longest),
    dhidden: n * model.hidden_size, // gradient of `hidden`, written by the head
    ...backwardSizes(model, n),
  };
}

/** How many numbers the gradients of a layer's activations take; all layers share them. */
function backwardSizes(model: ModelConfig, n: number) {
  const { hidden_size: d, intermediate_size: f } = model;
  return {
    dstream: n * d, // gradient of the residual stream
    dnarrow: n * Math.max(d, model.num_attention_heads * model.head_dim), // scratch
    dqkv: n * qkvWidth(attentionShape(model)),
    dwide: n * 2 * f,
    dgated: n * f,
  };
}

type Arrays<Sizes> = { readonly [Name in keyof Sizes]: Real };

/** What one layer's backward pass needs of its forward pass: arrays as in `layerSizes`. */
export interface LayerActivations extends Arrays<ReturnType<typeof layerSizes>> {
  readonly unnormed?: Real; // (n, …) q, k and v before the norms of their heads, where the model has those and they are learned through
}

/** What the forward pass writes of one layer; the probabilities of its attention where they are kept. */
export interface ForwardLayer extends Arrays<ReturnType<typeof forwardSizes>> {
  readonly probabilities?: Real;
  readonly unnormed?: Real;
}

/** Room for the backward pass of one layer after the other. */
export interface BackwardRoom extends Arrays<ReturnType<typeof backwardSizes>> {
  readonly arithmetic: Arithmetic;
  readonly positions: Int32Array;
}

/** Room for a forward pass over packed tokens. */
export interface ForwardRoom extends Arrays<ReturnType<typeof passSizes>> {
  readonly arithmetic: Arithmetic;
  readonly layers: readonly ForwardLayer[];
  readonly positions: Int32Array; // of the packed tokens in their rows
  readonly reach: Reach; // of the packed tokens
}

/** Room for one pass over packed tokens, forward and backward. */
export interface Activations extends ForwardRoom, BackwardRoom, Arrays<ReturnType<typeof sharedSizes>> {
  readonly layers: readonly LayerActivations[];
}

const sum = (sizes: Record<string, number>) => Object.values(sizes).reduce((a, b) => a + b, 0);

/** An upper bound of the numbers in `createActivations`, at four or eight bytes each. */
export function activationSize(model: ModelConfig, capacity: Capacity): number {
  const layers = model.num_hidden_layers * sum(layerSizes(model, capacity));
  return layers + sum(sharedSizes(model, capacity)) + 3 * capacity.tokens;
}

/** An upper bound of the numbers in `createForwardRoom`. */
export function forwardRoomSize(model: ModelConfig, tokens: number, longest: number): number {
  return sum(forwardSizes(model, tokens)) + sum(passSizes(model, tokens, longest)) + 3 * tokens;
}

const made = <S extends Record<string, number>>({ reals }: Arithmetic, sizes: S) =>
  Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, reals(size)])) as Arrays<S>;

const indices = ({ integers }: Arithmetic, tokens: number) => ({
  positions: integers(tokens),
  reach: { first: integers(tokens), counts: integers(tokens) },
});

/** Room for the largest pass. It costs no memory that a pass does not touch: systems hand out pages on first use. */
export function createActivations(arithmetic: Arithmetic, capacity: Capacity): Activations {
  const { model } = arithmetic;
  return {
    arithmetic,
    layers: Array.from({ length: model.num_hidden_layers }, () => made(arithmetic, layerSizes(model, capacity))),
    ...indices(arithmetic, capacity.tokens),
    ...made(arithmetic, sharedSizes(model, capacity)),
  };
}

/**
 * Memory for one forward and backward pass. For up to `keptTokens` tokens every layer keeps what its backward pass needs. For more tokens a
 * layer keeps only its input, and computes the rest again before its backward pass.
 */
export interface RecomputeRoom extends Activations {
  readonly keptTokens: number; // up to this many tokens `layers` has an entry for every layer; beyond, its first entry serves all
  readonly inputs: readonly Real[]; // (n,d) of each layer
}

const keptCapacity = ({ longest }: Capacity, tokens: number): Capacity => ({
  tokens,
  pairs: tokens * longest,
  longest,
});

const unnormedSize = (model: ModelConfig, tokens: number) =>
  model.qk_norm ? tokens * qkvWidth(attentionShape(model)) : 0;

/** An upper bound of the numbers in `createRecomputeRoom`. */
export function recomputeSize(model: ModelConfig, capacity: Capacity, keptTokens: number): number {
  const { tokens } = capacity;
  const layers = model.num_hidden_layers;
  const one = sum(layerSizes(model, keptCapacity(capacity, keptTokens))) + unnormedSize(model, keptTokens);
  return (
    activationSize({ ...model, num_hidden_layers: 1 }, capacity) +
    unnormedSize(model, tokens) +
    (keptTokens > 0 ? (layers - 1) * one : 0) +
    layers * tokens * model.hidden_size
  );
}

/** Allocates memory for the largest pass, and for a pass over up to `keptTokens` tokens in which nothing is computed twice. */
export function createRecomputeRoom(arithmetic: Arithmetic, capacity: Capacity, keptTokens: number): RecomputeRoom {
  const { model, reals } = arithmetic;
  const { tokens } = capacity;
  const layer = (of: Capacity): LayerActivations => ({
    ...made(arithmetic, layerSizes(model, of)),
    ...(model.qk_norm && { unnormed: reals(unnormedSize(model, of.tokens)) }),
  });
  const kept = keptTokens > 0 ? model.num_hidden_layers - 1 : 0;
  return {
    arithmetic,
    keptTokens,
    layers: [layer(capacity), ...Array.from({ length: kept }, () => layer(keptCapacity(capacity, keptTokens)))],
    inputs: Array.from({ length: model.num_hidden_layers }, () => reals(tokens * model.hidden_size)),
    ...indices(arithmetic, tokens),
    ...made(arithmetic, sharedSizes(model, capacity)),
  };
}

/** Room for forward passes over up to `tokens` tokens, the keys of none more than `longest`; one layer's serves all. */
export function createForwardRoom(arithmetic: Arithmetic, tokens: number, longest: number): ForwardRoom {
  const { model } = arithmetic;
  return {
    arithmetic,
    layers: [made(arithmetic, forwardSizes(model, tokens))],
    ...indices(arithmetic, tokens),
    ...made(arithmetic, passSizes(model, tokens, longest)),
  };
}
