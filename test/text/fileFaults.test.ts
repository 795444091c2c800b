import { describe, expect, test } from 'vitest';
import { ProblemError } from '../../src/base/problem.ts';
import { bpeCodec, type BpeVocabulary } from '../../src/text/bpeCodec.ts';
import { codecFromGguf } from '../../src/text/ggufVocabulary.ts';
import { readSplits } from '../../src/text/preTokenizer.ts';
import { codecFromTokenizerJson, openTokenizerJson } from '../../src/text/tokenizerFile.ts';
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

/** The parts that the codec itself refuses have its remedy. */
const FILE_REMEDY =
  'Choose a checkpoint with a byte-level BPE tokenizer (Llama 3, SmolLM, Qwen) or one of this project.';
const CODEC_REMEDY = 'Choose a checkpoint with a byte-level BPE tokenizer, whole, as it was published.';

test('a file that is no object is refused by its own name, and only a pad token that is a text is one', () => {
  expect(fault(() => openTokenizerJson(bytes([1]), 'a.json'), 'a.json', FILE_REMEDY)).toEqual([
    ...['', 'a list', 'an object'],
  ]);
  const pads = [{ pad_token: 'p' }, { pad_token: '' }, { pad_token: 7 }, {}, null, undefined];
  expect(pads.map((padding) => openTokenizerJson(bytes({ ...WHOLE, padding })).padToken)).toEqual([
    ...['p', null, null, null, null, null],
  ]);
});

test('parts may be nested, and options that change nothing are read', () => {
  const changes = [
    { normalizer: normalizers(5, { type: 'NFC' }) },
    { pre_tokenizer: nested(5, BYTE_LEVEL) },
    model({ dropout: null, continuing_subword_prefix: '', end_of_word_suffix: 0, byte_fallback: null }),
    model({ unk_token: null, fuse_unk: true, ignore_merges: null }),
    model({ vocab: { a: 0, b: 1, ab: 2 ** 24 - 1 } }),
  ];
  for (const change of changes) expect(opened(change).encode('ab')).toHaveLength(1);
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
const TINY: BpeVocabulary = {
  ...{ file: 'v', merges: [], added: [], nfc: false, splits: [], ignoreMerges: false, unknownId: null, stops: [] },
  tokens: new Map([['a', 0], ['b', 1]]), // prettier-ignore
};
const addedText = (length: number, id: number) => ({ id, content: 'x'.repeat(length), special: false, normalized: false }); // prettier-ignore
test.each<readonly [string, Partial<BpeVocabulary>, readonly string[]]>([
  ['an added token with the id of another', { added: [addedText(2, 1)] }, ['added tokens', 'the id 1 for b and xx', 'one token per id']], // prettier-ignore
  ['too many merges', { merges: new Array<readonly [string, string]>(2 ** 20 + 1) }, ['merges', '1048577 merges', 'at most 1048576']], // prettier-ignore
])('a vocabulary with %s is refused', (_, change, said) => {
  expect(fault(() => bpeCodec({ ...TINY, ...change }), 'v', CODEC_REMEDY)).toEqual(said);
});

test('a vocabulary may have an added token that it has already, and as much of everything as is allowed', () => {
  expect(bpeCodec({ ...TINY, added: [addedText(1024, 2), { ...addedText(1, 1), content: 'b' }] }).size).toBe(3);
  expect(bpeCodec({ ...TINY, merges: new Array<readonly [string, string]>(2 ** 20) }).encode('ab')).toEqual([0, 1]);
});

const GGUF_REMEDY = 'Choose a checkpoint with a byte-level BPE vocabulary (SmolLM, Qwen, Llama 3).';
const GGUF = { model: 'gpt2', pre: 'gpt-2', tokens: ['a', 'b', 'ab'], token_type: [1, 1, 1], merges: ['a b'] };
const ggufWith = (change: Tree) => {
  const entries = Object.entries<unknown>({ ...GGUF, ...change }).filter(([, value]) => value !== undefined);
  const metadata = new Map(entries.map(([name, value]) => [`tokenizer.ggml.${name}`, value]));
  return codecFromGguf({ file: 'g.gguf', metadata } as unknown as Parameters<typeof codecFromGguf>[0]);
};
test.each<Row>([
  [{ pre: 'toString' }, 'pre', 'toString', 'one of gpt-2, smollm, qwen2, llama-bpe'],
  [{ token_type: [1, 1] }, 'token_type', '2 types', '3, one per token'],
  [{ tokens: ['a', 'b', 'a'] }, 'tokens, 2', 'a, which is also token 0', 'every token once'],
  [{ merges: ['a b', 'ab'] }, 'merges, 1', 'ab', 'two tokens separated by a space'],
  [{ eos_token_id: 3 }, 'eos_token_id', '3', '0 … 2'],
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
