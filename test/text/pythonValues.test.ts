import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { jinja } from '../../src/text/chatTemplate.ts';
import { TEXT_METHODS } from '../../src/text/pythonTextMethods.ts';

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
  expect(jinja('{{ range(100000) | length }}')({})).toBe('100000');
  expect(() => write('0, -100001, -1')).toThrow(/over 100000 numbers/);
});
