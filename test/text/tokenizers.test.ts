import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeGgufHeader } from '../../src/formats/ggufHeader.ts';
import { type Codec, shownToken } from '../../src/text/codec.ts';
import { codecFromGguf } from '../../src/text/ggufVocabulary.ts';
import { codecFromTokenizerJson } from '../../src/text/tokenizerFile.ts';
import { damage, damaged } from '../damage.ts';
import { ggufFile, i32s, text, texts, u32 } from '../formats/gguf.ts';
import { awkwardStrings } from './strings.ts';
import { processorClock } from '../processorClock.ts';
import { firstProblem } from '../formats/refusal.ts';

const NAMES = ['digits', 'qwen', 'llama'] as const;
type Name = (typeof NAMES)[number];
const bytesOf = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url));
const json = (name: string) => JSON.parse(bytesOf(name).toString()) as unknown;
const codecOf = (name: Name) => codecFromTokenizerJson(bytesOf(`${name}.json`), { file: `${name}.json` });
const strings = json('strings.json') as string[];

/** What `tokenizers` gave, see fixtures/make.py. */
interface Expected {
  readonly ids: number[][];
  readonly notTheString: Record<string, string>; // what decoding them gives where it is not the string
  readonly drawn: [number[], string][]; // ids at random, and their text
}

describe.each(NAMES)('the %s tokenizer', (name) => {
  const codec = codecOf(name);
  const expected = json(`${name}.ids.json`) as Expected;

  test('encodes each string to the ids of the tokenizers package', () => {
    expect(strings.map((string) => codec.encode(string))).toEqual(expected.ids);
  });

  test('decodes those ids, and ids at random, to its texts', () => {
    const texts = strings.map((string, i) => expected.notTheString[i] ?? string);
    expect(expected.ids.map((ids) => codec.decode(ids))).toEqual(texts);
    expect(expected.drawn.map(([ids]) => codec.decode(ids))).toEqual(expected.drawn.map(([, decoded]) => decoded));
  });

  test('gives pieces and bytes that are the text together', () => {
    for (const ids of expected.ids) {
      expect(codec.pieces(ids).join('')).toBe(codec.decode(ids));
      const bytes = ids.flatMap((id) => [...codec.bytes(id)]);
      expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes))).toBe(codec.decode(ids));
    }
  });
});

test('a surrogate that stands alone is read as U+FFFD', () => {
  const codec = codecOf('qwen');
  for (const string of awkwardStrings(300, 20261124)) {
    expect(codec.encode(string)).toEqual(codec.encode(string.replaceAll(/\p{Surrogate}/gu, '\ufffd')));
  }
});

test('a run of 200,000 equal letters is encoded in well under the time that squares would take', () => {
  const codec = codecOf('qwen');
  const seconds = processorClock();
  expect(codec.decode(codec.encode('a'.repeat(200_000)))).toHaveLength(200_000);
  expect(seconds()).toBeLessThan(20); // about 0.2; trying every pair after every merge takes minutes
});

test('a token is shown as text with its blanks, as bytes where it is a part of a letter, as a number where it says nothing', () => {
  const codec = codecOf('qwen');
  expect(codec.encode(' the').map((id) => shownToken(codec, id))).toEqual(['␣the']);
  expect(codec.encode('\n').map((id) => shownToken(codec, id))).toEqual(['⏎']);
  expect(codec.encode('🫠').map((id) => shownToken(codec, id))[0]).toMatch(/^‹F0( [0-9A-F]{2})*›$/);
  expect(shownToken(codec, 5000)).toBe('‹5000›');
  expect(codec.decode([5000, ...codec.encode('a')])).toBe('a');
});

test('special tokens and ends of turns are known by id', () => {
  const codec = codecOf('qwen');
  expect([...codec.special]).toEqual([0, 1, 2]);
  expect(codec.stops).toEqual([2, 0]);
  expect(codecFromTokenizerJson(bytesOf('qwen.json'), { stops: [0] }).stops).toEqual([0]);
  expect(codec.id('<tool_call>')).toBe(1024);
  expect(codec.id('no such token')).toBeNull();
});

test('added tokens have the ids that the tokenizers package gives them, whatever the file says', () => {
  const whole = json('qwen.json') as {
    added_tokens: Record<string, unknown>[];
    model: { vocab: Record<string, number> };
  };
  const added = (content: string, id: number) => ({ ...whole.added_tokens.at(-1), content, id });
  const tokens = [...whole.added_tokens, added('<late>', 5000), added('the', 1026), added('<early>', 7)];
  const codec = codecFromTokenizerJson(Buffer.from(JSON.stringify({ ...whole, added_tokens: tokens })));
  // the vocabulary has 1,024 tokens and two are added before these
  expect(['<late>', 'the', '<early>'].map((token) => codec.id(token))).toEqual([1026, whole.model.vocab['the'], 1027]);
  expect(codec.encode('<early>the')).toEqual([1027, whole.model.vocab['the']]);
  expect(codec.size).toBe(1028);
});

describe('a GGUF vocabulary', () => {
  const fixture = json('digits.json') as {
    model: { vocab: Record<string, number>; merges: [string, string][] };
  };
  const words = Object.entries(fixture.model.vocab).sort(([, a], [, b]) => a - b);
  const keys = {
    'tokenizer.ggml.model': text('gpt2'),
    'tokenizer.ggml.pre': text('smollm'),
    'tokenizer.ggml.tokens': texts(words.map(([word]) => word)),
    'tokenizer.ggml.token_type': i32s(words.map(([, id]) => (id < 3 ? 3 : 1))),
    'tokenizer.ggml.merges': texts(fixture.model.merges.map((pair) => pair.join(' '))),
    'tokenizer.ggml.eos_token_id': u32(2),
  };
  const codecWith = (other: Partial<Record<keyof typeof keys, ReturnType<typeof text>>>): Codec =>
    codecFromGguf(decodeGgufHeader('tiny.gguf', ggufFile({ ...keys, ...other })));

  test('gives the ids of the tokenizer.json that it was made from', () => {
    const codec = codecWith({});
    expect(strings.map((string) => codec.encode(string))).toEqual((json('digits.ids.json') as Expected).ids);
    expect(codec.stops).toEqual([2]);
  });

  test('unused tokens are never found in text, user-defined ones always', () => {
    const types = (type: number) => ({
      'tokenizer.ggml.tokens': texts([...words.map(([word]) => word), 'xyzzy']),
      'tokenizer.ggml.token_type': i32s([...words.map(([, id]) => (id < 3 ? 3 : 1)), type]),
    });
    expect(codecWith(types(5)).encode('axyzzyb')).not.toContain(words.length);
    expect(codecWith(types(4)).encode('axyzzyb')).toContain(words.length);
    expect(codecWith(types(4)).special.has(words.length)).toBe(false);
  });

  test.each([
    ['model', text('llama'), 'tokenizer.ggml.model', 'llama'],
    ['pre', text('deepseek-v3'), 'tokenizer.ggml.pre', 'deepseek-v3'],
    ['tokens', i32s([1]), 'tokenizer.ggml.tokens, 0', '1'],
    ['tokens', texts(['a', 'b']), 'tokenizer.ggml.token_type', `${words.length} types`],
    ['token_type', u32(1), 'tokenizer.ggml.token_type', '1'],
    ['token_type', i32s(words.map(() => 6)), 'tokenizer.ggml.token_type, 0', '6'],
    ['merges', texts(['a b c']), 'tokenizer.ggml.merges, 0', 'a b c'],
    ['merges', texts(['a Q9']), 'merges, 0', 'Q9'],
    ['eos_token_id', u32(70_000), 'tokenizer.ggml.eos_token_id', '70000'],
  ] as const)('with %s of another kind is refused with the key', (key, value, place, got) => {
    const problem = firstProblem(() => codecWith({ [`tokenizer.ggml.${key}`]: value }));
    expect(problem?.place).toBe(place);
    expect(problem?.got).toContain(got);
  });
});

type Tree = Record<string, unknown>;
const withModel = (model: Tree) => (whole: Tree) => ({ ...whole, model: { ...(whole['model'] as Tree), ...model } });
const withPre = (pre_tokenizer: unknown) => (whole: Tree) => ({ ...whole, pre_tokenizer });
const LAST = { type: 'ByteLevel', add_prefix_space: false, use_regex: false };
const splitBy = (Regex: string) =>
  withPre({ type: 'Sequence', pretokenizers: [{ type: 'Split', pattern: { Regex }, behavior: 'Isolated' }, LAST] });

// options that would give other ids if they were passed over; what is malformed is the property below
test.each<[string, (whole: Tree) => unknown, string, string]>([
  ['another model', withModel({ type: 'Unigram' }), 'model.type', 'Unigram'],
  ['no pre-tokenizer', withPre(null), 'pre_tokenizer', 'null'],
  [
    'a blank before text',
    withPre({ type: 'ByteLevel', add_prefix_space: true }),
    'pre_tokenizer.add_prefix_space',
    'true',
  ],
  [
    'a split that merges',
    withPre({
      type: 'Sequence',
      pretokenizers: [{ type: 'Split', pattern: { Regex: 'a' }, behavior: 'MergedWithNext' }, LAST],
    }),
    'pre_tokenizer.pretokenizers, 0.behavior',
    'MergedWithNext',
  ],
  ['a look behind', splitBy('(?<=a)b'), 'pre_tokenizer.pretokenizers, 0.pattern', '(?<='],
  ['another normalizer', (whole) => ({ ...whole, normalizer: { type: 'NFKC' } }), 'normalizer', 'NFKC'],
  ['another decoder', (whole) => ({ ...whole, decoder: { type: 'Metaspace' } }), 'decoder', 'Metaspace'],
  ['bytes as tokens of their own', withModel({ byte_fallback: true }), 'model.byte_fallback', 'true'],
  ['endings of words', withModel({ end_of_word_suffix: '</w>' }), 'model.end_of_word_suffix', '</w>'],
  ['chance', withModel({ dropout: 0.1 }), 'model.dropout', '0.1'],
  ['an id twice', withModel({ vocab: { a: 7, b: 7 } }), 'vocabulary', 'the id 7 for a and b'],
  ['an id beyond all', withModel({ vocab: { a: 2 ** 24 } }), 'model.vocab, a', '16777216'],
  ['a merge of strangers', withModel({ merges: [['a', 'Q9']] }), 'merges, 0', 'Q9'],
  [
    'a token that eats blanks',
    (whole) => ({ ...whole, added_tokens: [{ id: 2000, content: '<mask>', lstrip: true }] }),
    'added_tokens, 0.lstrip',
    '<mask>',
  ],
])('a tokenizer.json with %s is refused, and by name', (_, change, place, got) => {
  const whole = json('qwen.json') as Tree;
  const bytes = new TextEncoder().encode(JSON.stringify(change(whole)));
  const problem = firstProblem(() => codecFromTokenizerJson(bytes));
  expect(problem).toMatchObject({ file: 'tokenizer.json', place });
  expect(problem?.got).toContain(got);
});

test('options of BPE that change nothing are read: no chance, no prefix and no suffix', () => {
  const whole = json('qwen.json') as Tree;
  const encoded = (change: (tree: Tree) => unknown) =>
    codecFromTokenizerJson(new TextEncoder().encode(JSON.stringify(change(whole)))).encode('An agent reads');
  const none = withModel({ dropout: 0, continuing_subword_prefix: '', end_of_word_suffix: null });
  expect(encoded(none)).toEqual(encoded((tree) => tree));
});

test('of 400 tokenizer.json with a value or letter changed, each is read and encodes a text, or is refused with file, got, want and remedy', () => {
  let refused = 0;
  const whole = json('qwen.json') as Tree;
  const bytesOf = (tree: Tree) => new TextEncoder().encode(JSON.stringify(tree));
  const letters = fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, damage(bytesOf(whole), ['put']));
  const judge = fc.property(
    fc.constantFrom(...PLACES),
    fc.constantFrom(...SPOILS),
    letters,
    (place, value, changed) => {
      const broken = structuredClone(whole);
      spoil(broken, place, value);
      const bytes = changed ? damaged(bytesOf(broken), changed) : bytesOf(broken);
      const problem = firstProblem(() => codecFromTokenizerJson(bytes).encode('An agent reads <|im_end|> 12 words'));
      if (!problem) return;
      refused++;
      expect(problem.file).toBe('tokenizer.json');
      for (const part of [problem.got, problem.want, problem.remedy]) expect(part).not.toBe('');
    },
  );
  fc.assert(judge, { seed: 20261123, numRuns: 400 });
  expect(refused).toBeGreaterThan(300);
});

const SPOILS: readonly unknown[] = [null, 7, 'word', [], {}, true, -1, 1.5, [[]], { type: 'Whitespace' }];
const PLACES = [
  ...[
    ['model'],
    ['model', 'vocab'],
    ['model', 'merges'],
    ['model', 'type'],
    ['pre_tokenizer'],
    ['decoder'],
    ['normalizer'],
    ['added_tokens'],
  ],
  ...[
    ['model', 'merges', '3'],
    ['model', 'vocab', 'the'],
    ['model', 'vocab', 'a'],
    ['added_tokens', '1'],
    ['added_tokens', '1', 'id'],
  ],
  ...[
    ['added_tokens', '1', 'content'],
    ['added_tokens', '2', 'rstrip'],
    ['pre_tokenizer', 'pretokenizers'],
    ['pre_tokenizer', 'pretokenizers', '0'],
  ],
  ...[
    ['pre_tokenizer', 'pretokenizers', '1'],
    ['pre_tokenizer', 'pretokenizers', '0', 'pattern'],
    ['pre_tokenizer', 'pretokenizers', '0', 'pattern', 'Regex'],
  ],
];

/** Puts something else into one place of a tokenizer.json. */
function spoil(whole: Tree, place: readonly string[], value: unknown): void {
  let at: Tree = whole;
  for (const name of place.slice(0, -1)) at = at[name] as Tree;
  at[place.at(-1) ?? ''] = value;
}
