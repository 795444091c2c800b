import type { ModelConfig } from '../architecture.ts';
import { qkvWidth } from './attention.ts';
import { bytesPer, reals, type Precision, type Real } from './real.ts';

/** What one layer's backward pass needs of its forward pass; n tokens lie packed, without padding. */
export interface LayerActivations {
  input: Real; // (n, d) residual stream
  normed: Real; // (n, d)
  scales: Real; // (n) of the first norm
  qkv: Real; // (n, (H + 2·kvH)·D) rotated
  probabilities: Real; // for each token and head, one number for each token up to it
  attended: Real; // (n, H·D)
  middle: Real; // (n, d) residual stream after attention
  postNormed: Real; // (n, d)
  postScales: Real; // (n)
  gateUp: Real; // (n, 2F)
  sigmoid: Real; // (n, F) of the gate
  gated: Real; // (n, F)
}

/** Room for one pass over packed tokens; grows to the largest pass asked of it and stays. */
export interface Activations {
  readonly model: ModelConfig;
  readonly precision: Precision;
  readonly layers: LayerActivations[];
  tokens: number; // capacity n
  pairs: number; // capacity in (token, earlier token) pairs
  final: Real; // (n, d) residual stream after the last layer
  finalScales: Real; // (n)
  hidden: Real; // (n, d) final norm's output
  narrow: Real; // (n, max(d, H·D)) scratch
  dstream: Real; // (n, d) gradient of the residual stream
  dnarrow: Real; // (n, max(d, H·D)) scratch
  dhidden: Real; // (n, d) gradient of `hidden`, written by the head
  dqkv: Real; // (n, (H + 2·kvH)·D)
  dwide: Real; // (n, 2F)
  dgated: Real; // (n, F)
  scores: Real; // one query's numbers
}

function layerSizes(model: ModelConfig, n: number, pairs: number): Record<keyof LayerActivations, number> {
  const d = model.hidden_size;
  return {
    input: n * d,
    normed: n * d,
    scales: n,
    qkv: n * qkvWidth(attentionShape(model)),
    probabilities: pairs * model.num_attention_heads,
    attended: n * model.num_attention_heads * model.head_dim,
    middle: n * d,
    postNormed: n * d,
    postScales: n,
    gateUp: n * 2 * model.intermediate_size,
    sigmoid: n * model.intermediate_size,
    gated: n * model.intermediate_size,
  };
}

/** The sizes attention reads. */
export function attentionShape(model: ModelConfig): { heads: number; kvHeads: number; headDim: number } {
  return { heads: model.num_attention_heads, kvHeads: model.num_key_value_heads, headDim: model.head_dim };
}

/** Bytes of a training pass over n tokens with so many pairs. */
export function activationBytes(model: ModelConfig, precision: Precision, n: number, pairs: number): number {
  const layer = Object.values(layerSizes(model, n, pairs)).reduce((a, b) => a + b, 0);
  const d = Math.max(model.hidden_size, model.num_attention_heads * model.head_dim);
  const shared = n * (6 * d + qkvWidth(attentionShape(model)) + 3 * model.intermediate_size);
  return bytesPer(precision) * (layer * model.num_hidden_layers + shared);
}

/** Room for nothing yet. */
export function createActivations(model: ModelConfig, precision: Precision): Activations {
  const none = reals(precision, 0);
  return {
    model,
    precision,
    layers: [],
    tokens: 0,
    pairs: 0,
    final: none,
    finalScales: none,
    hidden: none,
    narrow: none,
    dstream: none,
    dnarrow: none,
    dhidden: none,
    dqkv: none,
    dwide: none,
    dgated: none,
    scores: none,
  };
}

/** Makes room for n tokens and so many pairs in `layers` layers: all of them to train, one to only look. */
export function reserve(room: Activations, n: number, pairs: number, layers: number): void {
  if (n <= room.tokens && pairs <= room.pairs && layers <= room.layers.length) return;
  const { model, precision } = room;
  const make = (size: number) => reals(precision, size);
  if (n > room.tokens || pairs > room.pairs) {
    room.tokens = Math.max(n, room.tokens);
    room.pairs = Math.max(pairs, room.pairs);
    const d = model.hidden_size;
    const narrow = Math.max(d, model.num_attention_heads * model.head_dim);
    room.layers.length = 0;
    room.final = make(room.tokens * d);
    room.finalScales = make(room.tokens);
    room.hidden = make(room.tokens * d);
    room.narrow = make(room.tokens * narrow);
    room.dstream = make(room.tokens * d);
    room.dnarrow = make(room.tokens * narrow);
    room.dhidden = make(room.tokens * d);
    room.dqkv = make(room.tokens * qkvWidth(attentionShape(model)));
    room.dwide = make(room.tokens * 2 * model.intermediate_size);
    room.dgated = make(room.tokens * model.intermediate_size);
    room.scores = make(room.tokens);
  }
  const sizes = layerSizes(model, room.tokens, room.pairs);
  while (room.layers.length < layers) {
    room.layers.push({
      input: make(sizes.input),
      normed: make(sizes.normed),
      scales: make(sizes.scales),
      qkv: make(sizes.qkv),
      probabilities: make(sizes.probabilities),
      attended: make(sizes.attended),
      middle: make(sizes.middle),
      postNormed: make(sizes.postNormed),
      postScales: make(sizes.postScales),
      gateUp: make(sizes.gateUp),
      sigmoid: make(sizes.sigmoid),
      gated: make(sizes.gated),
    });
  }
}
