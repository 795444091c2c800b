import type { ModelConfig } from '../model/architecture.ts';

/** Names of a layer's tensors: Hugging Face's, then GGUF's, both without `.weight` or `.bias`. */
const LAYER: Readonly<Record<string, string>> = {
  input_layernorm: 'attn_norm',
  post_attention_layernorm: 'ffn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
};

const WHOLE: Readonly<Record<string, string>> = {
  'model.embed_tokens.weight': 'token_embd.weight',
  'model.norm.weight': 'output_norm.weight',
  'lm_head.weight': 'output.weight',
};

/** What GGUF calls a tensor, by its Hugging Face name; other names stay. */
export function ggufName(name: string): string {
  const [, layer, part, kind] = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name) ?? [];
  const known = part === undefined ? undefined : LAYER[part];
  return known === undefined ? (WHOLE[name] ?? name) : `blk.${layer}.${known}.${kind}`;
}

/**
 * Where a row of a GGUF file's q or k belongs in the tensor as Hugging Face has it, for architecture `llama`, whose rows the file has in pairs that are rotated
 * together: row 2j + r of a head goes to j + r·D/2. Undefined for tensors whose rows stay.
 */
export function sourceRow({ head_dim }: ModelConfig, name: string): ((row: number) => number) | undefined {
  if (!/\.self_attn\.[qk]_proj\.weight$/.test(name)) return undefined;
  return (row) => {
    const at = row % head_dim;
    return row - at + (at >> 1) + (at & 1) * (head_dim / 2);
  };
}
