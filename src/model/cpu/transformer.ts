import type { BackwardBuffers, ForwardLayer, ForwardBuffers, LayerActivations } from './activations.ts';
import type { Arithmetic } from './arithmetic.ts';
import { attentionShape, qkvWidth } from '../attentionShape.ts';
import { gatherRows } from './layers.ts';
import type { LayerTensors, ForwardTensors } from './network.ts';
import type { Real } from '../learning/real.ts';
import type { InTurn } from './team/team.ts';

/** The tokens of several rows, one row after the other without padding. */
export interface PackedTokens {
  readonly count: number; // n
  readonly tokens: Int32Array; // (n) ids
  readonly positions: Int32Array; // (n) index within the row
}

/** A function that computes one layer's attention: reads the rotated q, k and v of the pass and writes `attended`. */
export type Attend = (layer: number, activations: ForwardLayer) => void;

/** The operations of a pass on weight matrices of type `M`: `Real` if weights are trained, packed if they are only read. */
export interface WeightOperations<M> {
  /** y (n,o) = x (n,k) · wᵀ, w (o,k). */
  readonly product: (y: Real, x: Real, w: M, n: number, o: number, k: number) => void;
  /** Copies row ids[i] of `table` to row i of `out`, for i < n. Rows have d numbers. */
  readonly gatherRows: (out: Real, table: M, ids: Int32Array, n: number, d: number) => void;
}

/** Returns the operations on unpacked weight matrices. */
export const unpackedProducts = ({ matmulNT }: Pick<Arithmetic, 'matmulNT'>): WeightOperations<Real> => ({
  product: matmulNT,
  gatherRows: gatherRows,
});

/**
 * Runs the Llama / Qwen2 / Qwen3 forward pass over packed tokens: pre-norm blocks of rotary grouped-query attention and
 * SwiGLU (Touvron et al. 2023), with biases on q, k and v and norms of the heads of q and k if the model has them.
 * Writes the final norm's output to `buffers.hidden` (n,d). All layers use the activations of the first.
 */
export function forward<M>(
  products: WeightOperations<M>,
  buffers: ForwardBuffers,
  tensors: ForwardTensors<M>,
  packed: PackedTokens,
  rotary: Real,
  attend: Attend,
): void {
  const { rmsNorm, model } = buffers.arithmetic;
  const n = packed.count;
  const a = buffers.layers[0]!;
  buffers.positions.set(packed.positions);
  products.gatherRows(a.input, tensors.embed, packed.tokens, n, model.hidden_size);
  for (const [index, layer] of tensors.layers.entries()) {
    runLayer(products, buffers, layer, a, rotary, () => attend(index, a), n);
    finishLayer(products, buffers, layer, a, index + 1 < tensors.layers.length ? a.input : buffers.finalStream, n);
  }
  rmsNorm(buffers.hidden, buffers.finalScales, buffers.finalStream, tensors.norm, n);
}

/** Runs the first n rows of `a.input` up to but without the last product: the layer's backward pass needs no more than this. */
export function runLayer<M>(
  { product }: WeightOperations<M>,
  buffers: ForwardBuffers,
  layer: LayerTensors<M>,
  a: ForwardLayer,
  rotary: Real,
  attend: () => void,
  n: number,
): void {
  const { model, addBias, addInto, copy, normHeads, rmsNorm, rotate, swiglu } = buffers.arithmetic;
  const { hidden_size: d, intermediate_size: f } = model;
  const shape = attentionShape(model);
  const width = qkvWidth(shape);
  rmsNorm(a.normed, a.scales, a.input, layer.inputNorm, n);
  product(a.qkv, a.normed, layer.qkv, n, width, d);
  if (layer.qkvBias) addBias(a.qkv, layer.qkvBias, n, width);
  if (layer.headNorms) {
    if (a.beforeHeadNorms) copy(a.beforeHeadNorms, a.qkv, n * width);
    normHeads(a.qkv, layer.headNorms.q, layer.headNorms.k, n);
  }
  rotate(a.qkv, buffers.positions, rotary, n, 1);
  attend();
  product(buffers.scratch, a.attended, layer.output, n, d, shape.heads * shape.headDim);
  addInto(a.afterAttention, a.input, buffers.scratch, n * d);
  rmsNorm(a.postNormed, a.postScales, a.afterAttention, layer.postNorm, n);
  product(a.gateUp, a.postNormed, layer.gateUp, n, 2 * f, d);
  swiglu(a.gated, a.sigmoid, a.gateUp, n, f);
}

/** Computes the last product of a layer and adds it to the residual stream. Writes the sum to `output` (n,d). */
export function finishLayer<M>(
  { product }: WeightOperations<M>,
  buffers: ForwardBuffers,
  layer: LayerTensors<M>,
  a: ForwardLayer,
  output: Real,
  n: number,
): void {
  const { model, addInto } = buffers.arithmetic;
  product(buffers.scratch, a.gated, layer.down, n, model.hidden_size, model.intermediate_size);
  addInto(output, a.afterAttention, buffers.scratch, n * model.hidden_size);
}

export type LayerMatrix = 'qkv' | 'output' | 'gateUp' | 'down';

/** The receiver of the gradients of a layer's own tensors in the backward pass. */
export interface LayerSink {
  /** Called for each matrix w with dy (n,o) and x (n,k) of y = x·wᵀ. */
  readonly matrix: (matrixName: LayerMatrix, dy: Real, x: Real, n: number) => void;
  readonly qkvBias: Real | null; // the gradient is added; null: it isn't computed
  readonly headNorms: LayerTensors['headNorms']; // the gradient is added; null if the model has no such norms
  readonly inputNorm: Real; // the gradient is added
  readonly postNorm: Real; // the gradient is added
  readonly inTurn: InTurn; // of the part of the pass whose gradients it receives
}

const firstRows = (values: Real, n: number, columns: number) => values.subarray(0, n * columns);

/**
 * The backward pass of the second half of a layer (SwiGLU), before `attentionBackward`: `buffers.dstream` (n,d), the
 * gradient of the layer's output, becomes the gradient between the two halves. Gradients of weights go to `sink`.
 */
export function feedForwardBackward(
  buffers: BackwardBuffers,
  layer: LayerTensors,
  a: LayerActivations,
  sink: LayerSink,
  n: number,
): void {
  const { arithmetic, dstream, dscratch, dgated, dgateUp } = buffers;
  const { model, matmulNN, rmsNormBackward, swigluBackward } = arithmetic;
  const { hidden_size: d, intermediate_size: f } = model;
  const rows = (values: Real, columns: number) => firstRows(values, n, columns);
  sink.matrix('down', rows(dstream, d), rows(a.gated, f), n);
  matmulNN(dgated, dstream, layer.down, n, f, d);
  swigluBackward(dgateUp, dgated, a.sigmoid, a.gateUp, n, f);
  sink.matrix('gateUp', rows(dgateUp, 2 * f), rows(a.postNormed, d), n);
  matmulNN(dscratch, dgateUp, layer.gateUp, n, d, 2 * f);
  sink.inTurn(() =>
    rmsNormBackward(dstream, sink.postNorm, dscratch, a.afterAttention, a.postScales, layer.postNorm, n),
  );
}

/**
 * The first half (attention): `buffers.dstream` becomes the gradient of the layer's input. `attendBack` has to compute
 * `buffers.dqkv` from `buffers.dscratch`, the gradient of the attention's output.
 */
export function attentionBackward(
  buffers: BackwardBuffers,
  layer: LayerTensors,
  a: LayerActivations,
  sink: LayerSink,
  rotary: Real,
  n: number,
  attendBack: () => void,
): void {
  const { arithmetic, dstream, dscratch, dqkv } = buffers;
  const { model, matmulNN, normHeadsBackward, rmsNormBackward, rotate } = arithmetic;
  const { hidden_size: d } = model;
  const shape = attentionShape(model);
  const width = qkvWidth(shape);
  const inner = shape.heads * shape.headDim;
  const rows = (values: Real, columns: number) => firstRows(values, n, columns);
  sink.matrix('output', rows(dstream, d), rows(a.attended, inner), n);
  matmulNN(dscratch, dstream, layer.output, n, inner, d);
  attendBack();
  rotate(dqkv, buffers.positions, rotary, n, -1);
  const { headNorms } = layer;
  const dNorms = sink.headNorms;
  if (headNorms && dNorms)
    sink.inTurn(() => normHeadsBackward(dqkv, dNorms.q, dNorms.k, a.beforeHeadNorms, headNorms.q, headNorms.k, n));
  sink.matrix('qkv', rows(dqkv, width), rows(a.normed, d), n);
  const { qkvBias } = sink;
  if (qkvBias) sink.inTurn(() => arithmetic.addColumnSums(qkvBias, dqkv, n, width));
  matmulNN(dscratch, dqkv, layer.qkv, n, d, width);
  sink.inTurn(() => rmsNormBackward(dstream, sink.inputNorm, dscratch, a.input, a.scales, layer.inputNorm, n));
}
