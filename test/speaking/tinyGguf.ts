import { random, Purpose } from '../../src/base/rng.ts';
import { ggufName } from '../../src/checkpoints/ggufNames.ts';
import { type ModelConfig, parameters } from '../../src/model/architecture.ts';
import { BYTE_CHARACTERS } from '../../src/text/byteCharacters.ts';
import { ggufFile, i32s, text, texts, type Typed, u32 } from '../formats/gguf.ts';
import { SMOLLM2 } from '../text/templates.ts';

const ENDS = ['<|im_start|>', '<|im_end|>', '<tool_call>', '</tool_call>'];
const WORDS = [...BYTE_CHARACTERS, ...ENDS, 'Ġt', 'he', 'Ġthe'];

/** A Llama of one layer that knows bytes, a few tokens and SmolLM2's chat template. */
export const TINY: ModelConfig = {
  ...{ vocab_size: WORDS.length, hidden_size: 32, intermediate_size: 48, num_hidden_layers: 1, head_dim: 8 },
  ...{ num_attention_heads: 4, num_key_value_heads: 2, rms_norm_eps: 1e-5, rope_theta: 10_000 },
  ...{ attention_bias: false, tie_word_embeddings: true, value_head: false },
};

/** That model, of more layers where that is asked for, as a GGUF file with normal weights in F32 (seed 7), some of its keys replaced. */
export function tinyGguf(replaced: Readonly<Record<string, Typed>> = {}, layers = TINY.num_hidden_layers): Uint8Array {
  const draw = random(7, Purpose.weights);
  let offset = 0;
  const tensors = parameters({ ...TINY, num_hidden_layers: layers }).map(({ name, shape, size }) => {
    const at = offset;
    offset += Math.ceil((size * 4) / 32) * 32;
    return { name: ggufName(name), shape: [...shape].reverse(), type: 0, offset: at, size };
  });
  const f32 = (value: number): Typed => ({ type: 6, value });
  const keys: Readonly<Record<string, Typed>> = {
    ...{ 'general.architecture': text('llama'), 'general.name': text('Tiny'), 'general.license': text('mit') },
    ...{ 'llama.embedding_length': u32(32), 'llama.feed_forward_length': u32(48), 'llama.block_count': u32(layers) },
    ...{ 'llama.attention.head_count': u32(4), 'llama.attention.head_count_kv': u32(2) },
    ...{ 'llama.attention.layer_norm_rms_epsilon': f32(1e-5), 'llama.context_length': u32(2048) },
    ...{ 'tokenizer.ggml.model': text('gpt2'), 'tokenizer.ggml.pre': text('smollm') },
    'tokenizer.ggml.tokens': texts(WORDS),
    'tokenizer.ggml.token_type': i32s(WORDS.map((word) => (ENDS.includes(word) ? 3 : 1))),
    'tokenizer.ggml.merges': texts(['Ġ t', 'h e', 'Ġt he']),
    'tokenizer.ggml.eos_token_id': u32(WORDS.indexOf('<|im_end|>')),
    'tokenizer.chat_template': text(SMOLLM2),
    ...replaced,
  };
  const file = ggufFile(keys, tensors, offset);
  const view = new DataView(file.buffer, file.byteLength - offset);
  for (const { offset: begin, size } of tensors) {
    for (let i = 0; i < size; i++) view.setFloat32(begin + 4 * i, draw.normal() * 0.4, true);
  }
  return file;
}
