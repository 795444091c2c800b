import { BYTE_CHARACTERS } from '../../src/text/byteCharacters.ts';
import { ggufFile, i32s, text, texts, u32 } from '../formats/gguf.ts';
import { FOLDERS, placedFolder } from './folderKinds.ts';
import { bytesInMemory } from '../../src/formats/byteSource.ts';
import type { FileInFolder } from '../../src/speaking/textCheckpoint.ts';
import { tinyGguf } from './tinyGguf.ts';

type Tree = Record<string, unknown>;
const PLAIN = FOLDERS['plain']!;
const TOKENIZER = JSON.parse(PLAIN['tokenizer.json']!) as Tree;

const template = (source: string) => placedFolder({ ...PLAIN, 'chat_template.jinja': source });
const MESSAGES = '{% for m in messages %}{{ m.role + m.content }}{% endfor %}';
const tokenizer = (change: Tree) => placedFolder({ ...PLAIN, 'tokenizer.json': JSON.stringify({ ...TOKENIZER, ...change }) }); // prettier-ignore
const model = (change: Tree) => tokenizer({ model: { ...(TOKENIZER['model'] as Tree), ...change } });
const LAST = { type: 'ByteLevel', add_prefix_space: false, use_regex: false };
const split = (Regex: string) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false });
const cut = (...patterns: readonly string[]) =>
  tokenizer({ pre_tokenizer: { type: 'Sequence', pretokenizers: [...patterns.map(split), LAST] } });
const list = <T>(length: number, of: (i: number) => T) => Array.from({ length }, (_, i) => of(i));
const gguf = (bytes: Uint8Array): readonly FileInFolder[] => [
  { path: 'a.gguf', source: bytesInMemory('a.gguf', bytes) },
];

/** A folder whose weights' file has this header. */
function header(json: string, data = 0): readonly FileInFolder[] {
  const bytes = new Uint8Array(8 + json.length + data);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  new TextEncoder().encodeInto(json, bytes.subarray(8));
  const weights = { path: 'm/model.safetensors', source: bytesInMemory('model.safetensors', bytes) };
  return [...placedFolder(PLAIN).filter(({ path }) => path !== weights.path), weights];
}
/** A GGUF header that says more than there is. */
function claims(keys: Uint8Array, ...counts: readonly number[]): Uint8Array {
  const bytes = keys.slice();
  const view = new DataView(bytes.buffer);
  counts.forEach((count, i) => view.setBigUint64(8 + 8 * i, BigInt(count), true));
  return bytes;
}

/** Templates that ask for too much or are nested too deep. One that never ends is the page's to stop: it ends the worker. */
const TEMPLATES: Readonly<Record<string, string>> = {
  'a long range': '{{ range(1000000000) | length }}',
  'a range of small steps': '{{ range(0, 1, 0.0000000001) | length }}',
  'a range to infinity': '{{ range(1e300 | int) | length }}',
  'a macro that calls itself': '{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}',
  'macros that call each other':
    '{% macro g(x) %}{{ f(x) }}{% endmacro %}{% macro f(x) %}{{ g(x) }}{{ g(x) }}{% endmacro %}{{ f(1) }}',
  'a text that doubles': `{% set n = namespace(x='ab') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}`,
  'a list many deep':
    '{% set n = namespace(x=[]) %}{% for i in range(90000) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}',
  'a wide indent': `{{ 'a\\nb' | indent(900000000) }}`,
  'brackets many deep': `{{ ${'('.repeat(50_000)}1${')'.repeat(50_000)} }}`,
  'lists many deep in the source': `{{ ${'['.repeat(50_000)}${']'.repeat(50_000)} }}`,
  'ifs many deep': `${'{% if true %}'.repeat(15_000)}x${'{% endif %}'.repeat(15_000)}`,
  'a sum of many': `{{ ${list(60_000, () => '1').join('+')} }}`,
  'many filters': `{{ 'a'${' | trim'.repeat(30_000)} }}`,
  'many nots': `{{ ${'not '.repeat(50_000)}true }}`,
  'a template that is long': 'x'.repeat(1 << 19),
  'many statements': '{% set a = 1 %}'.repeat(17_000),
  'an open comment': `{#${'-'.repeat(250_000)}`,
};

/** Patterns that are large or nested deep, and end. */
const PATTERNS = [
  ...['a{1000}{1000}', 'a{100000000}', '(?:a{1000}){1000}', '(?:(?:a?)?)*b', 'b'.repeat(4000), '('.repeat(4000)],
  ...[`${'(?:'.repeat(900)}a${')'.repeat(900)}`, '|'.repeat(4000)],
];

/** Files of a model, by what is hostile about them. */
export const CRAFTED: Readonly<Record<string, () => readonly FileInFolder[]>> = {
  ...Object.fromEntries(
    Object.entries(TEMPLATES).map(([kind, source]) => [kind, () => template(`${source}${MESSAGES}`)]),
  ),
  ...Object.fromEntries(PATTERNS.map((pattern) => [`the pattern ${pattern.slice(0, 40)}`, () => cut(pattern)])),
  'pre-tokenizers in each other': () => tokenizer({ pre_tokenizer: list(1000, () => 0).reduce<Tree>((inner) => ({ type: 'Sequence', pretokenizers: [inner] }), LAST) }), // prettier-ignore
  'normalizers in each other': () => tokenizer({ normalizer: list(1000, () => 0).reduce<Tree>((inner) => ({ type: 'Sequence', normalizers: [inner] }), { type: 'NFC' }) }), // prettier-ignore
  'two million merges': () => model({ merges: list(2_000_000, () => 'a b') }),
  'merges of no tokens': () => model({ merges: list(300_000, (i) => `${i} ${i}`) }),
  'tokens of a megabyte, merged': () => model({ vocab: { ['a'.repeat(1 << 20)]: 0, a: 1 }, merges: list(20, () => ['a'.repeat(1 << 20), 'a']) }), // prettier-ignore
  'a hundred thousand added tokens': () => tokenizer({ added_tokens: list(100_000, (i) => ({ id: i, content: `<${i}>`, special: true })) }), // prettier-ignore
  'added tokens that are almost the text': () => tokenizer({ added_tokens: list(900, (i) => ({ id: i, content: `${'a'.repeat(i)}b` })) }), // prettier-ignore
  'ids to sixteen million': () => model({ vocab: { ...((TOKENIZER['model'] as Tree)['vocab'] as Tree), xx: (1 << 24) - 1 } }), // prettier-ignore
  'a tokenizer of brackets': () => placedFolder({ ...PLAIN, 'tokenizer.json': '['.repeat(3_000_000) }),
  'a tokenizer of quotes': () => placedFolder({ ...PLAIN, 'tokenizer.json': `{"a":"${'\\"'.repeat(2_000_000)}"}` }),
  'words and as many added words': () => {
    const vocab = Object.fromEntries(list(100_000, (i) => [`w${i}`, i]));
    const added_tokens = list(100_000, (i) => ({ id: i, content: `w${99_999 - i}` }));
    return tokenizer({ model: { type: 'WordLevel', vocab, unk_token: 'w0' }, pre_tokenizer: { type: 'WhitespaceSplit' }, normalizer: null, added_tokens }); // prettier-ignore
  },
  'a header of 90 MB': () => header(`{"a":${' '.repeat(90_000_000)}0}`),
  'a header of a hundred thousand tensors': () => header(`{${list(100_000, (i) => `"t${i}":{"dtype":"F32","shape":[1],"data_offsets":[${4 * i},${4 * i + 4}]}`).join(',')}}`, 400_000), // prettier-ignore
  'a shape of many sizes': () => header(`{"a":{"dtype":"F32","shape":[${list(500_000, () => '1').join(',')}],"data_offsets":[0,4]}}`, 4), // prettier-ignore
  'an index of a hundred thousand files': () => [
    ...placedFolder({ ...PLAIN, 'model.safetensors.index.json': JSON.stringify({ weight_map: Object.fromEntries(list(100_000, (i) => [`t${i}`, `f${i}`])) }) }).filter(({ path }) => path !== 'm/model.safetensors'), // prettier-ignore
  ],
  'a config of a billion layers': () => placedFolder({ ...PLAIN, 'config.json': PLAIN['config.json']!.replace('"num_hidden_layers":1', '"num_hidden_layers":1000000000') }), // prettier-ignore
  'a config of a large vocabulary': () => placedFolder({ ...PLAIN, 'config.json': PLAIN['config.json']!.replace('"vocab_size":1040', '"vocab_size":9007199254740991') }), // prettier-ignore
  'a config of wide heads': () => placedFolder({ ...PLAIN, 'config.json': PLAIN['config.json']!.replace('"head_dim":4', '"head_dim":9007199254740990') }), // prettier-ignore
  'a card of dashes': () => placedFolder({ ...PLAIN, 'README.md': `---\n${'-'.repeat(60_000)}` }),
  'a GGUF of many tensors, by its count': () => gguf(claims(tinyGguf(), 2 ** 40)),
  'a GGUF of many keys, by its count': () => gguf(claims(tinyGguf(), 12, 2 ** 40)),
  'a GGUF of long lists': () => gguf(ggufFile(Object.fromEntries(list(4, (i) => [`list${i}`, i32s(list(400_000, () => 1))])))), // prettier-ignore
  'a GGUF of sixty thousand tensors': () => gguf(ggufFile({ 'general.architecture': text('llama') }, list(60_000, (i) => ({ name: `t${i}`, shape: [1], type: 0, offset: 32 * i })), 32 * 60_000)), // prettier-ignore
  'a GGUF of a billion parts': () => gguf(tinyGguf({ 'split.count': u32(1e9) })),
  'a GGUF of a billion layers': () => gguf(tinyGguf({ 'llama.block_count': u32(1e9) })),
  'a GGUF of many merges': () => gguf(tinyGguf({ 'tokenizer.ggml.merges': texts(list(300_000, () => `${BYTE_CHARACTERS[65]} ${BYTE_CHARACTERS[66]}`)) })), // prettier-ignore
};
