import { Purpose, type Random, random } from '../../src/base/rng.ts';

/** First and last code point of what a piece of a string is drawn from. */
const SCRIPTS: readonly (readonly [number, number])[] = [
  [0x20, 0x7e], // ASCII
  [0x61, 0x7a],
  [0xa0, 0xff], // Latin-1
  [0x100, 0x24f],
  [0x370, 0x3ff], // Greek
  [0x400, 0x4ff], // Cyrillic
  [0x531, 0x556], // Armenian
  [0x5d0, 0x5ea], // Hebrew
  [0x621, 0x64a], // Arabic
  [0x64b, 0x669], // its marks and digits
  [0x905, 0x94d], // Devanagari
  [0x966, 0x96f],
  [0x985, 0x9e3], // Bengali
  [0xb85, 0xbcd], // Tamil
  [0xe01, 0xe5b], // Thai
  [0x1000, 0x104f], // Burmese
  [0x10d0, 0x10ff], // Georgian
  [0x1100, 0x11ff], // Hangul letters
  [0x1200, 0x135a], // Ethiopic
  [0x1780, 0x17dd], // Khmer
  [0x3041, 0x30ff], // Kana
  [0x4e00, 0x9fa5], // Han
  [0x20000, 0x2a6d6],
  [0xac00, 0xd7a3], // Hangul
  [0x2190, 0x23ff], // arrows, mathematics
  [0x2460, 0x24ff], // enclosed digits and letters
  [0x2150, 0x218b], // fractions, Roman numerals
  [0x1d400, 0x1d7ff], // mathematical letters and digits
  [0x1f300, 0x1f64f], // pictures and faces
  [0x1f680, 0x1f6c5],
  [0x300, 0x36f], // combining marks
  [0xe000, 0xe010], // private use
  [0xfff9, 0xfffd],
  [0x30, 0x39],
];

const BLANKS = Array.from(
  ' \t\n\r\v\f\u001c\u001f\u0085\u00a0\u1680\u180e\u2003\u2028\u2029\u200b\u200d\u202f\u3000\ufeff',
);
const PIECES = [
  ...["don't", "I'll we've THEY'RE it'S", "'s't're've'm'll'd", "'ſ 'K", 'naïve cafe\u0301', 'ÅÅÅ', 'ﬁ ﬀ', 'ǅ ß ẞ İı'],
  ...['3.14159', '1,000,000', '٣٤', '१२३', 'Ⅷ², x³', '½ ¾ ①', '0x1F', '1e-9', '2026-11-23T09:12:32Z', '𝟘𝟙𝟚'],
  ...['👩‍👩‍👧‍👦', '👍🏽', '🇩🇪🇫🇷', '❤️', '☃', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '1️⃣', '🫠'],
  ...[
    'def f(x):\n    return x ** 2\n',
    'if (a && b) {\r\n\t\treturn;\r\n}\n',
    '<div class="x">&nbsp;</div>',
    '{"name": "add", "arguments": {"a": 1}}',
  ],
  ...[
    'https://example.org/a?b=c&d=%20#e',
    'a_b-c.d@e.f',
    '#!/bin/sh',
    '// ----',
    '$x = "y";',
    '\\n\\t',
    '`code`',
    '***',
    '。。。',
    '…',
    '¿Qué?',
  ],
  ...['\u0000', '\u0007', '\u001b[31m', '\u007f', '\ufffd', '\ue000', '\u{10ffff}', '\u{e0001}', '\u0378'],
  ...['      ', '\n\n\n', '\r\n\r\n', ' \n ', '\t\t', '  x', 'x  ', ' \u00a0 ', '\n  \n'],
  ...[
    'Hello world',
    ' the quick brown fox',
    'ΑΒΓ αβγς',
    'Привет мир',
    'שלום',
    'مَرْحَبًا',
    'नमस्ते',
    'สวัสดี',
    '你好，世界！',
    'こんにちは',
    '안녕하세요',
    'გამარჯობა',
  ],
];
const LONE = ['\ud800', '\udc00', '\udfff\ud83d'];

/**
 * Strings of all scripts, digits, code, pictures, marks, blanks and special tokens, some with surrogates that stand alone.
 * Equal seeds give equal strings.
 */
export function awkwardStrings(count: number, seed: number, specials: readonly string[] = []): readonly string[] {
  const draw = random(seed, Purpose.environment);
  return Array.from({ length: count }, () => {
    const pieces = 1 + draw.int(8);
    return Array.from({ length: pieces }, () => pieceOf(draw, specials)).join('');
  });
}

function pieceOf(draw: Random, specials: readonly string[]): string {
  const kind = draw.int(20);
  if (kind < 8) return lettersOf(draw);
  if (kind < 11) return blanksOf(draw);
  if (kind < 17) return `${draw.int(2) === 0 ? ' ' : ''}${PIECES[draw.int(PIECES.length)] ?? ''}`;
  if (kind < 18) return specials[draw.int(Math.max(1, specials.length))] ?? '';
  if (kind < 19) return String(draw.int(1_000_000_000));
  return draw.int(4) === 0 ? (LONE[draw.int(LONE.length)] ?? '') : ' ';
}

function lettersOf(draw: Random): string {
  const [first, last] = SCRIPTS[draw.int(SCRIPTS.length)] ?? [0x61, 0x7a];
  const points = Array.from({ length: 1 + draw.int(8) }, () => first + draw.int(last - first + 1));
  return `${draw.int(2) === 0 ? ' ' : ''}${String.fromCodePoint(...points)}`;
}

function blanksOf(draw: Random): string {
  const one = BLANKS[draw.int(BLANKS.length)] ?? ' ';
  return draw.int(2) === 0 ? one.repeat(1 + draw.int(6)) : `${one}${BLANKS[draw.int(BLANKS.length)] ?? ' '}`;
}
