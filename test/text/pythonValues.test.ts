import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { jinja } from '../../src/text/jinja.ts';
import { JinjaBudget } from '../../src/text/jinjaBudget.ts';
import { TEXT_METHODS } from '../../src/text/pythonTextMethods.ts';
import type { Value } from '../../src/text/pythonValues.ts';

type Keywords = Readonly<Record<string, unknown>>;
/** What CPython 3.11 makes of texts and values: methods of `str`, `str(value)`, `json.dumps`, and places of what `==` an entry. */
const PYTHON = JSON.parse(readFileSync(new URL('./fixtures/python.json', import.meta.url), 'utf8')) as {
  readonly methods: readonly (readonly unknown[])[];
  readonly texts: readonly (readonly [value: unknown, text: string])[];
  readonly json: readonly (readonly [value: unknown, style: Keywords, text: string])[];
  readonly equal: readonly (readonly [value: unknown, places: readonly number[]])[];
};

test('methods of texts give what Python gives, by order and by keyword', () => {
  const ours = PYTHON.methods.map(([name, text, args, ...rest]) => {
    const keywords = rest.length > 1 ? [new Map(Object.entries(rest[0] as Keywords).map(([key, value]) => [key, { value }]))] : []; // prettier-ignore
    const made = TEXT_METHODS.get(String(name))!(String(text), [...(args as readonly unknown[]), ...keywords]);
    return [name, text, args, ...(rest.length > 1 ? [rest[0]] : []), made];
  });
  expect(ours.length).toBeGreaterThan(100);
  expect(ours).toEqual(PYTHON.methods);
});

test.each<readonly [string, readonly unknown[]]>([
  ['split', ['']],
  ['split', [',', 'x']],
  ['rsplit', ['']],
  ['strip', [1]],
  ['replace', ['a']],
  ['replace', ['a', null]],
  ['replace', ['a', 'b', 'c']],
  ['removeprefix', [1]],
  ['removesuffix', []],
])('%s of %j is a TypeError, as in Python', (name, args) => {
  expect(() => TEXT_METHODS.get(name)!('a,b', args)).toThrow(TypeError);
});

test('a text is cut into 100,000 parts at most, and grown to 4 MiB at most', () => {
  const cut = (parts: number) => TEXT_METHODS.get('split')!(','.repeat(parts - 1), [',']);
  expect(cut(100_000)).toHaveLength(100_000);
  expect(() => cut(100_002)).toThrow(/split: over 100000 parts/);
  const lines = (parts: number) => TEXT_METHODS.get('splitlines')!('\n'.repeat(parts), []);
  expect(lines(99_999)).toHaveLength(99_999);
  expect(() => lines(100_000)).toThrow(/splitlines: over 100000 parts/);
  const grown = (text: string, from: string, to: string) => String(TEXT_METHODS.get('replace')!(text, [from, to])).length; // prettier-ignore
  const half = 'b'.repeat(2 ** 21);
  expect(grown('aa', 'a', half.slice(1))).toBe(2 ** 22 - 2);
  expect(() => grown('aa', 'a', half)).toThrow(/replace: a text of over 4194304 characters/);
  expect(grown('a', '', half.slice(1))).toBe(2 ** 22 - 1);
  expect(() => grown('a', '', half)).toThrow(/replace: a text of over/);
});

test('values are written as Python’s str and repr write them', () => {
  const write = jinja('{{ x }}');
  expect(PYTHON.texts.map(([x]) => [x, write({ x })])).toEqual(PYTHON.texts);
  expect(jinja('{{ 1.0 }} {{ 100.5 }} {{ [1.0, (1, 2)] }} {{ missing }}|{{ [missing] }}')({})).toBe('1.0 100.5 [1.0, (1, 2)] |[]'); // prettier-ignore
});

test('JSON is written as json.dumps writes it, in every style', () => {
  const literal = (value: unknown): string => Array.isArray(value) ? `(${value.map(literal).join(', ')})` : JSON.stringify(value); // prettier-ignore
  const ours = PYTHON.json.map(([x, style]) => {
    const named = Object.entries(style).map(([name, value]) => `${name}=${literal(value)}`).join(', '); // prettier-ignore
    return [x, style, jinja(`{{ x | tojson(${named}) }}`)({ x })];
  });
  expect(ours).toEqual(PYTHON.json);
  expect(() => jinja('{{ x | tojson(2) }}')({ x: 1 })).toThrow(/keyword arguments only/);
  expect(() => jinja('{{ [missing] | tojson }}')({})).toThrow(/no JSON/);
});

test('values are equal where Python’s == holds', () => {
  const write = jinja("{{ '1' if a == b else '0' }}{{ '0' if a != b else '1' }}");
  const values = PYTHON.equal.map(([value]) => value);
  const ours = values.map((a) => [a, values.flatMap((b, place) => (write({ a, b }) === '11' ? [place] : []))]);
  expect(ours).toEqual(PYTHON.equal);
  expect(jinja('{{ (1, 2) == [1, 2] }} {{ (1, 2) == (1, 2) }} {{ missing == missing }} {{ [1] == missing }}')({})).toBe('False True True False'); // prettier-ignore
});

test('range counts as Python’s does, up or down', () => {
  const write = (args: string) => jinja(`{{ range(${args}) | list }}`)({});
  expect(['3', '1, 4', '4, 1', '0, 7, 3', '7, 0, -3', '0, 6, 3', '-2', '5, 5'].map(write)).toEqual([
    ...['[0, 1, 2]', '[1, 2, 3]', '[]', '[0, 3, 6]', '[7, 4, 1]', '[0, 3]', '[]', '[]'],
  ]);
  expect(() => write('1, 2, 0')).toThrow(/step of 0/);
  expect(() => write('0, -100001, -1')).toThrow(/over 100000 numbers/);
});

/** How often a budget allows something before it throws. */
function allowed(spend: (budget: JinjaBudget) => unknown): number {
  const budget = new JinjaBudget();
  for (let times = 0; ; times++) {
    try {
      spend(budget);
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
      return times;
    }
  }
}

test('a template has 2²⁰ steps; letters, entries, rounds and searches take of them', () => {
  const STEPS = 2 ** 20;
  expect(allowed((budget) => budget.spend(16 * 1023))).toBe(STEPS / 1024);
  expect(allowed((budget) => budget.countText(16 * 1023))).toBe(STEPS / 1024);
  expect(allowed((budget) => budget.countEntries(16 * 1023))).toBe(STEPS / 1024);
  expect(allowed((budget) => budget.countNewEntries(1023))).toBe(STEPS / 1024);
  expect(allowed((budget) => budget.countIterations(16_383 / 16))).toBe(STEPS / 16_384);
  expect(allowed((budget) => budget.countSearch(16 * 1023, 16))).toBe(STEPS / 1024);
  const value = (of: unknown) => ({ value: of }) as Value;
  expect(allowed((budget) => budget.countValue(value('x'.repeat(16 * 1023))))).toBe(STEPS / 1024);
  expect(allowed((budget) => budget.countValue(value(new Array(16 * 1023))))).toBe(STEPS / 1024);
  const dict = new Map(Array.from({ length: 16 * 1023 }, (_, i) => [i, i]));
  expect(allowed((budget) => budget.countValue(value(dict)))).toBe(STEPS / 1024);
  const budget = new JinjaBudget();
  expect([budget.countFilterInput(value('abc')), budget.countFilterInput(value(3)), budget.countFilterInput(value([value('ab'), value(3)]))]).toEqual([3, 0, 3]); // prettier-ignore
  expect(allowed((each) => each.countFilterInput(value([value('x'.repeat(16 * 511)), value('y'.repeat(16 * 511))])))).toBe(STEPS / 1024); // prettier-ignore
  expect(() => budget.countValue(value(7))).not.toThrow();
});

test('it nests 500 deep, and holds texts of 2²⁰ letters and lists of 2¹⁷ entries', () => {
  expect(allowed((budget) => budget.enter())).toBe(500);
  const budget = new JinjaBudget();
  for (let i = 0; i < 600; i++) {
    budget.enter();
    budget.leave();
  }
  expect(() => budget.countText(2 ** 20)).not.toThrow();
  expect(() => budget.countText(2 ** 20 + 1)).toThrow(/text of over 1048576/);
  expect(() => budget.countEntries(2 ** 17)).not.toThrow();
  expect(() => budget.countEntries(2 ** 17 + 1)).toThrow(/list of over 131072/);
});
