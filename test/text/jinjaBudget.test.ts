import { expect, test } from 'vitest';
import { chatTemplate } from '../../src/text/chatTemplate.ts';
import { jinja } from '../../src/text/jinja.ts';
import type { Message } from '../../src/text/message.ts';
import { toolSchema } from '../../src/text/toolSchema.ts';
import * as TEMPLATES from './templates.ts';

const TOOLS = Array.from({ length: 40 }, (_, i) => toolSchema({ name: `tool${i}`, description: 'Looks into a place.', parameters: ['place'] })); // prettier-ignore

test.each(Object.entries(TEMPLATES).filter(([, source]) => typeof source === 'string'))(
  '%s writes a conversation of 600 messages and 300,000 letters, with 40 tools, within the budget',
  (_, source) => {
    const messages: Message[] = Array.from({ length: 200 }, (__, i) => [
      { role: 'user', content: 'a b '.repeat(125) },
      { role: 'assistant', content: `<think>${'c '.repeat(100)}</think>${'d '.repeat(100)}${i}` },
      { role: 'tool', content: 'e'.repeat(600) },
    ]).flat();
    expect(chatTemplate(source).write(messages, TOOLS, true).length).toBeGreaterThan(100_000);
  },
);

test.each([
  ['{% for a in range(99999) %}{% for b in range(99) %}{{ b }}{% endfor %}{% endfor %}', /over 1048576 steps/],
  ['{{ range(100001) | length }}', /range: over 100000 numbers/],
  ['{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}', /nests over 500 deep/],
  [`{% set n = namespace(x='ab') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}`, /a text of over 1048576 characters/], // prettier-ignore
  ['{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}', /a list of over 131072 entries/], // prettier-ignore
  [`${' '.repeat(1000)}x`, /1000 white-space characters in a row/],
])('%s ends with what was too much', (source, message) => {
  expect(() => jinja(source)({})).toThrow(message);
});

test('as many numbers as Jinja allows are no more than that, and rounds that go on or end leave nothing behind', () => {
  expect(jinja('{{ range(100000) | length }}')({})).toBe('100000');
  const rounds =
    '{% for i in range(2000) %}{% if i % 2 %}{% continue %}{% endif %}{% if i > 1900 %}{% break %}{% endif %}{% endfor %}ok';
  expect(jinja(rounds)({})).toBe('ok');
});
