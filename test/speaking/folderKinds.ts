import { readFileSync } from 'node:fs';
import { encodeSafetensors } from '../../src/formats/safetensors.ts';
import { bytesInMemory } from '../../src/formats/byteSource.ts';
import { type ModelConfig, parameters } from '../../src/model/architecture.ts';
import type { FileInFolder } from '../../src/speaking/textCheckpoint.ts';
import { conversations } from '../text/conversations.ts';

type Tree = Record<string, unknown>;
/** The texts of a folder, by name. */
export type FolderTexts = Readonly<Record<string, string>>;

const TOKENIZER = JSON.parse(readFileSync('test/text/fixtures/qwen.json', 'utf8')) as Tree;
const MODEL: ModelConfig = {
  ...{ vocab_size: 1040, hidden_size: 16, intermediate_size: 24, num_hidden_layers: 1, head_dim: 4 },
  ...{ num_attention_heads: 4, num_key_value_heads: 2, rms_norm_eps: 1e-5, rope_theta: 10_000 },
  ...{ attention_bias: false, tie_word_embeddings: true, value_head: false },
};
const CONFIG: Tree = {
  ...{ ...MODEL, attention_bias: undefined, value_head: undefined },
  ...{ architectures: ['LlamaForCausalLM'], model_type: 'llama', hidden_act: 'silu', eos_token_id: 2 },
};

/** Writes every token it may be given, so that a prompt shows who named them. */
const NAMED = "{{ bos_token }}{{ eos_token }}{{ pad_token }}{{ unk_token }}{% if image_token %}{{ image_token }}{% endif %}{% if audio %}{{ audio }}{% endif %}"; // prettier-ignore
const TALK = "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + (m.thinking or '') + '<|im_end|>\\n' }}{% for c in m.tool_calls or [] %}{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"; // prettier-ignore
const PLAIN = `${NAMED}${TALK}`;
const TOOLS = `${NAMED}Tools:{% for t in tools %}\n- {{ t.function.name }} {{ t.function.parameters | tojson }}{% endfor %}\n${TALK}`;
const LINES = [
  ...['{{ bos_token }}', '{% if tools %}', '<|im_start|>system', 'Tools:', '{% for t in tools %}', '{{ t | tojson }}'],
  ...['{% endfor %}', '', '<|im_end|>', '{% endif %}', '{% for m in messages %}', "{{ '<|im_start|>' }}{{ m.role }}"],
  ...['  {{ m.content }}<|im_end|>', '{% endfor %}', '{% if add_generation_prompt %}', '<|im_start|>assistant'],
  ...['{% endif %}', '', ''],
];
const NAMES = { bos_token: '<|endoftext|>', eos_token: '<|im_end|>', pad_token: '<|endoftext|>' };

const settings = (more: Tree = NAMES) =>
  JSON.stringify({ tokenizer_class: 'PreTrainedTokenizerFast', model_max_length: 512, ...more });
const added = (content: string, id: number, special = false) => ({
  ...{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special },
});
const tokenizer = (change: (whole: Tree) => Tree = (whole) => whole) => JSON.stringify(change(TOKENIZER));
const withAdded = (...tokens: readonly Tree[]) =>
  tokenizer((whole) => ({ ...whole, added_tokens: [...(whole['added_tokens'] as Tree[]), ...tokens] }));
const folder = (files: FolderTexts): FolderTexts => ({
  ...{ 'config.json': JSON.stringify(CONFIG), 'tokenizer.json': tokenizer(), 'tokenizer_config.json': settings() },
  ...files,
});
const decoded = (token: string) => ({ ...added(token, 0), id: undefined });

/** Folders of every kind that says something about prompts; each is read by Transformers too. */
export const FOLDERS: Readonly<Record<string, FolderTexts>> = {
  plain: folder({ 'chat_template.jinja': PLAIN }),
  'a template with CRLF': folder({ 'chat_template.jinja': LINES.join('\r\n') }),
  'a template with CR in tokenizer_config.json': folder({
    'tokenizer_config.json': settings({ ...NAMES, chat_template: LINES.join('\r').replaceAll('Tools:', "{{ 'a\r\n\rb' }}") }), // prettier-ignore
  }),
  'a template that begins with a byte order mark': folder({ 'chat_template.jinja': `\ufeff${PLAIN}` }),
  'tokens named in special_tokens_map.json alone': folder({
    'chat_template.jinja': PLAIN,
    'tokenizer_config.json': settings({}),
    'special_tokens_map.json': JSON.stringify({ bos_token: '<|im_start|>', eos_token: '<|im_end|>' }),
  }),
  'special_tokens_map.json before tokenizer_config.json': folder({
    'chat_template.jinja': PLAIN,
    'special_tokens_map.json': JSON.stringify({ bos_token: decoded('<|im_end|>'), unk_token: '<unk>', image_token: '<image>' }), // prettier-ignore
  }),
  'added_tokens_decoder, and so no special_tokens_map.json': folder({
    'chat_template.jinja': PLAIN,
    'tokenizer_config.json': settings({
      ...NAMES,
      added_tokens_decoder: { 1024: decoded('<tool_call>'), 1026: { ...decoded('How'), normalized: true } },
    }),
    'special_tokens_map.json': JSON.stringify({ bos_token: '<|im_end|>' }),
  }),
  'templates by name in a list': folder({
    'tokenizer_config.json': settings({
      ...NAMES,
      chat_template: [
        { name: 'default', template: PLAIN },
        { name: 'tool_use', template: TOOLS },
      ],
    }),
  }),
  'templates in additional_chat_templates': folder({
    'chat_template.jinja': PLAIN,
    'additional_chat_templates/tool_use.jinja': TOOLS.replaceAll('\n', '\r\n'),
    'additional_chat_templates/rag.jinja': '{{ documents }}',
  }),
  'a file before tokenizer_config.json': folder({
    'chat_template.jinja': PLAIN,
    'tokenizer_config.json': settings({ ...NAMES, chat_template: [{ name: 'tool_use', template: TOOLS }] }),
  }),
  'tokens that tokenizer.json does not have': folder({
    'chat_template.jinja': PLAIN,
    'tokenizer_config.json': settings({ ...NAMES, bos_token: '<s>', additional_special_tokens: ['much', 'How is'] }),
  }),
  'tokens of a class (Qwen2Tokenizer)': folder({
    'chat_template.jinja': PLAIN,
    'tokenizer_config.json': settings({ tokenizer_class: 'Qwen2TokenizerFast', bos_token: null }),
  }),
  'tokens with names of its own': folder({
    'chat_template.jinja': PLAIN,
    'tokenizer_config.json': settings({ ...NAMES, image_token: '<image>', extra_special_tokens: { audio: '<audio>' } }),
  }),
  'added_tokens.json': folder({
    'chat_template.jinja': PLAIN,
    'added_tokens.json': JSON.stringify({ 'How much': 1026, '<|im_end|>': 2 }),
  }),
  'a pad token in tokenizer.json': folder({
    'chat_template.jinja': PLAIN,
    'tokenizer.json': tokenizer((whole) => ({
      ...whole,
      padding: { strategy: 'BatchLongest', direction: 'Right', pad_to_multiple_of: null, pad_id: 1, pad_type_id: 0, pad_token: '<|im_start|>' }, // prettier-ignore
    })),
    'tokenizer_config.json': settings({ bos_token: '<|endoftext|>', eos_token: '<|im_end|>' }),
  }),
  'special tokens that are split': folder({
    'chat_template.jinja': PLAIN,
    'tokenizer_config.json': settings({ ...NAMES, split_special_tokens: true }),
  }),
  'added tokens behind a gap': folder({
    'chat_template.jinja': PLAIN,
    'tokenizer.json': withAdded(added('How', 1030)),
  }),
  'an added token of the vocabulary': folder({
    'chat_template.jinja': PLAIN,
    'tokenizer.json': withAdded(added('the', 1026), added('is 2', 1027)),
  }),
  'special tokens that tokenizer.json does not list': folder({
    'chat_template.jinja': PLAIN,
    'tokenizer.json': tokenizer((whole) => ({ ...whole, added_tokens: [] })),
    'tokenizer_config.json': settings({ ...NAMES, bos_token: '<|im_start|>' }),
  }),
  'no tokenizer_config.json': {
    'config.json': JSON.stringify(CONFIG),
    'tokenizer.json': tokenizer(),
    'chat_template.jinja': PLAIN,
  },
  'a normalizer that is an empty sequence': folder({
    'chat_template.jinja': PLAIN,
    'tokenizer.json': tokenizer((whole) => ({ ...whole, normalizer: { type: 'Sequence', normalizers: [] } })),
  }),
  'a normalizer in a sequence': folder({
    'chat_template.jinja': PLAIN,
    'tokenizer.json': tokenizer((whole) => ({ ...whole, normalizer: { type: 'Sequence', normalizers: [{ type: 'NFC' }] } })), // prettier-ignore
  }),
};

/** A folder as it is opened here, with weights of 0. */
export function placedFolder(texts: FolderTexts): readonly FileInFolder[] {
  const tensors = new Map(parameters(MODEL).map(({ name, shape, size }) => [name, { shape, values: new Float32Array(size) }])); // prettier-ignore
  const files = new Map<string, Uint8Array>(Object.entries(texts).map(([name, text]) => [name, new TextEncoder().encode(text)])); // prettier-ignore
  files.set('model.safetensors', new Uint8Array(encodeSafetensors(tensors)));
  return Array.from(files, ([name, bytes]) => ({ path: `m/${name}`, source: bytesInMemory(name, bytes) }));
}

/** What is said in them. */
export const TALKS = conversations(200, 20261125);
