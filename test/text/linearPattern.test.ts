import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Purpose, random } from '../../src/base/rng.ts';
import { linearPattern } from '../../src/text/linearPattern.ts';
import { translatePattern } from '../../src/text/tokenizerPattern.ts';
import { GPT2_PATTERN, isolatingSplit, GGUF_SPLITS } from '../../src/text/preTokenizer.ts';
import { awkwardStrings } from './strings.ts';
import { processorClock } from '../processorClock.ts';

/** All matches, as JavaScript gives them. */
function matches(source: string, text: string): readonly (readonly [number, number])[] {
  const find = linearPattern(source);
  const all: (readonly [number, number])[] = [];
  for (let at = 0; at <= text.length;) {
    const found = find(text, at);
    if (!found) break;
    all.push(found);
    const [begin, end] = found;
    at = end > begin ? end : end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1);
  }
  return all;
}
const native = (source: string, text: string) =>
  Array.from(text.matchAll(new RegExp(source, 'gu')), ({ 0: match, index }) => [index, index + match.length]);

// published: GPT-2, Qwen, Llama 3, GPT-4o, DeepSeek's letters
const GPT4O = String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const PUBLISHED = [
  ...new Set([GPT2_PATTERN, GPT4O, ...Object.values(GGUF_SPLITS).flatMap(({ patterns }) => patterns)]),
];

test.each(PUBLISHED)('the pattern %s finds what JavaScript finds in 150 awkward strings', (pattern) => {
  const { source } = translatePattern(pattern);
  for (const text of awkwardStrings(150, 3).map((each) => each.replaceAll(/\p{Surrogate}/gu, '\ufffd'))) {
    expect(matches(source, text)).toEqual(native(source, text));
  }
});

test('2000 patterns drawn at random find what JavaScript finds, or are refused for a count of what may be nothing', () => {
  const draw = random(11, Purpose.environment);
  const atom = (depth: number): string => {
    const kind = draw.int(depth > 2 ? 4 : 7);
    if (kind < 3) return 'abc'[kind]!;
    if (kind === 3) return ['[ab]', '[^a]', '[b-c]'][draw.int(3)]!;
    const inner = alternatives(depth + 1);
    return kind === 4 ? `(?:${inner})` : kind === 5 ? `(?=${inner})` : `(?!${inner})`;
  };
  const sequence = (depth: number): string =>
    Array.from({ length: 1 + draw.int(3) }, () => {
      const part = atom(depth);
      if (/^\(\?[=!]/.test(part)) return part;
      return part + ['', '', '?', '*', '+', '{2}', '{1,2}', '{1,}'][draw.int(8)]!;
    }).join('');
  const alternatives = (depth: number): string => Array.from({ length: 1 + draw.int(2) }, () => sequence(depth)).join('|'); // prettier-ignore
  let [found, refused] = [0, 0];
  for (let i = 0; i < 2000; i++) {
    const pattern = alternatives(0);
    const text = Array.from({ length: 12 }, () => 'abc'[draw.int(3)]!).join('');
    const wanted = native(pattern, text);
    try {
      expect(matches(pattern, text), `${pattern} in ${text}`).toEqual(wanted);
      found += wanted.length;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      refused++;
    }
  }
  expect(found).toBeGreaterThan(5000);
  expect(refused).toBeLessThan(500);
});

test.each([
  ['(?:a|a)+b', 'a'],
  ['(?:a+)+b', 'a'],
  ['(?:a|aa)*(?:a|aa)*b', 'a'],
  ['a*a*a*a*a*a*a*b', 'a'],
  ['(?:(?=a*b)a)+', 'a'],
  ['(?:(?=a*c)a)+b|a', 'a'],
  [String.raw`\s*\s*\s*\s*x`, ' '],
])('%s takes 20,000 letters without its squares', (pattern, letter) => {
  const seconds = processorClock();
  expect(isolatingSplit(pattern)(letter.repeat(20_000)).join('')).toHaveLength(20_000);
  // about 0.05; the square alone would be 400 million steps. Mutation runs count every branch, which takes fifty times as long
  expect(seconds()).toBeLessThan(process.env['MUTATION_TESTS'] === undefined ? 2 : 20);
});

test('patterns that would be large are refused before they are', () => {
  expect(() => isolatingSplit('(?:a{1000}){1000}')).toThrow(/over 4096 states/);
  expect(() => isolatingSplit('a{1000000000}')).toThrow(/count of over 4096/);
  expect(() => isolatingSplit('a'.repeat(5000))).toThrow(/5000 characters/);
  expect(() => isolatingSplit(Array.from({ length: 300 }, (_, i) => String.fromCharCode(0x4e00 + i)).join(''))).toThrow(/over 256 character classes/); // prettier-ignore
  expect(() => isolatingSplit('a{4000}')('a'.repeat(400_000))).toThrow(/takes too much memory/);
});

test('the shipped fixtures are cut by our engine as by the native one', () => {
  const text = readFileSync('README.md', 'utf8');
  for (const pattern of PUBLISHED) expect(matches(translatePattern(pattern).source, text)).toEqual(native(translatePattern(pattern).source, text)); // prettier-ignore
});
