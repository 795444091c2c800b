import type { ModelConfig } from '../architecture.ts';
import type { Arithmetic } from './arithmetic.ts';
import { attentionShape, qkvWidth, type TableOfKeys, type VisibleKeys } from '../attentionShape.ts';
import type { Real } from '../learning/real.ts';
import type { TokenRange } from '../learning/tokenTree.ts';
import { PASS_PARTS } from './team/team.ts';

/** The largest pass over a tree that buffers are allocated for. */
export interface Capacity {
  readonly tokens: number; // n
  readonly pairs: number; // pairs of a token and a token that it attends to
  readonly longestRow: number; // tokens of the longest row
  readonly places: number; // size of the tree's table
}

/** Returns the capacity for all rows, even if they share nothing. */
export function fullCapacity(rows: number, length: number): Capacity {
  const places = rows * length;
  return { tokens: places, pairs: (places * (length + 1)) / 2, longestRow: length, places };
}

/** Sizes of the arrays that the forward pass of one layer writes, in numbers. */
function forwardSizes(model: ModelConfig, n: number) {
  const { hidden_size: d, intermediate_size: f } = model;
  return {
    input: n * d, // residual stream
    normed: n * d,
    scales: n, // 1/RMS of each token in the first norm
    qkv: n * qkvWidth(attentionShape(model)), // rotated
    attended: n * model.num_attention_heads * model.head_dim,
    afterAttention: n * d, // residual stream after attention
    postNormed: n * d,
    postScales: n,
    gateUp: n * 2 * f,
    sigmoid: n * f, // of the gate
    gated: n * f,
  };
}

/** Sizes of the arrays that the backward pass of one layer reads from its forward pass, in numbers. */
function layerSizes(model: ModelConfig, { tokens: n, pairs }: Capacity) {
  return {
    ...forwardSizes(model, n),
    probabilities: pairs * model.num_attention_heads, // for each token and head, one for each token that it attends to
    beforeHeadNorms: n * beforeHeadNormsWidth(model), // q, k and v before the norms of the heads of q and k
  };
}

const beforeHeadNormsWidth = (model: ModelConfig) => (model.qk_norm ? qkvWidth(attentionShape(model)) : 0);

/** Attention scores of one query, rounded up to whole vectors. */
const scoreCount = (longest: number) => longest + 3;

/** Sizes of the arrays that all layers of a forward pass share, in numbers. `parts` of the pass run at the same time. */
function passSizes(model: ModelConfig, n: number, longest: number, parts = 1) {
  const { hidden_size: d, num_attention_heads: heads, head_dim: headDim } = model;
  return {
    finalStream: n * d, // residual stream after the last layer
    finalScales: n,
    hidden: n * d, // final norm's output
    scratch: n * Math.max(d, heads * headDim), // what attention or the MLP adds to the residual stream
    scores: parts * scoreCount(longest),
  };
}

/** Sizes of the arrays that all layers of a forward and backward pass share, in numbers. */
function sharedSizes(model: ModelConfig, { tokens: n, longestRow }: Capacity) {
  return {
    ...passSizes(model, n, longestRow, PASS_PARTS),
    dhidden: n * model.hidden_size, // gradient of `hidden`, written by the head
    ...backwardSizes(model, n),
  };
}

/** Sizes of the gradients of one layer's activations, in numbers. All layers share the arrays. */
function backwardSizes(model: ModelConfig, n: number) {
  const { hidden_size: d, intermediate_size: f } = model;
  return {
    dstream: n * d, // gradient of the residual stream
    // gradient of `attended`, `normed` or `postNormed`
    dscratch: n * Math.max(d, model.num_attention_heads * model.head_dim),
    dqkv: n * qkvWidth(attentionShape(model)),
    dgateUp: n * 2 * f,
    dgated: n * f,
  };
}

type Arrays<Sizes> = { readonly [Name in keyof Sizes]: Real };

export type LayerActivations = Arrays<ReturnType<typeof layerSizes>>;

/** Those of a pass without a backward pass lack what only a backward pass reads. */
export interface ForwardLayer extends Arrays<ReturnType<typeof forwardSizes>> {
  readonly probabilities?: Real;
  readonly beforeHeadNorms?: Real;
}

/** Buffers of a backward pass. All layers use the same ones, one after the other. */
export interface BackwardBuffers extends Arrays<ReturnType<typeof backwardSizes>> {
  readonly arithmetic: Arithmetic;
  readonly positions: Int32Array;
}

export interface ForwardBuffers extends Arrays<ReturnType<typeof passSizes>> {
  readonly arithmetic: Arithmetic;
  readonly layers: readonly ForwardLayer[];
  readonly positions: Int32Array; // position of each token in its row
  readonly visibleKeys: VisibleKeys; // keys that each token attends to
}

/** Up to `keptTokens` tokens, layers keep what backward needs; beyond, only their input, and the rest is computed again. */
export interface Activations extends ForwardBuffers, BackwardBuffers, Arrays<ReturnType<typeof sharedSizes>> {
  readonly layers: readonly LayerActivations[];
  readonly visibleKeys: TableOfKeys;
  readonly keptTokens: number; // with more tokens than this, all layers use the first entry of `layers`
  readonly inputs: readonly Real[]; // (n,d) of each layer; of none if every pass keeps everything
}

const totalSize = (sizes: Record<string, number>) => Object.values(sizes).reduce((a, b) => a + b, 0);

/** The capacity of each layer but the first; 0 tokens if all layers share the first one's arrays. */
const laterCapacity = (capacity: Capacity, keptTokens: number): Capacity =>
  keptTokens === Infinity ? capacity : { ...capacity, tokens: keptTokens, pairs: keptTokens * capacity.longestRow };

/** Returns an upper bound of the size of `createActivations`, in numbers (of four or eight bytes). */
export function activationSize(model: ModelConfig, capacity: Capacity, keptTokens = Infinity): number {
  const { tokens, places } = capacity;
  const layers = model.num_hidden_layers;
  return (
    totalSize(layerSizes(model, capacity)) +
    (layers - 1) * totalSize(layerSizes(model, laterCapacity(capacity, keptTokens))) +
    (keptTokens === Infinity ? 0 : layers * tokens * model.hidden_size) +
    totalSize(sharedSizes(model, capacity)) +
    3 * tokens +
    places
  );
}

/** Returns an upper bound of the size of `createForwardBuffers`, in numbers. */
export function forwardBuffersSize(model: ModelConfig, tokens: number, longest: number): number {
  return totalSize(forwardSizes(model, tokens)) + totalSize(passSizes(model, tokens, longest)) + 3 * tokens;
}

const allocateArrays = <S extends Record<string, number>>({ reals }: Arithmetic, sizes: S) =>
  Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, reals(size)])) as Arrays<S>;

const indexArrays = ({ integers }: Arithmetic, tokens: number) => ({
  positions: integers(tokens),
  visibleKeys: { first: integers(tokens), counts: integers(tokens) },
});

/**
 * Creates buffers for passes forward and backward. In passes of up to `keptTokens` tokens nothing is computed twice.
 * Memory that no pass touches costs nothing, because systems hand out pages on first use.
 */
export function createActivations(arithmetic: Arithmetic, capacity: Capacity, keptTokens = Infinity): Activations {
  const { model, reals, integers } = arithmetic;
  const { tokens, places } = capacity;
  const layers = Array.from({ length: model.num_hidden_layers }, (_, index) => index);
  const kept = keptTokens > 0 ? layers : [0];
  const indices = indexArrays(arithmetic, tokens);
  return {
    arithmetic,
    keptTokens,
    layers: kept.map((index) =>
      allocateArrays(arithmetic, layerSizes(model, index === 0 ? capacity : laterCapacity(capacity, keptTokens))),
    ),
    inputs: keptTokens === Infinity ? [] : layers.map(() => reals(tokens * model.hidden_size)),
    ...indices,
    visibleKeys: { ...indices.visibleKeys, table: integers(places) },
    ...allocateArrays(arithmetic, sharedSizes(model, capacity)),
  };
}

/** Holds up to `tokens` tokens, each with up to `longest` keys. All layers share one set of activations. */
export function createForwardBuffers(arithmetic: Arithmetic, tokens: number, longest: number): ForwardBuffers {
  const { model } = arithmetic;
  return {
    arithmetic,
    layers: [allocateArrays(arithmetic, forwardSizes(model, tokens))],
    ...indexArrays(arithmetic, tokens),
    ...allocateArrays(arithmetic, passSizes(model, tokens, longest)),
  };
}

/** Returns views of the arrays that belong to a part of the tokens. */
export function viewOf(buffers: Activations, { index, from, count, pairsBefore }: TokenRange): Activations {
  const { model } = buffers.arithmetic;
  const tokens = <T extends object>(arrays: T, widths: Readonly<Record<string, number>>): T => {
    const views = { ...arrays } as Record<string, unknown>;
    for (const [name, width] of Object.entries(widths))
      views[name] = (views[name] as Real).subarray(from * width, (from + count) * width);
    return views as T;
  };
  const layer = { ...forwardSizes(model, 1), beforeHeadNorms: beforeHeadNormsWidth(model) };
  const shared = { ...passSizes(model, 1, 0), ...backwardSizes(model, 1) };
  const scores = buffers.scores.length / PASS_PARTS;
  const { first, counts, table } = buffers.visibleKeys;
  return {
    ...tokens(buffers, { ...shared, dhidden: model.hidden_size, positions: 1 }),
    scores: buffers.scores.subarray(index * scores, (index + 1) * scores),
    visibleKeys: { first: first.subarray(from, from + count), counts: counts.subarray(from, from + count), table },
    layers: buffers.layers.map((a) => ({
      ...tokens(a, layer),
      probabilities: a.probabilities.subarray(pairsBefore * model.num_attention_heads),
    })),
  };
}
