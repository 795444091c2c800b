import type { Activations, BackwardBuffers, ForwardLayer, ForwardBuffers, LayerActivations } from './activations.ts';
import type { Arithmetic } from './arithmetic.ts';
import { attentionShape, qkvWidth } from '../attentionShape.ts';
import { gatherRows, normHeadsBackward } from './layers.ts';
import type { LayerTensors, NetworkTensors, ForwardTensors } from './network.ts';
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

/** Token i, at position p of its row, attends to tokens i − p … i. `keepActivations` keeps probabilities for the backward pass. */
export function packedAttention(
  { arithmetic, visibleKeys, scores }: Activations,
  packed: PackedTokens,
  keepActivations: boolean,
): Attend {
  const shape = attentionShape(arithmetic.model);
  const stride = qkvWidth(shape);
  for (let i = 0; i < packed.count; i++) {
    const position = packed.positions[i]!;
    visibleKeys.first[i] = i - position;
    visibleKeys.counts[i] = position + 1;
  }
  return (_, a) => {
    const keys = a.qkv.subarray(shape.heads * shape.headDim);
    const values = keys.subarray(shape.kvHeads * shape.headDim);
    const keptProbabilities = keepActivations ? (a.probabilities ?? null) : null;
    arithmetic.attend(a.attended, keptProbabilities, a.qkv, keys, values, stride, visibleKeys, scores, packed.count);
  };
}

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

export function forward(
  buffers: Activations,
  tensors: NetworkTensors,
  packed: PackedTokens,
  rotary: Real,
  attend: Attend,
  keepActivations: boolean,
): void {
  forwardWith(unpackedProducts(buffers.arithmetic), buffers, tensors, packed, rotary, attend, keepActivations);
}

/**
 * Runs the Llama / Qwen2 / Qwen3 forward pass over packed tokens: pre-norm blocks of rotary grouped-query attention and
 * SwiGLU (Touvron et al. 2023), with biases on q, k and v and norms of the heads of q and k if the model has them.
 * Writes the final norm's output to `buffers.hidden` (n,d). With `keepActivations`, every layer keeps what `backward`
 * needs. Otherwise all layers use the activations of the first.
 */
export function forwardWith<M>(
  products: WeightOperations<M>,
  buffers: ForwardBuffers,
  tensors: ForwardTensors<M>,
  packed: PackedTokens,
  rotary: Real,
  attend: Attend,
  keepActivations: boolean,
): void {
  const { rmsNorm, model } = buffers.arithmetic;
  const n = packed.count;
  const activationsOf = (layer: number) => buffers.layers[keepActivations ? layer : 0]!;
  buffers.positions.set(packed.positions);
  products.gatherRows(activationsOf(0).input, tensors.embed, packed.tokens, n, model.hidden_size);
  for (const [index, layer] of tensors.layers.entries()) {
    const a = activationsOf(index);
    runLayer(products, buffers, layer, a, rotary, () => attend(index, a), n);
    finishLayer(
      products,
      buffers,
      layer,
      a,
      index + 1 < tensors.layers.length ? activationsOf(index + 1).input : buffers.finalStream,
      n,
    );
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
  const { model, addBias, addInto, normHeads, rmsNorm, rotate, swiglu } = buffers.arithmetic;
  const { hidden_size: d, intermediate_size: f } = model;
  const shape = attentionShape(model);
  const width = qkvWidth(shape);
  rmsNorm(a.normed, a.scales, a.input, layer.inputNorm, n);
  product(a.qkv, a.normed, layer.qkv, n, width, d);
  if (layer.qkvBias) addBias(a.qkv, layer.qkvBias, n, width);
  if (layer.headNorms) {
    a.beforeHeadNorms?.set(a.qkv.subarray(0, n * width));
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
  readonly inputNorm: Real; // the gradient is added
  readonly postNorm: Real; // the gradient is added
  readonly inTurn: InTurn; // of the part of the pass whose gradients it receives
}

/**
 * Adds what follows from `buffers.dhidden` (n,d) to `gradients`, except the heads and the embedding, whose gradient
 * follows from `buffers.dstream` then. Needs a `forward` with `keepActivations`.
 */
export function backward(
  buffers: Activations,
  tensors: NetworkTensors,
  gradients: NetworkTensors,
  n: number,
  rotary: Real,
  inTurn: InTurn,
): void {
  const { arithmetic, dstream } = buffers;
  const { hidden_size: d, num_hidden_layers: layers } = arithmetic.model;
  dstream.fill(0, 0, n * d);
  inTurn(() =>
    arithmetic.rmsNormBackward(
      dstream,
      gradients.norm,
      buffers.dhidden,
      buffers.finalStream,
      buffers.finalScales,
      tensors.norm,
      n,
    ),
  );
  for (let index = layers - 1; index >= 0; index--) {
    const a = buffers.layers[index];
    const layer = tensors.layers[index];
    const layerGradients = gradients.layers[index];
    if (!a || !layer || !layerGradients)
      throw new Error(`backward: layer ${index} has no activations. Run forward with keep first.`);
    const sink: LayerSink = {
      ...layerGradients,
      inTurn,
      matrix: (which, dy, x, rows) => {
        const { [which]: gradient } = layerGradients;
        inTurn(() => arithmetic.matmulTN(gradient, dy, x, dy.length / rows, x.length / rows, rows));
      },
    };
    layerBackward(buffers, layer, a, sink, rotary, n, () =>
      arithmetic.attendBackward(
        buffers.dqkv,
        buffers.dscratch,
        a.probabilities,
        a.qkv,
        buffers.visibleKeys,
        buffers.scores,
        n,
      ),
    );
  }
}

/**
 * Replaces `buffers.dstream` (n,d), the gradient of a layer's output, by the gradient of its input. The gradients of
 * the layer's tensors go to `sink`. `attendBack` has to compute `buffers.dqkv` from `buffers.dscratch`, the gradient of
 * the attention's output.
 */
function layerBackward(
  buffers: BackwardBuffers,
  layer: LayerTensors,
  a: LayerActivations,
  sink: LayerSink,
  rotary: Real,
  n: number,
  attendBack: () => void,
): void {
  feedForwardBackward(buffers, layer, a, sink, n);
  attentionBackward(buffers, layer, a, sink, rotary, n, attendBack);
}

const firstRows = (values: Real, n: number, columns: number) => values.subarray(0, n * columns);

/** The second half (SwiGLU), before `attentionBackward`: `buffers.dstream` becomes the gradient between the two halves. */
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

/** The first half (attention): `buffers.dstream` becomes the gradient of the layer's input; see `layerBackward`. */
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
  const { model, matmulNN, rmsNormBackward, rotate } = arithmetic;
  const { hidden_size: d } = model;
  const shape = attentionShape(model);
  const width = qkvWidth(shape);
  const inner = shape.heads * shape.headDim;
  const rows = (values: Real, columns: number) => firstRows(values, n, columns);
  sink.matrix('output', rows(dstream, d), rows(a.attended, inner), n);
  matmulNN(dscratch, dstream, layer.output, n, inner, d);
  attendBack();
  rotate(dqkv, buffers.positions, rotary, n, -1);
  if (layer.headNorms) {
    if (!a.beforeHeadNorms)
      throw new Error(
        'attentionBackward: a model with head norms needs `beforeHeadNorms` in its activations. Use createRecomputeBuffers.',
      );
    normHeadsBackward(dqkv, a.beforeHeadNorms, layer.headNorms.q, layer.headNorms.k, n, shape, model.rms_norm_eps);
  }
  sink.matrix('qkv', rows(dqkv, width), rows(a.normed, d), n);
  const { qkvBias } = sink;
  if (qkvBias) sink.inTurn(() => arithmetic.addColumnSums(qkvBias, dqkv, n, width));
  matmulNN(dscratch, dqkv, layer.qkv, n, d, width);
  sink.inTurn(() => rmsNormBackward(dstream, sink.inputNorm, dscratch, a.input, a.scales, layer.inputNorm, n));
}
