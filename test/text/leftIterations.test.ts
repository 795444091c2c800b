import { expect, test } from 'vitest';
import { jinja } from '../../src/text/jinja.ts';

/** Templates with loops that are left early or lists that are joined, and what Jinja2 3.1.6 writes for them. */
const WRITTEN: readonly (readonly [source: string, variables: Readonly<Record<string, unknown>>, text: string])[] = [
  [
    '{% for x in [1, 2, 3] %}<{{ x }}{% if x == 2 %}{{ none }}{% continue %}!{% endif %}>{% endfor %}',
    {},
    '<1><2None<3>',
  ],
  ['{% for x in [1, 2, 3] %}<{{ x }}{% if x == 2 %}{{ none }}{% break %}!{% endif %}>{% endfor %}.', {}, '<1><2None.'],
  ['{% for x in [1, 2] %}{{ x }}{% continue %}{% else %}none{% endfor %}', {}, '12none'],
  ['{% for x in [1, 2] %}{% break %}{% else %}none{% endfor %}.', {}, 'none.'],
  [
    '{% for x in [1, 2] %}{% for y in [3, 4, 5] %}{{ x }}{{ y }}{% if y == 4 %},{% break %}{% endif %};{% endfor %}{% if x == 1 %}-{% continue %}{% endif %}end{% endfor %}',
    {},
    '13;14,-23;24,end',
  ],
  [
    '{% for x in [1, 2, 3] %}{% if x > 1 %}{% if x == 2 %}a{% if true %}b{% continue %}{% endif %}c{% endif %}d{% endif %}{{ x }}{% endfor %}',
    {},
    '1abd3',
  ],
  [
    '{% for x in [1, 2, 3] %}{% set y = x %}{% if y == 2 %}{% continue %}{% endif %}{{ y }}{% endfor %}{{ y is defined }}',
    {},
    '13False',
  ],
  [
    "{{ [1, 'a', none, true, 2.0, [none]] | join }}|{{ [none] | join(',') }}|{{ 'añ😀' | join('-') }}",
    {},
    '1aNoneTrue2.0[None]|None|a-ñ-😀',
  ],
  [
    "{{ rows | join(',', attribute='n') }}|{{ rows | join(attribute='n') }}|{{ rows | join(d=';', attribute='m.k') }}|{{ rows | join(', ', 'n') }}",
    {
      rows: [
        { n: 1, m: { k: null } },
        { n: null, m: { k: 'b' } },
        { n: 'c', m: {} },
      ],
    },
    '1,None,c|1Nonec|None;b;|1, None, c',
  ],
  [
    "{{ {'a': 1, 'b': 2} | join(d='+') }}|{{ [] | join('x') }}|{{ missing | join('x') }}|{{ ['a', 'b'] | join(1) }}|{{ [1, 2] | join(none) }}",
    {},
    'a+b|||a1b|1None2',
  ],
  ["{{ rows | map(attribute='n') | join(' ') }}", { rows: [{ n: null }, { n: true }] }, 'None True'],
];

test.each(WRITTEN)('%s writes what Jinja2 writes', (source, variables, text) => {
  expect(jinja(source)(variables)).toBe(text);
});

test.each([
  ['{{ 3 | join }}', /can’t be joined/],
  ['{{ none | join }}', /can’t be joined/],
  ['a{% continue %}', /continue stands outside of a loop/],
])('%s, which Jinja2 refuses too, is refused', (source, message) => {
  expect(() => jinja(source)({})).toThrow(message);
});
