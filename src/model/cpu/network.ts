import { parameters, type ModelConfig } from '../architecture.ts';
import type { Arithmetic } from './arithmetic.ts';
import type { Real } from '../learning/real.ts';
import { createTrained, layoutOf, type PlacedTensor, type TrainedTensors } from '../learning/trainedTensors.ts';

/** q, k and v are stacked in one matrix, gate and up in another. `M` is the type of a matrix, `Real` or packed. */
export interface LayerTensors<M = Real> {
  readonly inputNorm: Real; // (d)
  readonly qkv: M; // ((H + 2·kvH)·D, d)
  readonly qkvBias: Real | null; // ((H + 2·kvH)·D)
  readonly headNorms: { readonly q: Real; readonly k: Real } | null; // (D) each
  readonly output: M; // (d, H·D)
  readonly postNorm: Real; // (d)
  readonly gateUp: M; // (2F, d)
  readonly down: M; // (d, F)
}

export interface ForwardTensors<M = Real> {
  readonly embed: M; // (V, d)
  readonly head: M; // (V, d); the embedding itself when tied
  readonly layers: readonly LayerTensors<M>[];
  readonly norm: Real; // (d)
}

/** Views of a pool: one array with all tensors of `parameters(model)` in order: weights, gradients or one of AdamW's moments. */
export interface NetworkTensors extends ForwardTensors {
  readonly valueWeight: Real | null; // (d)
  readonly valueBias: Real | null; // (1)
}

/** A transformer of which all tensors are trained. */
export interface Network extends TrainedTensors {
  readonly model: ModelConfig;
  readonly tensors: NetworkTensors;
  readonly gradientTensors: NetworkTensors;
}

export function modelLayout(model: ModelConfig): readonly PlacedTensor[] {
  return layoutOf(parameters(model));
}

export function tensorsOf(model: ModelConfig, placed: readonly PlacedTensor[], pool: Real): NetworkTensors {
  const view = (names: readonly string[]): Real => {
    const parts = placed.filter((p) => names.includes(p.name));
    const firstPart = parts[0];
    if (firstPart === undefined || parts.length !== names.length) {
      throw new Error(`tensorsOf: the model lacks some of ${names.join(', ')}.`);
    }
    return pool.subarray(
      firstPart.offset,
      parts.reduce((end, p) => end + p.size, firstPart.offset),
    );
  };
  const embed = view(['model.embed_tokens.weight']);
  const layers = Array.from({ length: model.num_hidden_layers }, (_, i): LayerTensors => {
    const prefix = `model.layers.${i}`;
    const qkv = (suffix: string) => ['q', 'k', 'v'].map((part) => `${prefix}.self_attn.${part}_proj.${suffix}`);
    return {
      inputNorm: view([`${prefix}.input_layernorm.weight`]),
      qkv: view(qkv('weight')),
      qkvBias: model.attention_bias ? view(qkv('bias')) : null,
      headNorms: model.qk_norm
        ? { q: view([`${prefix}.self_attn.q_norm.weight`]), k: view([`${prefix}.self_attn.k_norm.weight`]) }
        : null,
      output: view([`${prefix}.self_attn.o_proj.weight`]),
      postNorm: view([`${prefix}.post_attention_layernorm.weight`]),
      gateUp: view([`${prefix}.mlp.gate_proj.weight`, `${prefix}.mlp.up_proj.weight`]),
      down: view([`${prefix}.mlp.down_proj.weight`]),
    };
  });
  return {
    embed,
    head: model.tie_word_embeddings ? embed : view(['lm_head.weight']),
    layers,
    norm: view(['model.norm.weight']),
    valueWeight: model.value_head ? view(['value_head.weight']) : null,
    valueBias: model.value_head ? view(['value_head.bias']) : null,
  };
}

/** Creates a network of zeros. `model` may differ from the arithmetic's model only in its heads. */
export function createNetwork(model: ModelConfig, arithmetic: Arithmetic): Network {
  const trained = createTrained(parameters(model), arithmetic);
  return {
    ...trained,
    model,
    tensors: tensorsOf(model, trained.layout, trained.weights),
    gradientTensors: tensorsOf(model, trained.layout, trained.gradients),
  };
}
