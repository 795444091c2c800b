import type { ModelConfig } from '../model/architecture.ts';

/** GGUF's names of a layer's tensors, by Hugging Face name; both without `.weight` or `.bias`. */
const LAYER_NAMES: Readonly<Record<string, string>> = {
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

/** GGUF's names of the tensors outside the layers, by Hugging Face name. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  'model.embed_tokens.weight': 'token_embd.weight',
  'model.norm.weight': 'output_norm.weight',
  'lm_head.weight': 'output.weight',
};

/** Translates a tensor's Hugging Face name to GGUF's. Unknown names stay. */
export function ggufName(name: string): string {
  const [, layer, part, kind] = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name) ?? [];
  const layerName = part === undefined ? undefined : LAYER_NAMES[part];
  return layerName === undefined ? (OTHER_NAMES[name] ?? name) : `blk.${layer}.${layerName}.${kind}`;
}

/**
 * Maps a row of q or k in a GGUF file to its row in Hugging Face's tensor. GGUF files of architecture `llama` have the
 * two rows that are rotated together next to each other: row 2j + r of a head (r = 0 or 1) becomes row j + r·D/2, where
 * D is the head's dimension. Undefined for tensors whose rows keep their order.
 */
export function huggingFaceRow({ head_dim }: ModelConfig, name: string): ((row: number) => number) | undefined {
  if (!/\.self_attn\.[qk]_proj\.weight$/.test(name)) return undefined;
  return (row) => {
    const rowInHead = row % head_dim;
    return row - rowInHead + (rowInHead >> 1) + (rowInHead & 1) * (head_dim / 2);
  };
}
