import { describe, expect, test } from 'vitest';
import { ProblemError } from '../../src/base/problem.ts';
import { bpeCodec, type BpeVocabulary } from '../../src/text/bpeCodec.ts';
import { codecFromGguf } from '../../src/text/ggufVocabulary.ts';
import { isolatingSplit, readSplits } from '../../src/text/preTokenizer.ts';
import { codecFromTokenizerJson, openTokenizerJson } from '../../src/text/tokenizerFile.ts';
import { readWordLevel } from '../../src/text/wordLevel.ts';
import { firstProblem } from '../formats/refusal.ts';

type Tree = Readonly<Record<string, unknown>>;
type Row = readonly [change: Tree, place: string, got: string, want: string];

/** Place, what was found and what was expected; `read` must end in one problem with this file and remedy. */
function fault(read: () => unknown, file: string, remedy: string): readonly unknown[] {
  const problem = firstProblem(read);
  expect(problem).toMatchObject({ file, remedy, line: null });
  return [problem?.place, problem?.got, problem?.want];
}

const BYTE_LEVEL = { type: 'ByteLevel', add_prefix_space: false };
const WHOLE = {
  model: { type: 'BPE', vocab: { a: 0, b: 1, ab: 2, '?': 3 }, merges: ['a b'] },
  decoder: { type: 'ByteLevel' },
  pre_tokenizer: BYTE_LEVEL,
};
const bytes = (tree: unknown) => new TextEncoder().encode(JSON.stringify(tree));
const opened = (change: Tree, sides = {}) => codecFromTokenizerJson(bytes({ ...WHOLE, ...change }), sides);
const model = (change: Tree) => ({ model: { ...WHOLE.model, ...change } });
const added = (...tokens: readonly unknown[]) => ({ added_tokens: tokens });
const steps = (...pretokenizers: readonly unknown[]) => ({ pre_tokenizer: { type: 'Sequence', pretokenizers } });
const nested = (depth: number, inner: unknown): unknown =>
  depth === 0 ? inner : { type: 'Sequence', pretokenizers: [nested(depth - 1, inner)] };
const normalizers = (depth: number, inner: unknown): unknown =>
  depth === 0 ? inner : { type: 'Sequence', normalizers: [normalizers(depth - 1, inner)] };
const ONLY_PARTS = 'ByteLevel, Digits, Split or a Sequence of them';
const ONLY_PATTERNS =
  'alternatives, groups, lookahead, classes, \\p{…}, \\s, \\d and counts, which all programs read alike';
const FOUND_EVERYWHERE = 'false, so that the token is found everywhere';
const split = (pattern: unknown, more: Tree = {}) =>
  steps({ type: 'Split', behavior: 'Isolated', pattern, ...more }, BYTE_LEVEL);
const FIRST = 'pre_tokenizer.pretokenizers, 0';

const FILE_ROWS: readonly Row[] = [
  [{ model: 7 }, 'model', '7', 'an object'],
  [{ model: undefined }, 'model', 'nothing', 'an object'],
  [model({ type: undefined }), 'model.type', 'nothing', 'BPE or WordLevel'],
  [model({ type: 'Unigram' }), 'model.type', 'Unigram', 'BPE or WordLevel'],
  [{ decoder: null }, 'decoder', 'null', 'ByteLevel'],
  [{ decoder: 'ByteFallback' }, 'decoder', 'ByteFallback', 'ByteLevel'],
  [{ decoder: { type: 'Sequence' } }, 'decoder', 'Sequence', 'ByteLevel'],
  [{ normalizer: 'NFC' }, 'normalizer', 'NFC', 'NFC, a short Sequence of it, or null'],
  [{ normalizer: [] }, 'normalizer', 'a list', 'NFC, a short Sequence of it, or null'],
  [{ normalizer: { type: 'NFD' } }, 'normalizer', 'NFD', 'NFC, a short Sequence of it, or null'],
  [{ normalizer: { type: 'Sequence' } }, 'normalizer', 'Sequence', 'NFC, a short Sequence of it, or null'],
  [
    { normalizer: { type: 'Sequence', normalizers: [{ type: 'NFC' }, { type: 'Strip' }] } },
    'normalizer.normalizers, 1',
    'Strip',
    'NFC, a short Sequence of it, or null',
  ],
  [
    { normalizer: { type: 'Sequence', normalizers: Array.from({ length: 17 }, () => ({ type: 'NFC' })) } },
    'normalizer',
    'Sequence',
    'NFC, a short Sequence of it, or null',
  ],
  [
    { normalizer: normalizers(5, { type: 'NFC' }) },
    'normalizer.normalizers, 0.normalizers, 0.normalizers, 0.normalizers, 0',
    'Sequence',
    'NFC, a short Sequence of it, or null',
  ],
  [model({ dropout: 0.1 }), 'model.dropout', '0.1', 'null'],
  [model({ continuing_subword_prefix: '##' }), 'model.continuing_subword_prefix', '##', 'null'],
  [model({ end_of_word_suffix: '</w>' }), 'model.end_of_word_suffix', '</w>', 'null'],
  [model({ byte_fallback: true }), 'model.byte_fallback', 'true', 'false: every byte has a token'],
  [model({ byte_fallback: 0 }), 'model.byte_fallback', '0', 'false: every byte has a token'],
  [model({ ignore_merges: 1 }), 'model.ignore_merges', '1', 'true or false'],
  [model({ unk_token: 'gone' }), 'model.unk_token', 'gone', 'a token of the vocabulary, or null'],
  [model({ unk_token: 3 }), 'model.unk_token', '3', 'a token of the vocabulary, or null'],
  [model({ unk_token: '?', fuse_unk: true }), 'model.fuse_unk', 'true', 'false'],
  [model({ vocab: ['a'] }), 'model.vocab', 'a list', 'ids by token'],
  [model({ vocab: null }), 'model.vocab', 'null', 'ids by token'],
  [model({ vocab: 'abc' }), 'model.vocab', 'abc', 'ids by token'],
  [model({ vocab: { a: 0, b: -1 } }), 'model.vocab, b', '-1', 'an id, from 0'],
  [model({ vocab: { a: 2 ** 24 } }), 'model.vocab, a', '16777216', 'an id, from 0'],
  [model({ merges: {} }), 'model.merges', 'an object', 'a list of pairs'],
  [model({ merges: ['a b', 'ab'] }), 'model.merges, 1', 'ab', 'two tokens'],
  [model({ merges: [['a', 'b', 'a']] }), 'model.merges, 0', 'a list', 'two tokens'],
  [model({ merges: [7] }), 'model.merges, 0', '7', 'two tokens'],
  [model({ merges: [['a', 7]] }), 'model.merges, 0', 'something other than texts', 'two tokens'],
  [model({ merges: [[7, 'a']] }), 'model.merges, 0', 'something other than texts', 'two tokens'],
  [model({ merges: ['a gone'] }), 'merges, 0', 'gone, which is not a token', 'tokens of the vocabulary'],
  [model({ merges: ['a b', 'b a'] }), 'merges, 1', 'ba, which is not a token', 'tokens of the vocabulary'],
  [{ added_tokens: {} }, 'added_tokens', 'an object', 'a list'],
  [added('a'), 'added_tokens, 0', 'a', 'an id and a text'],
  [added({ id: 9, content: 'x' }, { content: 'y' }), 'added_tokens, 1', 'an object', 'an id and a text'],
  [added({ id: 9.5, content: 'x' }), 'added_tokens, 0', 'an object', 'an id and a text'],
  [added({ id: 9, content: '' }), 'added_tokens, 0', "''", 'a text'],
  [added({ id: 9, content: 7 }), 'added_tokens, 0', '7', 'a text'],
  [added({ id: 9, content: 'x' }, { id: 8, content: 'x' }), 'added_tokens, 1', 'x twice', 'every token once'],
  [added({ id: 9, content: 'x', special: 1 }), 'added_tokens, 0.special', '1', 'true or false'],
  [added({ id: 9, content: 'x', normalized: 'no' }), 'added_tokens, 0.normalized', 'no', 'true or false'],
  ...['single_word', 'lstrip', 'rstrip'].flatMap((name): readonly Row[] => [
    [added({ id: 9, content: 'x', [name]: true }), `added_tokens, 0.${name}`, 'true, for x', FOUND_EVERYWHERE],
    [added({ id: 9, content: 'x', [name]: 0 }), `added_tokens, 0.${name}`, '0', 'true or false'],
  ]),
  [{ pre_tokenizer: null }, 'pre_tokenizer', 'null', 'an object with a type'],
  [{ pre_tokenizer: { type: 7 } }, 'pre_tokenizer', 'an object', 'an object with a type'],
  [{ pre_tokenizer: { type: 'Digits' } }, 'pre_tokenizer', 'Digits', 'ByteLevel as its last part'],
  [steps({ type: 'Digits' }, { type: 'Split' }), 'pre_tokenizer', 'Digits, Split', 'ByteLevel as its last part'],
  [steps(), 'pre_tokenizer', 'an object', 'ByteLevel as its last part'],
  [steps(BYTE_LEVEL, { type: 'Digits' }), 'pre_tokenizer.pretokenizers, 1', 'Digits after ByteLevel', 'ByteLevel last'],
  [steps({ type: 'Metaspace' }, BYTE_LEVEL), FIRST, 'Metaspace', ONLY_PARTS],
  [steps('Digits', BYTE_LEVEL), FIRST, 'Digits', 'an object with a type'],
  [{ pre_tokenizer: { type: 'Sequence' } }, 'pre_tokenizer.pretokenizers', 'nothing', 'a list of pre-tokenizers'],
  [
    { pre_tokenizer: nested(5, BYTE_LEVEL) },
    `pre_tokenizer${'.pretokenizers, 0'.repeat(4)}.pretokenizers`,
    'a list',
    'a list of pre-tokenizers',
  ],
  [steps(...Array.from({ length: 17 }, () => BYTE_LEVEL)), 'pre_tokenizer', '17 parts', 'at most 16'],
  [
    steps(nested(1, { type: 'Digits' }), ...Array.from({ length: 15 }, () => BYTE_LEVEL), BYTE_LEVEL),
    'pre_tokenizer',
    '17 parts',
    'at most 16',
  ],
  [
    steps({ type: 'Sequence', pretokenizers: Array.from({ length: 16 }, () => ({ type: 'Digits' })) }, BYTE_LEVEL),
    'pre_tokenizer',
    '17 parts',
    'at most 16',
  ],
  [{ pre_tokenizer: { type: 'ByteLevel' } }, 'pre_tokenizer.add_prefix_space', 'true', 'false: text as it is'],
  [{ pre_tokenizer: { ...BYTE_LEVEL, use_regex: 'no' } }, 'pre_tokenizer.use_regex', 'no', 'true or false'],
  [steps({ type: 'Digits', individual_digits: 1 }, BYTE_LEVEL), `${FIRST}.individual_digits`, '1', 'true or false'],
  [split({ String: 'a' }, { behavior: 'Removed' }), `${FIRST}.behavior`, 'Removed', 'Isolated'],
  [split({ String: 'a' }, { behavior: undefined }), `${FIRST}.behavior`, 'nothing', 'Isolated'],
  [split({ String: 'a' }, { invert: true }), `${FIRST}.invert`, 'true', 'false'],
  [split({ String: 'a' }, { invert: 'yes' }), `${FIRST}.invert`, 'yes', 'true or false'],
  [split('a'), `${FIRST}.pattern`, 'a', '{"Regex": …} or {"String": …}'],
  [split({ Regex: '' }), `${FIRST}.pattern`, 'an object', '{"Regex": …} or {"String": …}'],
  [split({ String: 7 }), `${FIRST}.pattern`, 'an object', '{"Regex": …} or {"String": …}'],
  [split({ Regex: 'b(?<=a)' }), `${FIRST}.pattern`, '(?<= at 1, in b(?<=a)', ONLY_PATTERNS],
  [split({ Regex: '(a?)*' }), `${FIRST}.pattern`, 'a count of something that may be empty, in (a?)*', ONLY_PATTERNS],
  [split({ Regex: 'a{5000}' }), `${FIRST}.pattern`, 'a count of over 4096', 'a pattern no larger than in published tokenizers'], // prettier-ignore
  [split({ Regex: 'a'.repeat(4097) }), `${FIRST}.pattern`, 'a pattern of 4097 characters', 'a pattern no larger than in published tokenizers'], // prettier-ignore
];

/** The parts that the codec itself refuses have its remedy. */
const FILE_REMEDY =
  'Choose a checkpoint with a byte-level BPE tokenizer (Llama 3, SmolLM, Qwen) or one of this project.';
const CODEC_REMEDY = 'Choose a checkpoint with a byte-level BPE tokenizer, whole, as it was published.';
const WORD_REMEDY = 'Choose a checkpoint with a word-level tokenizer over the words of the environment.';

test.each(FILE_ROWS)('a tokenizer.json with %j is refused at %s: %s, and it says what is wanted', (change, ...said) => {
  const remedy = said[0].startsWith('merges') ? CODEC_REMEDY : FILE_REMEDY;
  expect(fault(() => opened(change), 'tokenizer.json', remedy)).toEqual(said);
});

test('a file that is no object is refused by its own name, and only a pad token that is a text is one', () => {
  expect(fault(() => openTokenizerJson(bytes([1]), 'a.json'), 'a.json', FILE_REMEDY)).toEqual([
    ...['', 'a list', 'an object'],
  ]);
  const pads = [{ pad_token: 'p' }, { pad_token: '' }, { pad_token: 7 }, {}, null, undefined];
  expect(pads.map((padding) => openTokenizerJson(bytes({ ...WHOLE, padding })).padToken)).toEqual([
    ...['p', null, null, null, null, null],
  ]);
});

test('what is the longest, deepest and most that is allowed is read', () => {
  const longest = [
    { normalizer: normalizers(4, { type: 'NFC' }) },
    { normalizer: { type: 'Sequence', normalizers: Array.from({ length: 16 }, () => null) } },
    { pre_tokenizer: nested(4, BYTE_LEVEL) },
    steps(...Array.from({ length: 15 }, () => ({ type: 'Digits' })), BYTE_LEVEL),
    split({ Regex: 'a'.repeat(4096) }),
    model({ dropout: null, continuing_subword_prefix: '', end_of_word_suffix: 0, byte_fallback: null }),
    model({ unk_token: null, fuse_unk: true, ignore_merges: null }),
    model({ vocab: { a: 0, b: 1, ab: 2 ** 24 - 1 } }),
  ];
  for (const change of longest) expect(opened(change).encode('ab')).toHaveLength(1);
});

describe('what a tokenizer.json says of a text', () => {
  const vocab = { a: 0, b: 1, Ġ: 2, Ġa: 3, aĠ: 4, aĠa: 5, 1: 6, 11: 7, '.': 8, 'a.': 9, ab: 10, '?': 11 };
  const merges = ['Ġ a', 'a Ġ', 'a Ġa', '1 1', 'a .', 'a b'];
  const ids = ({ model: options, ...rest }: Tree, text: string, sides = {}) =>
    opened({ ...rest, model: { type: 'BPE', vocab, merges, ...(options as Tree | undefined) } }, sides).encode(text);

  test('by default it is cut by the pattern of GPT-2, and into runs of digits', () => {
    expect(ids({}, 'a a.11')).toEqual([0, 3, 8, 7]);
    expect(ids({ pre_tokenizer: { ...BYTE_LEVEL, use_regex: false } }, 'a a.11')).toEqual([5, 8, 7]);
    const uncut = { ...BYTE_LEVEL, use_regex: false };
    expect(ids(steps({ type: 'Digits' }, uncut), 'a11')).toEqual([0, 7]);
    expect(ids(steps({ type: 'Digits', individual_digits: true }, uncut), 'a11')).toEqual([0, 6, 6]);
  });

  test.each([
    ['.', 'a.a', [0, 8, 0]],
    ['a', 'a.a', [0, 8, 0]],
    ['b', 'a.a', [9, 0]],
    ['a.', 'a.aa', [9, 0, 0]],
    ['*', 'a.', [9]],
  ])('a split by the letters %j takes them as letters', (String, text, wanted) => {
    const uncut = { ...BYTE_LEVEL, use_regex: false };
    expect(ids(steps({ type: 'Split', behavior: 'Isolated', pattern: { String } }, uncut), text)).toEqual(wanted);
  });

  test('letters that mean something in a pattern cut where they stand, and nowhere else', () => {
    const refuse = () => new Error('refused');
    for (const letter of String.raw`\^$.*+?()[]{}|/`) {
      const pattern = { String: `${letter}-` };
      const [cut] = readSplits(nestedSplit({ type: 'Split', behavior: 'Isolated', invert: false, pattern }), refuse);
      expect(cut?.(`a${letter}-b${letter}--`)).toEqual(['a', `${letter}-`, 'b', `${letter}-`, '-']);
    }
  });
  const nestedSplit = (part: unknown) => ({
    type: 'Sequence',
    pretokenizers: [part, { ...BYTE_LEVEL, use_regex: false }],
  });

  test('a byte without a token is unknown, or left out', () => {
    expect([ids({}, 'aé'), ids({ model: { unk_token: '?' } }, 'aé')]).toEqual([[0], [0, 11, 11]]);
  });

  test('a token of side files has the next id, unless the model has no row for it; the later of two counts', () => {
    const side = (content: string, special = false) => ({ content, special, normalized: false });
    const sides = { added: [side('<x>'), side('<y>', true), side('<x>', true)] };
    const all = opened({}, sides);
    expect([all.id('<x>'), all.id('<y>'), [...all.special], all.size]).toEqual([4, 5, [4, 5], 6]);
    const fewer = opened(added({ id: 9, content: '<z>', special: true }), { ...sides, rows: 5 });
    expect([fewer.id('<z>'), fewer.id('<x>'), fewer.size]).toEqual([4, null, 5]);
    expect(opened({}, { ...sides, rows: 5 }).id('<x>')).toBe(4);
  });

  test('a special token that is written out is letters where special tokens are split, and another is still found', () => {
    const tokens = added({ id: 9, content: 'ab', special: true }, { id: 9, content: '.', special: false });
    expect(ids(tokens, 'ab.')).toEqual([10, 8]);
    expect(ids(tokens, 'ab.', { splitsSpecial: true })).toEqual([0, 1, 8]); // no merge makes it
  });

  test('a token that is not special is found after normalization unless the file says otherwise', () => {
    const nfc = { normalizer: { type: 'NFC' } };
    const token = (more: Tree) => added({ id: 12, content: 'e\u0301', ...more });
    expect(ids({ ...nfc, ...token({}) }, '\u00e9')).toEqual([12]);
    expect(ids({ ...nfc, ...token({ special: true }) }, '\u00e9')).toEqual([]);
    expect(ids({ ...nfc, ...token({ normalized: false }) }, '\u00e9')).toEqual([]);
    expect(ids({ ...nfc, ...token({ normalized: false }) }, 'e\u0301')).toEqual([12]);
    expect(ids(token({}), '\u00e9')).toEqual([]);
  });
});

const WORDS = {
  model: { type: 'WordLevel', vocab: { a: 1, '<pad>': 0 }, unk_token: '<pad>' },
  pre_tokenizer: { type: 'WhitespaceSplit' },
};
test.each<Row>([
  [{ model: null }, 'model.type', 'nothing', 'WordLevel, one word per token'],
  [{ model: { type: 'BPE' } }, 'model.type', 'BPE', 'WordLevel, one word per token'],
  [{ pre_tokenizer: { type: 'Split' } }, 'pre_tokenizer', 'Split', 'WhitespaceSplit, words separated by spaces'],
  [{ normalizer: 7 }, 'normalizer', '7', 'null: words as they are'],
  [{ model: { type: 'WordLevel' } }, 'model.vocab', 'nothing', 'ids by word'],
  [{ model: { type: 'WordLevel', vocab: { a: 0, b: 2 } } }, 'model.vocab, b', '2', 'each of 0 … 1 once'],
  [{ added_tokens: 'a' }, 'added_tokens', 'a', 'a list'],
  [{ added_tokens: [{ content: 'z' }] }, 'added_tokens, 0', 'z', 'a word of the vocabulary'],
])('a tokenizer of words with %j is refused at %s: %s, and it says what is wanted', (change, ...said) => {
  expect(fault(() => readWordLevel({ ...WORDS, ...change }, 'w.json'), 'w.json', WORD_REMEDY)).toEqual(said);
});

const TINY: BpeVocabulary = {
  ...{ file: 'v', merges: [], added: [], nfc: false, splits: [], ignoreMerges: false, unknownId: null, stops: [] },
  tokens: new Map([['a', 0], ['b', 1]]), // prettier-ignore
};
const addedText = (length: number, id: number) => ({ id, content: 'x'.repeat(length), special: false, normalized: false }); // prettier-ignore
const manyAdded = (length: number) => Array.from({ length: 512 }, (_, i) => ({ ...addedText(1024, i + 2), content: String(i).padEnd(i === 0 ? length : 1024, 'x') })); // prettier-ignore
test.each<readonly [string, Partial<BpeVocabulary>, readonly string[]]>([
  ['an added token with the id of another', { added: [addedText(2, 1)] }, ['added tokens', 'the id 1 for b and xx', 'one token per id']], // prettier-ignore
  ['a token as long as no other', { added: [addedText(1025, 2)] }, ['vocabulary', 'a token of 1025 characters', 'at most 1024']], // prettier-ignore
  ['a long token', { tokens: new Map([['y'.repeat(1026), 0]]) }, ['vocabulary', 'a token of 1026 characters', 'at most 1024']], // prettier-ignore
  ['added tokens longer than a book', { added: [...manyAdded(1024), addedText(1, 600)] }, ['added tokens', '524289 characters', 'at most 524288']], // prettier-ignore
  ['too many merges', { merges: new Array<readonly [string, string]>(2 ** 20 + 1) }, ['merges', '1048577 merges', 'at most 1048576']], // prettier-ignore
])('a vocabulary with %s is refused', (_, change, said) => {
  expect(fault(() => bpeCodec({ ...TINY, ...change }), 'v', CODEC_REMEDY)).toEqual(said);
});

test('a vocabulary may have an added token that it has already, and as much of everything as is allowed', () => {
  expect(bpeCodec({ ...TINY, added: [addedText(1024, 2), { ...addedText(1, 1), content: 'b' }] }).size).toBe(3);
  expect(bpeCodec({ ...TINY, added: manyAdded(1024) }).size).toBe(514);
  expect(bpeCodec({ ...TINY, merges: new Array<readonly [string, string]>(2 ** 20) }).encode('ab')).toEqual([0, 1]);
  expect(() => isolatingSplit('a'.repeat(4097))).toThrow(RangeError);
});

const GGUF_REMEDY = 'Choose a checkpoint with a byte-level BPE vocabulary (SmolLM, Qwen, Llama 3).';
const GGUF = { model: 'gpt2', pre: 'gpt-2', tokens: ['a', 'b', 'ab'], token_type: [1, 1, 1], merges: ['a b'] };
const ggufWith = (change: Tree) => {
  const entries = Object.entries<unknown>({ ...GGUF, ...change }).filter(([, value]) => value !== undefined);
  const metadata = new Map(entries.map(([name, value]) => [`tokenizer.ggml.${name}`, value]));
  return codecFromGguf({ file: 'g.gguf', metadata } as unknown as Parameters<typeof codecFromGguf>[0]);
};
test.each<Row>([
  [{ model: undefined }, 'model', 'nothing', 'gpt2, which is BPE over bytes'],
  [{ model: '' }, 'model', "''", 'gpt2, which is BPE over bytes'],
  [{ pre: undefined }, 'pre', 'nothing', 'one of gpt-2, smollm, qwen2, llama-bpe'],
  [{ pre: 'toString' }, 'pre', 'toString', 'one of gpt-2, smollm, qwen2, llama-bpe'],
  [{ tokens: undefined }, 'tokens', 'nothing', 'a list of texts'],
  [{ tokens: ['a', 7, 'b'] }, 'tokens, 1', '7', 'texts'],
  [{ tokens: ['a', 'b', ['c']] }, 'tokens, 2', 'a list', 'texts'],
  [{ token_type: 'x' }, 'token_type', 'x', 'a list of numbers from 1 to 5'],
  [{ token_type: [1, 0, 1] }, 'token_type, 1', '0', 'numbers from 1 to 5'],
  [{ token_type: [1, 6, 1] }, 'token_type, 1', '6', 'numbers from 1 to 5'],
  [{ token_type: [1, 1.5, 1] }, 'token_type, 1', '1.5', 'numbers from 1 to 5'],
  [{ token_type: [1, 1] }, 'token_type', '2 types', '3, one per token'],
  [{ tokens: ['a', 'b', 'a'] }, 'tokens, 2', 'a, which is also token 0', 'every token once'],
  [{ merges: [7] }, 'merges, 0', '7', 'texts'],
  [{ merges: ['a b', 'ab'] }, 'merges, 1', 'ab', 'two tokens separated by a space'],
  [{ merges: [' b'] }, 'merges, 0', ' b', 'two tokens separated by a space'],
  [{ merges: ['a b '] }, 'merges, 0', 'a b ', 'two tokens separated by a space'],
  [{ eos_token_id: 3 }, 'eos_token_id', '3', '0 … 2'],
  [{ eos_token_id: 0.5 }, 'eos_token_id', '0.5', '0 … 2'],
  [{ eot_token_id: 'ab' }, 'eot_token_id', 'ab', '0 … 2'],
])('a GGUF vocabulary with %j is refused at %s: %s, and it says what is wanted', (change, place, got, want) => {
  expect(fault(() => ggufWith(change), 'g.gguf', GGUF_REMEDY)).toEqual([`tokenizer.ggml.${place}`, got, want]);
});

test('a GGUF vocabulary has its types of tokens, its ends of turns and its way of cutting', () => {
  const tokens = ['a', 'b', 'ab', '<c>', '<u>', '<d>', '<n>', '', '1', '11'];
  const token_type = [1, 1, 1, 3, 2, 4, 5, 3, 1, 1];
  const merges = ['a b', '1 1'];
  const codec = ggufWith({ tokens, token_type, merges, eos_token_id: 3, eot_token_id: 0 });
  expect(codec.encode('ab<c><u><d><n>11')).toEqual([2, 3, 4, 5, 9]);
  expect([[...codec.special], codec.stops, codec.size]).toEqual([[3, 4], [3, 0], 10]);
  const cut = ['gpt-2', 'smollm', 'qwen2', 'llama-bpe'].map((pre) => ggufWith({ tokens, token_type, merges, pre }).encode('11')); // prettier-ignore
  expect(cut).toEqual([[9], [8, 8], [8, 8], [9]]);
  const whole = ['qwen2', 'llama-bpe'].map((pre) =>
    ggufWith({ tokens, token_type, merges: ['1 1'], pre }).encode('ab'),
  );
  expect(whole).toEqual([[0, 1], [2]]); // a piece that is a token
  const accent = { tokens: ['Ã', '©', 'Ã©'], token_type: [1, 1, 1], merges: ['Ã ©'] };
  expect(['qwen2', 'gpt-2'].map((pre) => ggufWith({ ...accent, pre }).encode('e\u0301'))).toEqual([[2], []]);
});

test('every refusal is a ProblemError', () => {
  expect(() => opened({ model: 7 })).toThrow(ProblemError);
});

test('a file of words is a codec of words, with the stop ids that are named', () => {
  const codec = codecFromTokenizerJson(bytes(WORDS), { stops: [1] });
  expect([codec.kind, codec.stops, codec.encode('a  b')]).toEqual(['words', [1], [1, 0]]);
});
