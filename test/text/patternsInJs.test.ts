import { expect, test } from 'vitest';
import { Purpose, random } from '../../src/base/rng.ts';
import { isolatingSplit } from '../../src/text/preTokenizer.ts';
import { translatePattern } from '../../src/text/tokenizerPattern.ts';

const { int } = random(31, Purpose.shuffle);
const pick = <T>(list: readonly T[]): T => list[int(list.length)] as T;

/** The parts of patterns, each with what it is in JavaScript, apart from case. */
const ATOMS: readonly (readonly [oniguruma: string, javascript: string])[] = [
  ...['a', 's', 'K', 'é', '-', ' ', '🜚', '/', '"', "'"].map((letter) => [letter, letter === '/' ? '\\/' : letter] as const), // prettier-ignore
  ...['n', 'r', 't', 'f', 'v', '\\', '/', '.', '^', '$', '*', '+', '?', '(', ')', '[', ']', '{', '}', '|'].map((escaped) => [`\\${escaped}`, `\\${escaped}`] as const), // prettier-ignore
  ...['L', 'Lu', 'Ll', 'Lt', 'Lm', 'Lo', 'N', 'Nd', 'Nl', 'No', 'M', 'Mn', 'Mc', 'Me', 'P', 'S', 'Z', 'Zs'].flatMap((name) => [[`\\p{${name}}`, `\\p{${name}}`], [`\\P{${name}}`, `\\P{${name}}`]] as const), // prettier-ignore
  ...['Han', 'Hiragana', 'Katakana'].map((name) => [`\\p{${name}}`, `\\p{Script=${name}}`] as const),
  [String.raw`\s`, String.raw`\p{White_Space}`],
  [String.raw`\S`, String.raw`\P{White_Space}`],
  [String.raw`\d`, String.raw`\p{Nd}`],
  [String.raw`\'`, "'"],
  [String.raw`\"`, '"'],
  [String.raw`\-`, String.raw`\x2d`],
];
const CLASSES: typeof ATOMS = [
  ['[a-c]', '[a-c]'],
  ['[^a-c🜚]', '[^a-c🜚]'],
  [String.raw`[\s\d]`, String.raw`[\p{White_Space}\p{Nd}]`],
  [String.raw`[^\S\-/]`, String.raw`[^\P{White_Space}\x2d\/]`],
  ['[(){}|^$.*+?]', String.raw`[\(\)\{\}\|\^\$\.\*\+\?]`],
  [String.raw`[\]\\&a]`, String.raw`[\]\\&a]`],
  [String.raw`[\p{Han}é-ü]`, String.raw`[\p{Script=Han}é-ü]`],
];
const LETTERS = Array.from('asSkK1\n\t .^$*+?()[]{}|/\\\'"-&éü🜚字かカ٣Ⅷ\u0301\u212a\u017f\u00a0\uffff');

/** A pattern and the same in JavaScript, drawn together. */
function drawn(depth: number): readonly [string, string] {
  const parts = Array.from({ length: 1 + int(3) }, () => {
    const kind = int(depth > 1 ? 6 : 9);
    const [left, right] = kind < 4 ? pick(ATOMS) : kind < 6 ? pick(CLASSES) : drawn(depth + 1);
    const [open, openInJs] = kind < 6 ? ['', ''] : pick([['(', '(?:'], ['(?:', '(?:'], ['(?=', '(?='], ['(?!', '(?!']] as const); // prettier-ignore
    const close = kind < 6 ? '' : ')';
    const count = open.startsWith('(?=') || open.startsWith('(?!') || kind > 6 ? '' : pick(['', '', '?', '*', '+', '{2}', '{1,2}', '{1,}', '{0,1}']); // prettier-ignore
    return [`${open}${left}${close}${count}`, `${openInJs}${right}${close}${count}`] as const;
  });
  const [left, right] = [parts.map(([part]) => part).join(''), parts.map(([, part]) => part).join('')];
  if (int(4) > 0) return [left, right];
  const [other, otherInJs] = drawn(depth + 1);
  return [`${left}|${other}`, `${right}|${otherInJs}`];
}

test('600 patterns of all supported parts are in JavaScript what they should be, and find the same', () => {
  let found = 0;
  for (let n = 0; n < 600; n++) {
    const [pattern, javascript] = drawn(0);
    const text = Array.from({ length: 14 }, () => pick(LETTERS)).join('');
    let translated: RegExp;
    try {
      translated = translatePattern(pattern);
    } catch (error) {
      expect(error).toEqual(new SyntaxError('a count of something that may be empty'));
      continue;
    }
    expect([translated.source, translated.flags]).toEqual([new RegExp(javascript, 'gu').source, 'gu']);
    const cut = isolatingSplit(pattern)(text);
    const wanted: string[] = [];
    let end = 0;
    for (const { 0: match, index } of text.matchAll(new RegExp(javascript, 'gu'))) {
      if (match === '') continue;
      if (index > end) wanted.push(text.slice(end, index));
      wanted.push(match);
      end = index + match.length;
    }
    if (end < text.length) wanted.push(text.slice(end));
    expect(cut).toEqual(wanted);
    found += wanted.length;
  }
  expect(found).toBeGreaterThan(1500);
});

test('letters in (?i:…) are classes of their cases, to its closing bracket and in groups within', () => {
  const cases = (pattern: string) => translatePattern(pattern).source;
  expect(cases('(?i:aZ)a')).toBe('(?:[aA][zZ])a');
  expect(cases('(?i:s|K)')).toBe('(?:[sS\u017f]|[kK\u212a])');
  expect(cases("(?i:'1 -~)")).toBe("(?:'1 -~)");
  expect(cases('(?i:(?=a)(?!b)(c)(?:d))e')).toBe('(?:(?=[aA])(?![bB])(?:[cC])(?:[dD]))e');
  expect(cases('(a(?i:b)c)')).toBe('(?:a(?:[bB])c)');
  expect(cases(String.raw`(?i:\p{Lu}[1-9]+\s)`)).toBe(String.raw`(?:\p{Lu}[1-9]+\p{White_Space})`);
});

test.each([
  ['a(?<=b)', '(?<= at 1'],
  ['(?>a)', '(?>a at 0'],
  ['ab??', '?? at 2'],
  ['a*+', '*+ at 1'],
  ['a+{2}', '+{ at 1'],
  ['a{2}*', '{2}* at 1'],
  ['*', '* at 0'],
  ['a|+b', '+b at 2'],
  ['(?:?a)', '?a at 3'],
  ['a(?:b)c)', ') at 7'],
  ['a.', '. at 1'],
  ['^', '^ at 0'],
  ['b$', '$ at 1'],
  ['ab]', '] at 2'],
  ['a{', '{ at 1'],
  ['a{x}', '{ at 1'],
  ['}', '} at 0'],
  ['(a', 'a group that is not closed'],
  ['((a)', 'a group that is not closed'],
  ['a[bc', '[ at 1 that is not closed'],
  ['[', '[ at 0 that is not closed'],
  ['[]', 'a class in a class at 1'],
  ['[^]', 'a class in a class at 2'],
  ['[]a]', 'a class in a class at 1'],
  ['[^]a]', 'a class in a class at 2'],
  ['x[a[b]]', 'a class in a class at 3'],
  ['[a&&b]', 'a class in a class at 2'],
  ['(?i:[1a])', 'a class with letters in (?i:…) at 6'],
  ['(?i:x[Z])', 'a class with letters in (?i:…) at 6'],
  ['(?i:ü)', 'ü in (?i:…)'],
  ['(?i:\u0080)', '\u0080 in (?i:…)'],
  ['a\\w', '\\w at 1'],
  ['\\p{Greek}', '\\p{ at 0'],
  ['\\px', '\\px at 0'],
  ['[\\b1]', '\\b1 at 1'],
  ['a\\', '\\ at 1'],
])('the pattern %j is refused with %j', (pattern, message) => {
  const said = () => translatePattern(pattern);
  expect(said).toThrow(SyntaxError);
  expect(said).toThrow(expect.objectContaining({ message }));
});

const EMPTY = 'a count of something that may be empty';
test.each([
  '(?:a?)*',
  '(?:a*){2}',
  '(?:(?=a))+',
  '(?:a|b*)+',
  '(?:)*',
  '(?:a{0,2}b?){2,}',
  '(?:(?!a)b?){1,2}',
  '(?:a{0})+',
  '(?:a|)+',
  '(?:|a)*',
  '(?:(?:b?)a?)+',
  '(?i:a?)*',
])(
  // prettier-ignore
  'the count of %s, which may match nothing, is refused',
  (source) => expect(() => translatePattern(source)).toThrow(new SyntaxError(EMPTY)),
);

test('what may match nothing may be there once or not at all', () => {
  for (const source of [
    '(?:a?)?b',
    '(?:a*){1}b',
    '(?:a|b*){0,1}c',
    '(?:(?=a))?a',
    '',
    '(?:a*){0}b',
    '(?:(?=a)a)+',
    '(?:a?b)*',
    '(?:a+|b)*',
  ])
    // prettier-ignore
    expect(() => translatePattern(source)).not.toThrow();
});
