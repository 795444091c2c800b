import type { Activations, ForwardLayer, ForwardRoom } from './activations.ts';
import { attentionShape, qkvWidth } from './attention.ts';
import { addBias, addColumnSums, gatherRows, scatterAddRows } from './layers.ts';
import type { Tensors, Trunk } from './network.ts';
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

/** The forward pass of a network that can be trained; see `forwardBy`. */
export function forward(
  room: Activations,
  tensors: Tensors,
  packed: Packed,
  rotary: Real,
  attend: Attend,
  keep: boolean,
): void {
  forwardBy({ product: room.arithmetic.matmulNT, rows: gatherRows }, room, tensors, packed, rotary, attend, keep);
}

/**
 * The Llama / Qwen2 / Qwen3 forward pass over packed tokens: pre-norm blocks of rotary grouped-query attention and SwiGLU (Touvron
 * et al. 2023), biases on q, k and v and norms of the heads of q and k if the model has them. Leaves the final norm's output in
 * `room.hidden` (n,d). With `keep`, every layer keeps what `backward` needs; without, one layer's room serves all.
 */
export function forwardBy<M>(
  { product, rows }: Products<M>,
  room: ForwardRoom,
  tensors: Trunk<M>,
  packed: Packed,
  rotary: Real,
  attend: Attend,
  keep: boolean,
): void {
  const { arithmetic } = room;
  const { model, addInto, normHeads, rmsNorm, rotate, swiglu } = arithmetic;
  const n = packed.count;
  const d = model.hidden_size;
  const f = model.intermediate_size;
  const shape = attentionShape(model);
  const width = qkvWidth(shape);
  const inner = shape.heads * shape.headDim;
  const at = (layer: number) => room.layers[keep ? layer : 0]!;
  room.positions.set(packed.positions);
  rows(at(0).input, tensors.embed, packed.tokens, n, d);
  for (const [index, layer] of tensors.layers.entries()) {
    const a = at(index);
    rmsNorm(a.normed, a.scales, a.input, layer.inputNorm, n);
    product(a.qkv, a.normed, layer.qkv, n, width, d);
    if (layer.qkvBias) addBias(a.qkv, layer.qkvBias, n, width);
    if (layer.headNorms) normHeads(a.qkv, layer.headNorms.q, layer.headNorms.k, n);
    rotate(a.qkv, room.positions, rotary, n, 1);
    attend(index, a);
    product(room.narrow, a.attended, layer.output, n, d, inner);
    addInto(a.middle, a.input, room.narrow, n * d);
    rmsNorm(a.postNormed, a.postScales, a.middle, layer.postNorm, n);
    product(a.gateUp, a.postNormed, layer.gateUp, n, 2 * f, d);
    swiglu(a.gated, a.sigmoid, a.gateUp, n, f);
    product(room.narrow, a.gated, layer.down, n, d, f);
    const next = index + 1 < tensors.layers.length ? at(index + 1).input : room.final;
    addInto(next, a.middle, room.narrow, n * d);
  }
  rmsNorm(room.hidden, room.finalScales, room.final, tensors.norm, n);
}

/** Adds to `gradients` what `room.dhidden` (n,d) means for every tensor below the heads; follows a `forward` that kept. */
export function backward(room: Activations, tensors: Tensors, gradients: Tensors, packed: Packed, rotary: Real): void {
  const { arithmetic, dstream, dnarrow } = room;
  const { model, matmulNN, matmulTN, rmsNormBackward, rotate, swigluBackward } = arithmetic;
  const n = packed.count;
  const d = model.hidden_size;
  const f = model.intermediate_size;
  const shape = attentionShape(model);
  const width = qkvWidth(shape);
  const inner = shape.heads * shape.headDim;
  dstream.fill(0, 0, n * d);
  rmsNormBackward(dstream, gradients.norm, room.dhidden, room.final, room.finalScales, tensors.norm, n);
  for (let index = model.num_hidden_layers - 1; index >= 0; index--) {
    const a = room.layers[index];
    const layer = tensors.layers[index];
    const dlayer = gradients.layers[index];
    if (!a || !layer || !dlayer) throw new Error(`backward: layer ${index} was not kept; run forward with keep first.`);
    matmulTN(dlayer.down, dstream, a.gated, d, f, n);
    matmulNN(room.dgated, dstream, layer.down, n, f, d);
    swigluBackward(room.dwide, room.dgated, a.sigmoid, a.gateUp, n, f);
    matmulTN(dlayer.gateUp, room.dwide, a.postNormed, 2 * f, d, n);
    matmulNN(dnarrow, room.dwide, layer.gateUp, n, d, 2 * f);
    rmsNormBackward(dstream, dlayer.postNorm, dnarrow, a.middle, a.postScales, layer.postNorm, n);
    matmulTN(dlayer.output, dstream, a.attended, d, inner, n);
    matmulNN(dnarrow, dstream, layer.output, n, inner, d);
    arithmetic.attendBackward(room.dqkv, dnarrow, a.probabilities, a.qkv, room.reach, room.scores, n);
    rotate(room.dqkv, room.positions, rotary, n, -1);
    matmulTN(dlayer.qkv, room.dqkv, a.normed, width, d, n);
    if (dlayer.qkvBias) addColumnSums(dlayer.qkvBias, room.dqkv, n, width);
    matmulNN(dnarrow, room.dqkv, layer.qkv, n, d, width);
    rmsNormBackward(dstream, dlayer.inputNorm, dnarrow, a.input, a.scales, layer.inputNorm, n);
  }
  scatterAddRows(gradients.embed, dstream, packed.tokens, n, d);
}
