import type { ModelConfig } from '../architecture.ts';
import { attentionShape, reserve, type Activations, type LayerActivations } from './activations.ts';
import { attendPacked, attendPackedBackward, qkvWidth, type AttentionShape } from './attention.ts';
import {
  addBias,
  addColumnSums,
  addInto,
  gatherRows,
  rmsNorm,
  rmsNormBackward,
  rotate,
  scatterAddRows,
  swiglu,
  swigluBackward,
  type RotaryTable,
} from './layers.ts';
import { matmulNN, matmulNT, matmulTN } from './matmul.ts';
import type { Tensors } from './network.ts';

/** Tokens of several rows, packed one row after the other without padding. */
export interface Packed {
  readonly count: number; // n
  readonly tokens: Int32Array; // (n) ids
  readonly positions: Int32Array; // (n) index within the row
}

/** Attention of one layer: reads the rotated q, k and v of the pass, writes `attended`. */
export type Attend = (layer: number, activations: LayerActivations, packed: Packed) => void;

/** Causal attention among the packed tokens themselves, each row from its first token on. */
export function packedAttention(model: ModelConfig): Attend {
  const shape: AttentionShape = attentionShape(model);
  return (_, a, packed) => attendPacked(a.attended, a.probabilities, a.qkv, packed.positions, packed.count, shape);
}

/**
 * The Llama / Qwen2 forward pass over packed tokens: pre-norm blocks of rotary grouped-query attention and SwiGLU (Touvron
 * et al. 2023), biases on q, k and v if the model has them. Leaves the final norm's output in `room.hidden` (n,d). With
 * `keep`, every layer keeps what `backward` needs; without, one layer's room serves all.
 */
export function forward(
  room: Activations,
  tensors: Tensors,
  packed: Packed,
  rotary: RotaryTable,
  attend: Attend,
  keep: boolean,
): void {
  const { model } = room;
  const n = packed.count;
  const d = model.hidden_size;
  const f = model.intermediate_size;
  const shape = attentionShape(model);
  const width = qkvWidth(shape);
  const inner = shape.heads * shape.headDim;
  const at = (layer: number) => room.layers[keep ? layer : 0]!;
  gatherRows(at(0).input, tensors.embed, packed.tokens, n, d);
  for (const [index, layer] of tensors.layers.entries()) {
    const a = at(index);
    rmsNorm(a.normed, a.scales, a.input, layer.inputNorm, n, d, model.rms_norm_eps);
    matmulNT(a.qkv, a.normed, layer.qkv, n, width, d);
    if (layer.qkvBias) addBias(a.qkv, layer.qkvBias, n, width);
    rotate(a.qkv, packed.positions, rotary, n, shape.heads + shape.kvHeads, shape.headDim, width, 1);
    attend(index, a, packed);
    matmulNT(room.narrow, a.attended, layer.output, n, d, inner);
    addInto(a.middle, a.input, room.narrow, n * d);
    rmsNorm(a.postNormed, a.postScales, a.middle, layer.postNorm, n, d, model.rms_norm_eps);
    matmulNT(a.gateUp, a.postNormed, layer.gateUp, n, 2 * f, d);
    swiglu(a.gated, a.sigmoid, a.gateUp, n, f);
    matmulNT(room.narrow, a.gated, layer.down, n, d, f);
    const next = index + 1 < tensors.layers.length ? at(index + 1).input : room.final;
    addInto(next, a.middle, room.narrow, n * d);
  }
  rmsNorm(room.hidden, room.finalScales, room.final, tensors.norm, n, d, model.rms_norm_eps);
}

/** Adds to `gradients` what `room.dhidden` (n,d) means for every tensor below the heads; follows a `forward` that kept. */
export function backward(
  room: Activations,
  tensors: Tensors,
  gradients: Tensors,
  packed: Packed,
  rotary: RotaryTable,
): void {
  const { model, dstream, dnarrow } = room;
  const n = packed.count;
  const d = model.hidden_size;
  const f = model.intermediate_size;
  const shape = attentionShape(model);
  const width = qkvWidth(shape);
  const inner = shape.heads * shape.headDim;
  dstream.fill(0, 0, n * d);
  rmsNormBackward(dstream, gradients.norm, room.dhidden, room.final, room.finalScales, tensors.norm, n, d);
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
    rmsNormBackward(dstream, dlayer.postNorm, dnarrow, a.middle, a.postScales, layer.postNorm, n, d);
    matmulTN(dlayer.output, dstream, a.attended, d, inner, n);
    matmulNN(dnarrow, dstream, layer.output, n, inner, d);
    attendPackedBackward(room.dqkv, dnarrow, a.probabilities, a.qkv, room.scores, packed.positions, n, shape);
    rotate(room.dqkv, packed.positions, rotary, n, shape.heads + shape.kvHeads, shape.headDim, width, -1);
    matmulTN(dlayer.qkv, room.dqkv, a.normed, width, d, n);
    if (dlayer.qkvBias) addColumnSums(dlayer.qkvBias, room.dqkv, n, width);
    matmulNN(dnarrow, room.dqkv, layer.qkv, n, d, width);
    rmsNormBackward(dstream, dlayer.inputNorm, dnarrow, a.input, a.scales, layer.inputNorm, n, d);
  }
  scatterAddRows(gradients.embed, dstream, packed.tokens, n, d);
}

/** Pairs of (token, token up to it) among packed tokens: the size of one head's attention. */
function pairCount(packed: Packed): number {
  let pairs = 0;
  for (let i = 0; i < packed.count; i++) pairs += packed.positions[i]! + 1;
  return pairs;
}

/** Makes room for a pass over `packed`. */
export function reserveFor(room: Activations, packed: Packed, keep: boolean): void {
  reserve(room, packed.count, pairCount(packed), keep ? room.model.num_hidden_layers : 1);
}
