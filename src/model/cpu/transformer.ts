import type { Activations, BackwardRoom, ForwardLayer, ForwardRoom, LayerActivations } from './activations.ts';
import type { Arithmetic } from './arithmetic.ts';
import { attentionShape, qkvWidth } from './attention.ts';
import { addBias, addColumnSums, gatherRows, normHeadsBackward, scatterAddRows } from './layers.ts';
import type { LayerTensors, Tensors, Trunk } from './network.ts';
import type { Real } from './real.ts';

/** Tokens of several rows, packed one row after the other without padding. */
export interface Packed {
  readonly count: number; // n
  readonly tokens: Int32Array; // (n) ids
  readonly positions: Int32Array; // (n) index within the row
}

/** Attention of one layer: reads the rotated q, k and v of the pass, writes `attended`. */
export type Attend = (layer: number, activations: ForwardLayer) => void;

/** Causal attention among the packed tokens themselves: token i at position p attends to tokens i − p … i. */
export function packedAttention({ arithmetic, reach, scores }: Activations, packed: Packed, keep: boolean): Attend {
  const shape = attentionShape(arithmetic.model);
  const stride = qkvWidth(shape);
  for (let i = 0; i < packed.count; i++) {
    const position = packed.positions[i]!;
    reach.first[i] = i - position;
    reach.counts[i] = position + 1;
  }
  return (_, a) => {
    const keys = a.qkv.subarray(shape.heads * shape.headDim);
    const values = keys.subarray(shape.kvHeads * shape.headDim);
    const kept = keep ? (a.probabilities ?? null) : null;
    arithmetic.attend(a.attended, kept, a.qkv, keys, values, stride, reach, scores, packed.count);
  };
}

/** How a pass uses matrices of weights, which lie as numbers (`Real`) where they are trained, packed where they are only read. */
export interface Products<M> {
  /** y (n,o) = x (n,k) · wᵀ, w (o,k). */
  readonly product: (y: Real, x: Real, w: M, n: number, o: number, k: number) => void;
  /** out row i = table row ids[i], rows of d numbers. */
  readonly rows: (out: Real, table: M, ids: Int32Array, n: number, d: number) => void;
}

/** Products with matrices that lie as numbers. */
export const wholeProducts = ({ matmulNT }: Pick<Arithmetic, 'matmulNT'>): Products<Real> => ({
  product: matmulNT,
  rows: gatherRows,
});

/** The forward pass of a network that can be trained; see `forwardBy`. */
export function forward(
  room: Activations,
  tensors: Tensors,
  packed: Packed,
  rotary: Real,
  attend: Attend,
  keep: boolean,
): void {
  forwardBy(wholeProducts(room.arithmetic), room, tensors, packed, rotary, attend, keep);
}

/**
 * The Llama / Qwen2 / Qwen3 forward pass over packed tokens: pre-norm blocks of rotary grouped-query attention and SwiGLU (Touvron
 * et al. 2023), biases on q, k and v and norms of the heads of q and k if the model has them. Leaves the final norm's output in
 * `room.hidden` (n,d). With `keep`, every layer keeps what `backward` needs; without, one layer's room serves all.
 */
export function forwardBy<M>(
  products: Products<M>,
  room: ForwardRoom,
  tensors: Trunk<M>,
  packed: Packed,
  rotary: Real,
  attend: Attend,
  keep: boolean,
): void {
  const { rmsNorm, model } = room.arithmetic;
  const n = packed.count;
  const at = (layer: number) => room.layers[keep ? layer : 0]!;
  room.positions.set(packed.positions);
  products.rows(at(0).input, tensors.embed, packed.tokens, n, model.hidden_size);
  for (const [index, layer] of tensors.layers.entries()) {
    const a = at(index);
    runLayer(products, room, layer, a, rotary, () => attend(index, a), n);
    closeLayer(products, room, layer, a, index + 1 < tensors.layers.length ? at(index + 1).input : room.final, n);
  }
  rmsNorm(room.hidden, room.finalScales, room.final, tensors.norm, n);
}

/** One layer over the first n rows of `a.input`, up to its last product: all that its backward pass needs. */
export function runLayer<M>(
  { product }: Products<M>,
  room: ForwardRoom,
  layer: LayerTensors<M>,
  a: ForwardLayer,
  rotary: Real,
  attend: () => void,
  n: number,
): void {
  const { model, addInto, normHeads, rmsNorm, rotate, swiglu } = room.arithmetic;
  const { hidden_size: d, intermediate_size: f } = model;
  const shape = attentionShape(model);
  const width = qkvWidth(shape);
  rmsNorm(a.normed, a.scales, a.input, layer.inputNorm, n);
  product(a.qkv, a.normed, layer.qkv, n, width, d);
  if (layer.qkvBias) addBias(a.qkv, layer.qkvBias, n, width);
  if (layer.headNorms) {
    a.unnormed?.set(a.qkv.subarray(0, n * width));
    normHeads(a.qkv, layer.headNorms.q, layer.headNorms.k, n);
  }
  rotate(a.qkv, room.positions, rotary, n, 1);
  attend();
  product(room.narrow, a.attended, layer.output, n, d, shape.heads * shape.headDim);
  addInto(a.middle, a.input, room.narrow, n * d);
  rmsNorm(a.postNormed, a.postScales, a.middle, layer.postNorm, n);
  product(a.gateUp, a.postNormed, layer.gateUp, n, 2 * f, d);
  swiglu(a.gated, a.sigmoid, a.gateUp, n, f);
}

/** The last product of a layer, and its sum with the residual stream: `next` (n,d). */
export function closeLayer<M>(
  { product }: Products<M>,
  room: ForwardRoom,
  layer: LayerTensors<M>,
  a: ForwardLayer,
  next: Real,
  n: number,
): void {
  const { model, addInto } = room.arithmetic;
  product(room.narrow, a.gated, layer.down, n, model.hidden_size, model.intermediate_size);
  addInto(next, a.middle, room.narrow, n * model.hidden_size);
}

/** The matrices of a layer. */
export type LayerMatrix = 'qkv' | 'output' | 'gateUp' | 'down';

/** Where a layer's backward pass leaves the gradients of its own tensors. */
export interface LayerSink {
  /** Hears dy (n,o) and x (n,k) of y = x·wᵀ. */
  readonly matrix: (which: LayerMatrix, dy: Real, x: Real, n: number) => void;
  readonly qkvBias: Real | null; // added to; null: not wanted
  readonly inputNorm: Real; // added to
  readonly postNorm: Real;
}

/** Adds to `gradients` what `room.dhidden` (n,d) means for every tensor below the heads; follows a `forward` that kept. */
export function backward(room: Activations, tensors: Tensors, gradients: Tensors, packed: Packed, rotary: Real): void {
  const { arithmetic, dstream } = room;
  const { hidden_size: d, num_hidden_layers: layers } = arithmetic.model;
  const n = packed.count;
  dstream.fill(0, 0, n * d);
  arithmetic.rmsNormBackward(dstream, gradients.norm, room.dhidden, room.final, room.finalScales, tensors.norm, n);
  for (let index = layers - 1; index >= 0; index--) {
    const a = room.layers[index];
    const layer = tensors.layers[index];
    const into = gradients.layers[index];
    if (!a || !layer || !into) throw new Error(`backward: layer ${index} was not kept; run forward with keep first.`);
    const sink: LayerSink = {
      ...into,
      matrix: (which, dy, x, rows) => {
        const { [which]: sum } = into;
        arithmetic.matmulTN(sum, dy, x, dy.length / rows, x.length / rows, rows);
      },
    };
    layerBackward(room, layer, a, sink, rotary, n, () =>
      arithmetic.attendBackward(room.dqkv, room.dnarrow, a.probabilities, a.qkv, room.reach, room.scores, n),
    );
  }
  scatterAddRows(gradients.embed, dstream, packed.tokens, n, d);
}

/**
 * Turns `room.dstream` (n,d), the gradient of a layer's output, into that of its input, telling `sink` of its tensors. `attendBack` writes `room.dqkv`
 * from `room.dnarrow`, the gradient of what attention gave.
 */
function layerBackward(
  room: BackwardRoom,
  layer: LayerTensors,
  a: LayerActivations,
  sink: LayerSink,
  rotary: Real,
  n: number,
  attendBack: () => void,
): void {
  feedForwardBackward(room, layer, a, sink, n);
  attentionBackward(room, layer, a, sink, rotary, n, attendBack);
}

const firstRows = (values: Real, n: number, columns: number) => values.subarray(0, n * columns);

/** The second half of a layer, which goes backward first: `room.dstream` becomes the gradient of the residual stream behind attention. */
export function feedForwardBackward(
  room: BackwardRoom,
  layer: LayerTensors,
  a: LayerActivations,
  sink: LayerSink,
  n: number,
): void {
  const { arithmetic, dstream, dnarrow, dgated, dwide } = room;
  const { model, matmulNN, rmsNormBackward, swigluBackward } = arithmetic;
  const { hidden_size: d, intermediate_size: f } = model;
  const rows = (values: Real, columns: number) => firstRows(values, n, columns);
  sink.matrix('down', rows(dstream, d), rows(a.gated, f), n);
  matmulNN(dgated, dstream, layer.down, n, f, d);
  swigluBackward(dwide, dgated, a.sigmoid, a.gateUp, n, f);
  sink.matrix('gateUp', rows(dwide, 2 * f), rows(a.postNormed, d), n);
  matmulNN(dnarrow, dwide, layer.gateUp, n, d, 2 * f);
  rmsNormBackward(dstream, sink.postNorm, dnarrow, a.middle, a.postScales, layer.postNorm, n);
}

/** The first half of a layer, which goes backward last: `room.dstream` becomes the gradient of the layer's input; see `layerBackward`. */
export function attentionBackward(
  room: BackwardRoom,
  layer: LayerTensors,
  a: LayerActivations,
  sink: LayerSink,
  rotary: Real,
  n: number,
  attendBack: () => void,
): void {
  const { arithmetic, dstream, dnarrow, dqkv } = room;
  const { model, matmulNN, rmsNormBackward, rotate } = arithmetic;
  const { hidden_size: d } = model;
  const shape = attentionShape(model);
  const width = qkvWidth(shape);
  const inner = shape.heads * shape.headDim;
  const rows = (values: Real, columns: number) => firstRows(values, n, columns);
  sink.matrix('output', rows(dstream, d), rows(a.attended, inner), n);
  matmulNN(dnarrow, dstream, layer.output, n, inner, d);
  attendBack();
  rotate(dqkv, room.positions, rotary, n, -1);
  if (layer.headNorms) {
    if (!a.unnormed)
      throw new Error('layerBackward: the heads before their norm were not kept, because there was no room for them.');
    normHeadsBackward(dqkv, a.unnormed, layer.headNorms.q, layer.headNorms.k, n, shape, model.rms_norm_eps);
  }
  sink.matrix('qkv', rows(dqkv, width), rows(a.normed, d), n);
  if (sink.qkvBias) addColumnSums(sink.qkvBias, dqkv, n, width);
  matmulNN(dnarrow, dqkv, layer.qkv, n, d, width);
  rmsNormBackward(dstream, sink.inputNorm, dnarrow, a.input, a.scales, layer.inputNorm, n);
}
