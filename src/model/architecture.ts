import type { RunConfig } from '../config/config.ts';
import { fnv, fnvOfText, FNV_START } from '../base/checksum.ts';
import { Purpose, random } from '../base/rng.ts';

/** `LlamaForCausalLM`, `Qwen2ForCausalLM` or `Qwen3ForCausalLM`, in Hugging Face's names where it has them. */
export interface ModelConfig {
  readonly vocab_size: number; // V
  readonly hidden_size: number; // d
  readonly intermediate_size: number; // F
  readonly num_hidden_layers: number; // L
  readonly num_attention_heads: number; // H
  readonly num_key_value_heads: number;
  readonly head_dim: number;
  readonly rms_norm_eps: number;
  readonly rope_theta: number;
  readonly rope_factors?: readonly number[]; // (head_dim/2) divisors of rotary frequencies, if scaled for long texts
  readonly qk_norm?: boolean; // RMSNorm on each head of q and k before rotation, as in Qwen3; absent: no norm
  readonly attention_bias: boolean; // on q, k and v, as in Qwen2
  readonly tie_word_embeddings: boolean;
  readonly value_head: boolean; // value_head.{weight,bias} on the final norm
}

export function modelConfig(config: RunConfig, vocabulary: number, valueHead: boolean): ModelConfig {
  return {
    vocab_size: vocabulary,
    hidden_size: config.width,
    intermediate_size: config.ffn,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    head_dim: config.width / config.heads,
    rms_norm_eps: 1e-5,
    rope_theta: 10000,
    attention_bias: config.attentionBias === 'on',
    tie_word_embeddings: config.tieEmbeddings === 'on',
    value_head: valueHead,
  };
}

export interface Parameter {
  readonly name: string; // Hugging Face's
  readonly shape: readonly number[]; // [out, in] for matrices
  readonly size: number;
  readonly std: number; // of the initial normal draw; 0: the tensor starts at zero, unless `one` is true
  readonly startsAtOne: boolean; // starts at one (norm weights)
  readonly decay: boolean; // takes weight decay: two or more dimensions
  readonly group: string; // tensors of one group lie next to each other, so that one matmul can read them as one matrix
}

/** Every tensor of the model, in a fixed order: tensors with weight decay first, members of a group adjacent. */
export function parameters(m: ModelConfig): readonly Parameter[] {
  const d = m.hidden_size;
  const q = m.num_attention_heads * m.head_dim;
  const kv = m.num_key_value_heads * m.head_dim;
  const residualScale = 1 / Math.sqrt(2 * m.num_hidden_layers);
  const list: Parameter[] = [];
  const add = (name: string, shape: readonly number[], group: string, std: number, one = false) => {
    list.push({
      name,
      shape,
      size: shape.reduce((a, b) => a * b, 1),
      std,
      startsAtOne: one,
      decay: shape.length > 1,
      group,
    });
  };
  const matrix = (name: string, out: number, fanIn: number, group = name, scale = 1) =>
    add(name, [out, fanIn], group, scale / Math.sqrt(fanIn));
  matrix('model.embed_tokens.weight', m.vocab_size, d);
  for (let i = 0; i < m.num_hidden_layers; i++) {
    const prefix = `model.layers.${i}`;
    matrix(`${prefix}.self_attn.q_proj.weight`, q, d, `${prefix}.qkv.weight`);
    matrix(`${prefix}.self_attn.k_proj.weight`, kv, d, `${prefix}.qkv.weight`);
    matrix(`${prefix}.self_attn.v_proj.weight`, kv, d, `${prefix}.qkv.weight`);
    matrix(`${prefix}.self_attn.o_proj.weight`, d, q, undefined, residualScale);
    matrix(`${prefix}.mlp.gate_proj.weight`, m.intermediate_size, d, `${prefix}.gate_up.weight`);
    matrix(`${prefix}.mlp.up_proj.weight`, m.intermediate_size, d, `${prefix}.gate_up.weight`);
    matrix(`${prefix}.mlp.down_proj.weight`, d, m.intermediate_size, undefined, residualScale);
  }
  if (!m.tie_word_embeddings) matrix('lm_head.weight', m.vocab_size, d);
  // The value head starts at zero: values begin at 0, not at noise.
  if (m.value_head) add('value_head.weight', [1, d], 'value_head.weight', 0);
  for (let i = 0; i < m.num_hidden_layers; i++) {
    add(`model.layers.${i}.input_layernorm.weight`, [d], `model.layers.${i}.input_layernorm.weight`, 0, true);
    add(
      `model.layers.${i}.post_attention_layernorm.weight`,
      [d],
      `model.layers.${i}.post_attention_layernorm.weight`,
      0,
      true,
    );
  }
  add('model.norm.weight', [d], 'model.norm.weight', 0, true);
  for (let i = 0; m.qk_norm && i < m.num_hidden_layers; i++) {
    for (const part of ['q_norm', 'k_norm']) {
      const name = `model.layers.${i}.self_attn.${part}.weight`;
      add(name, [m.head_dim], name, 0, true);
    }
  }
  if (m.attention_bias) {
    for (let i = 0; i < m.num_hidden_layers; i++) {
      const prefix = `model.layers.${i}.self_attn`;
      add(`${prefix}.q_proj.bias`, [q], `model.layers.${i}.qkv.bias`, 0);
      add(`${prefix}.k_proj.bias`, [kv], `model.layers.${i}.qkv.bias`, 0);
      add(`${prefix}.v_proj.bias`, [kv], `model.layers.${i}.qkv.bias`, 0);
    }
  }
  if (m.value_head) add('value_head.bias', [1], 'value_head.bias', 0);
  return list;
}

/** Radians by which coordinates i and i + D/2 of a head turn per position: theta^(−2i/D) (Su et al. 2021) / `rope_factors[i]`, if any. */
export function rotaryFrequency({ rope_theta, head_dim, rope_factors }: ModelConfig, i: number): number {
  return rope_theta ** ((-2 * i) / head_dim) / (rope_factors?.[i] ?? 1);
}

export function parameterCount(m: ModelConfig): number {
  return parameters(m).reduce((sum, p) => sum + p.size, 0);
}

/** Tensors by Hugging Face name, row-major float32. */
export type Weights = ReadonlyMap<string, Float32Array>;

/** Fresh weights: N(0, 1/fan_in), residual outputs scaled by 1/√(2L), norms one, biases and value head zero. */
export function initialWeights(m: ModelConfig, seed: number): Weights {
  const weights = new Map<string, Float32Array>();
  for (const [index, p] of parameters(m).entries()) {
    const tensor = new Float32Array(p.size);
    const rng = random(seed, Purpose.weights, index);
    if (p.startsAtOne) tensor.fill(1);
    else if (p.std > 0) for (let i = 0; i < p.size; i++) tensor[i] = p.std * rng.normal();
    weights.set(p.name, tensor);
  }
  return weights;
}

/** FNV-1a over names and bytes of all weights in layout order, as eight hex digits. */
export function weightsHash(m: ModelConfig, weights: Weights): string {
  return tensorsHash(parameters(m), weights);
}

export function tensorsHash(tensors: readonly Pick<Parameter, 'name'>[], weights: Weights): string {
  let hash = FNV_START;
  for (const { name } of tensors) {
    const tensor = weights.get(name);
    if (!tensor) throw new Error(`weightsHash: the tensor ${name} is missing. Every parameter of the model is needed.`);
    hash = fnvOfText(name, hash);
    for (const byte of new Uint8Array(tensor.buffer, tensor.byteOffset, tensor.byteLength)) hash = fnv(hash, byte);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}
