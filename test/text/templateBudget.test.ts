import { expect, test } from 'vitest';
import { jinja } from '../../src/text/jinja.ts';

const STEPS = 'the template takes over 1048576 steps';
const LETTERS = 'the template makes a text of over 1048576 characters';
const ENTRIES = 'the template makes a list of over 131072 entries';
const a = (letters: number) => 'a'.repeat(letters);
const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value);
const deep = (depth: number, value: unknown): unknown => (depth === 0 ? value : [deep(depth - 1, value)]);
const dicts = (depth: number, value: unknown): unknown => (depth === 0 ? value : { a: dicts(depth - 1, value) });

/** Compares lists with 65,536 entries and more, which share their parts: each `y` of them with the next. */
const COMPARED = `{% set l = [${times(16, 'x').join()}] %}{% set m = [${times(16, 'l').join()}] %}{% for i in range(y) %}{% if m != m %}!{% endif %}{% endfor %}`;

/** What a template can just do with the first variables, and what ends it with the second ones. */
test.each<readonly [string, Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>, string]>([
  // a search takes the product of both lengths / 256
  ['{{ y in x }}', { x: a(2 ** 16), y: a(3000) }, { x: a(2 ** 16), y: a(4096) }, STEPS],
  ['{{ y not in x }}', { x: a(2 ** 16), y: a(3000) }, { x: a(2 ** 16), y: a(4096) }, STEPS],
  ['{{ x.replace(y, "") | length }}', { x: a(2 ** 16), y: a(3000) }, { x: a(2 ** 16), y: a(4096) }, STEPS],
  ['{{ x.split(y) | length }}', { x: a(2 ** 16), y: a(3000) }, { x: a(2 ** 16), y: a(4096) }, STEPS],
  ['{{ (x | replace(y, "")) | length }}', { x: a(2 ** 16), y: a(3000) }, { x: a(2 ** 16), y: a(4096) }, STEPS],
  ['{{ (x | trim(y)) | length }}', { x: a(2 ** 16), y: a(3000) }, { x: a(2 ** 16), y: a(4096) }, STEPS],
  // a join is as long as its parts and as many separators
  ['{% set z = x | join(y) %}', { x: times(1024, 'a'), y: a(1023) }, { x: times(1024, 'a'), y: a(1024) }, LETTERS],
  ['{% set z = x | join(d=y) %}', { x: times(1024, 'a'), y: a(1023) }, { x: times(1024, 'a'), y: a(1024) }, LETTERS],
  ['{% set z = x | join %}', { x: times(2, a(2 ** 19 - 4)) }, { x: times(2, a(2 ** 19 - 3)) }, LETTERS],
  // an indent adds its width to each line, four at least
  ['{% set z = x | indent(y) %}', { x: '\n'.repeat(1023), y: 1023 }, { x: '\n'.repeat(1023), y: 1024 }, LETTERS],
  ['{% set z = x | indent(width=y) %}', { x: '\n'.repeat(1023), y: 1023 }, { x: '\n'.repeat(1023), y: 1024 }, LETTERS],
  ['{% set z = x | indent %}', { x: '\n'.repeat(209_714) }, { x: '\n'.repeat(209_715) }, LETTERS],
  ['{% set z = x | indent(1) %}', { x: '\n'.repeat(209_714) }, { x: '\n'.repeat(209_715) }, LETTERS],
  // another filter does not write more than it reads
  ['{% set z = x | upper %}', { x: a(2 ** 20) }, { x: a(2 ** 20 + 1) }, LETTERS],
  // a filter of a list reads each text in it
  ['{% set z = x | last %}', { x: [...times(12, a(2 ** 20)), ''] }, { x: [...times(16, a(2 ** 20)), ''] }, STEPS],
  // new entries take a step each, 16 a round of a loop
  ['{% for i in range(11) %}{% set z = x.split(",") %}{% endfor %}', { x: ','.repeat(999) }, { x: ','.repeat(99_999) }, STEPS], // prettier-ignore
  ['{% for i in x %}{% break %}{% endfor %}', { x: times(60_000, 1) }, { x: times(65_536, 1) }, STEPS],
  ['{% for i in x %}{% break %}{% endfor %}', { x: Object.fromEntries(times(60_000, 1).entries()) }, { x: Object.fromEntries(times(65_536, 1).entries()) }, STEPS], // prettier-ignore
  ['{% set z = x %}', { x: times(2 ** 17, 1) }, { x: times(2 ** 17 + 1, 1) }, ENTRIES],
  // what is written of a list is counted at each depth
  ['{% set z = x | string | length %}', { x: deep(8, a(900_000)) }, { x: deep(24, a(900_000)) }, STEPS],
  ['{% set z = x | string | length %}', { x: dicts(8, a(900_000)) }, { x: dicts(24, a(900_000)) }, STEPS],
  ['{% set z = x ~ "" %}', { x: deep(8, a(900_000)) }, { x: deep(24, a(900_000)) }, STEPS],
  ['{% set z = "" ~ x %}', { x: deep(8, a(900_000)) }, { x: deep(24, a(900_000)) }, STEPS],
  ['{% set z = x | trim %}', { x: deep(7, a(900_000)) }, { x: deep(24, a(900_000)) }, STEPS],
  ['{{ x }}', { x: deep(6, a(900_000)) }, { x: deep(24, a(900_000)) }, STEPS],
  ['{% set z = x | tojson %}', { x: deep(8, a(900_000)) }, { x: deep(24, a(900_000)) }, STEPS],
  ['{% set z = x | tojson %}', { x: dicts(8, a(900_000)) }, { x: dicts(24, a(900_000)) }, STEPS],
  // an indent of JSON is counted before it is written, at each depth
  ['{% set z = [1] | tojson(indent=x) %}', { x: 2 ** 19 }, { x: 2 ** 24 }, STEPS],
  ['{% set z = [[1]] | tojson(indent=x) %}', { x: 2 ** 17 }, { x: 2 ** 23 }, STEPS],
  ['{% set z = [1, 1] | tojson(separators=[x, ":"]) %}', { x: a(2 ** 19) }, { x: a(2 ** 23) }, LETTERS],
  // each value that is compared takes a step
  [COMPARED, { x: times(256, 1), y: 14 }, { x: times(256, 1), y: 17 }, STEPS],
])('%j ends where its budget does (case %#)', (source, little, much, message) => {
  const write = jinja(source);
  expect(write(little).length).toBeLessThanOrEqual(2 ** 20);
  expect(() => write(much)).toThrow(expect.objectContaining({ name: 'RangeError', message }));
});

test('a template may have 999 blanks in a row, and no more', () => {
  expect(jinja(`${' '.repeat(999)}x`)({})).toHaveLength(1000);
  expect(() => jinja(`x${'\n'.repeat(1000)}`)).toThrow(new RangeError('1000 white-space characters in a row'));
});

test('a budget is of one conversation, and is left behind where a template raises or a loop ends early', () => {
  const write = jinja(
    '{% for i in range(n) %}{% for j in [1] %}{% break %}{% endfor %}{% endfor %}{{ x.a if n > 500 }}',
  );
  for (let again = 0; again < 3; again++) {
    expect(write({ n: 600, x: { a: 1 } })).toBe('1');
    expect(() => write({ n: 600 })).toThrow('a of an undefined value');
  }
});
