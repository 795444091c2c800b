import { expect, test } from 'vitest';
import { translatePattern } from '../../src/text/tokenizerPattern.ts';
import { withoutStop } from '../../src/text/turnFormat.ts';
import { wordCodec } from '../../src/text/wordCodec.ts';
import { readWordLevel } from '../../src/text/wordLevel.ts';
import { refusedAt } from '../formats/refusal.ts';

test.each([
  [String.raw`\s+|\S`, String.raw`\p{White_Space}+|\P{White_Space}`],
  [String.raw`\d{1,3}`, String.raw`\p{Nd}{1,3}`],
  [String.raw`\p{Han}\P{Katakana}\p{Lu}`, String.raw`\p{Script=Han}\P{Script=Katakana}\p{Lu}`],
  [String.raw`\'\"\-\n\.\|`, String.raw`'"\x2d\n\.\|`],
  ['(?i:a1s|k)b', '(?:[aA]1[sS\u017f]|[kK\u212a])b'],
  ['(?i:a(b)|(?:c))d', '(?:[aA](?:[bB])|(?:[cC]))d'],
  ['(a)(?=b)(?!c)', '(?:a)(?=b)(?!c)'],
  ['[^a-z/]?', String.raw`[^a-z\/]?`],
  ['[(){}|^$.*+?]', String.raw`[\(\)\{\}\|\^\$\.\*\+\?]`],
  [String.raw`[\s\p{L}\]]*`, String.raw`[\p{White_Space}\p{L}\]]*`],
  ['a?b*c+d{2}e{2,}f{2,3}', 'a?b*c+d{2}e{2,}f{2,3}'],
  ['', '(?:)'],
])('the pattern %j is %j in JavaScript', (pattern, source) => {
  expect(translatePattern(pattern).source).toBe(source);
  expect(translatePattern(pattern).flags).toBe('gu');
});

test.each([
  ...[
    '(?<=a)',
    '(?<!a)',
    '(?<n>a)',
    '(?>a)',
    '(?m)a',
    '(?-i:a)',
    'a??',
    'a*?',
    'a++',
    'a{2}{3}',
    'a{,3}',
    '*a',
    '|?',
    '(?:*a)',
  ],
  ...[
    ')',
    'a)',
    '(a',
    '(?:a(b)',
    '.',
    '^a',
    'a$',
    ']',
    '}',
    'a{',
    '[a',
    '[',
    '[]',
    '[]a]',
    '[a[b]]',
    '[a&&b]',
    '[[:alpha:]]',
  ],
  ...[
    String.raw`\w`,
    String.raw`\b`,
    String.raw`\D`,
    String.raw`\p{Greek}`,
    String.raw`\p{Lx}`,
    String.raw`\x41`,
    '\\',
    String.raw`[\w]`,
  ],
  ...['(?i:[ab])', '(?i:é)', String.raw`\1`],
])('the pattern %j, which may mean something else elsewhere, is refused', (pattern) => {
  expect(() => translatePattern(pattern)).toThrow(SyntaxError);
  expect(() => translatePattern(pattern)).toThrow(/\S/);
});

const WORDS = {
  model: { type: 'WordLevel', vocab: { a: 1, '<pad>': 0, b: 2 }, unk_token: '<pad>' },
  pre_tokenizer: { type: 'WhitespaceSplit' },
  added_tokens: [{ content: '<pad>' }],
};

test('a tokenizer of words is read by its ids', () => {
  expect(readWordLevel(WORDS, 't')).toEqual({ words: ['<pad>', 'a', 'b'], unknown: 0, special: ['<pad>'] });
  const bare = { ...WORDS, model: { ...WORDS.model, unk_token: '?' }, added_tokens: null, normalizer: null };
  expect(readWordLevel(bare, 't')).toEqual({ words: ['<pad>', 'a', 'b'], unknown: null, special: [] });
});

test.each<readonly [Readonly<Record<string, unknown>>, string]>([
  [{ model: { ...WORDS.model, type: 'BPE' } }, 'model.type: BPE'],
  [{ pre_tokenizer: { type: 'Whitespace' } }, 'pre_tokenizer: Whitespace'],
  [{ normalizer: { type: 'NFC' } }, 'normalizer: an object'],
  [{ model: { type: 'WordLevel', vocab: { a: 1, b: 2 } }, added_tokens: [] }, 'model.vocab, b: 2'],
  [{ added_tokens: [{ content: 'a' }, { content: 'x' }] }, 'added_tokens, 1: x'],
])('a tokenizer of words with %j is refused', async (changes, found) => {
  expect(await refusedAt(() => readWordLevel({ ...WORDS, ...changes }, 'tokenizer.json'))).toBe(found);
});

test('words have ids and come back joined by blanks; what is unknown has its own id, or none', () => {
  const words = ['<pad>', 'low', '<bos>', '</call>', '</answer>', '?'];
  const some = wordCodec({ words, unknown: 5, special: ['<pad>', '<bos>', 'gone'] });
  expect(some.encode('low up  </call>')).toEqual([1, 5, 3]);
  expect(wordCodec({ words, unknown: null, special: [] }).encode('low up low')).toEqual([1, 1]);
  expect(wordCodec({ words: ['low', '</call>'], unknown: null, special: [] }).stops).toEqual([1]); // it has no </answer>
  expect(some.decode([1, -1, 6, 99, 3])).toBe('low </call>');
  expect(some.pieces([99, 1, 3])).toEqual(['', 'low', ' </call>']);
  expect([some.size, some.kind, [...some.special], some.stops]).toEqual([6, 'words', [0, 2], [3, 4]]);
  expect(wordCodec({ words, unknown: null, special: [] }, [2, 2, 1]).stops).toEqual([2, 1]);
  expect([new TextDecoder().decode(some.bytes(1)), some.bytes(99).length, some.id('low'), some.id('up')]).toEqual(['low', 0, 1, null]); // prettier-ignore
});

test('a stop id at the end of a turn is no part of its text', () => {
  expect([withoutStop([5, 2], [2]), withoutStop([2, 5], [2]), withoutStop([2, 2], [2]), withoutStop([], [2])]).toEqual([[5], [2, 5], [2], []]); // prettier-ignore
});
