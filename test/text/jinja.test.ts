import { expect, test } from 'vitest';
import { jinja } from '../../src/text/chatTemplate.ts';
import { RAISING, SNIPPETS } from './snippets.ts';

test.each(SNIPPETS)('%s is what Python writes', (source, variables, text) => {
  expect(jinja(source)(variables)).toBe(text);
});

test.each(RAISING)('%s raises, as in Python', (source) => {
  expect(() => jinja(source)({})).toThrow();
});

test('a template can be run again, and knows nothing of the run before', () => {
  const write = jinja('{% set y = y | default(0) + 1 %}{{ y }}{% for x in [1, 2] %}{{ x }}{% endfor %}');
  expect([write({}), write({}), write({ y: 4 })]).toEqual(['112', '112', '512']);
});

test('an argument named like a method of dicts does not hide the method', () => {
  const write = jinja('{% for name, schema in properties.items() %}{{ name }}: {{ schema.type }};{% endfor %}');
  expect(write({ properties: { items: { type: 'string' }, values: { type: 'integer' } } })).toBe(
    'items: string;values: integer;',
  );
});
