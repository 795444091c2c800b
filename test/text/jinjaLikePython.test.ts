import { expect, test } from 'vitest';
import { jinja } from '../../src/text/chatTemplate.ts';

/** Templates with what they write in Jinja2 3.1, in the sandbox in which Transformers runs them. */
const WRITTEN: readonly (readonly [source: string, variables: Readonly<Record<string, unknown>>, text: string])[] = [
  [
    '{% if a %}{{ [a] }}{% else %}{{ none }}{% endif %}{% if not a %}{{ none }}{% else %}{{ true }}{% endif %}',
    { a: 1 },
    '[1]True',
  ],
  ['{% if a == 2 %}x{% elif a == 1 %}{{ none }}{{ [none] }}{% else %}y{% endif %}', { a: 1 }, 'None[None]'],
  [
    '{% for x in a %}{{ x }}{{ [x] }}{% else %}{{ none }}{% endfor %}',
    { a: [null, true, 's'] },
    "None[None]True[True]s['s']",
  ],
  ['{% for x in [] %}a{% else %}{{ none }}{% for y in [1] %}{{ true }}{% endfor %}{% endfor %}', {}, 'NoneTrue'],
  [
    '{% set x = none %}{{ x }}{% set y %}{{ none }}{% if true %}{{ true }}{% endif %}{% endset %}{{ y }}{{ y | length }}',
    {},
    'NoneNoneTrue8',
  ],
  [
    '{% macro f(x) %}{{ none }}{{ x }}{% if x %}{{ [x] }}{% endif %}{% endmacro %}{{ f(none) }}|{{ f(true) }}',
    {},
    'NoneNone|NoneTrue[True]',
  ],
  [
    '{% macro f() %}<{{ caller() }}>{% endmacro %}{% call f() %}{{ none }}{% if true %}{{ true }}{% endif %}{% endcall %}',
    {},
    '<NoneTrue>',
  ],
  ["{% macro f() %}{{ caller(1, 'b') }}{% endmacro %}{% call(a, b) f() %}{{ [a, b] }}{% endcall %}", {}, "[1, 'b']"],
  ['{% filter upper %}{{ none }}{% if true %}{{ [true] }}{% endif %}a{% endfilter %}', {}, 'NONE[TRUE]A'],
  ['{# {{ none }} #}a{#- b -#} c', {}, 'ac'],
  [
    '{% for x in [1, 2] %}{% for y in [3, 4] %}{% if z is defined %}!{% endif %}{% set z = 1 %}{{ x }}{{ y }}{{ loop.index }}{% endfor %}{{ loop.index }}{{ z is defined }}{% endfor %}',
    {},
    '1311421False2312422False',
  ],
  [
    "{% for k, v in [['a', 1], ['b', 2]] %}{{ k }}{{ v }}{% set k = 'c' %}{{ k }}{% set w = k %}{{ w }}{% endfor %}",
    {},
    'a1ccb2cc',
  ],
  [
    '{% for x in [1, 2, 3] if x != 2 %}{% if seen is defined %}!{% endif %}{% set seen = x %}{{ loop.index0 }}{{ loop.revindex }}{{ loop.last }}{{ x }}{% endfor %}',
    {},
    '02False111True3',
  ],
  ['{% for x in missing %}a{% else %}b{% endfor %}{% for x in missing if x %}a{% else %}c{% endfor %}', {}, 'bc'],
  [
    '{% for k in d %}{{ k }}{% endfor %}{% for k, v in d.items() %}{{ k }}{{ v }}{% endfor %}{{ d.values() | list }}{{ d.keys() | list }}',
    { d: { items: 1, b: [2], get: null } },
    "itemsbgetitems1b[2]getNone[1, [2], None]['items', 'b', 'get']",
  ],
  [
    "{{ d.get('a') }}{{ d.get('z') }}{{ d.get('z', 7) }}{{ d.b }}{{ d['b'] }}{{ d.z is defined }}{{ d['get'] }}",
    { d: { a: null, b: 'x', get: 1 } },
    'NoneNone7xxFalse1',
  ],
  [
    "{{ 'a' in d }}{{ 'z' in d }}{{ 'z' not in d }}{{ 1 in [1, 2] }}{{ '1' in [1] }}{{ 'b' in 'abc' }}{{ '' in '' }}{{ 'd' not in 'abc' }}",
    { d: { a: 1 } },
    'TrueFalseTrueTrueFalseTrueTrueTrue',
  ],
  [
    "{{ 'a' ~ 1 }}{{ 1 ~ 2 }}{{ none ~ 'x' }}{{ [1] ~ {'a': true} }}{{ 1.5 ~ missing }}{{ '' ~ '' }}",
    {},
    "a112Nonex[1]{'a': True}1.5",
  ],
  [
    "{{ 1 == 1.0 }}{{ '1' == 1 }}{{ 1 != true }}{{ none == false }}{{ [] == [] }}{{ {'a': [1]} == {'a': [1.0]} }}{{ 'a' == 'a' }}{{ 'a' != 'a' }}{{ none == none }}",
    {},
    'TrueFalseFalseFalseTrueTrueTrueFalseTrue',
  ],
  [
    "{{ ' x '.strip() }}|{{ ' x '.lstrip() }}|{{ ' x '.rstrip() }}|{{ 'xax'.strip('x') }}|{{ ' x ' | trim }}|{{ 'xax' | trim('x') }}",
    {},
    'x|x | x|a|x|a',
  ],
  [
    "{{ 'a b  c'.split() }}{{ 'a,b,c'.split(',') }}{{ 'a,b,c'.split(',', 1) }}{{ 'a,b,c'.split(',', maxsplit=1) }}{{ 'a,b,c'.split(sep=',', maxsplit=1) }}{{ 'a b c'.split(maxsplit=1) }}",
    {},
    "['a', 'b', 'c']['a', 'b', 'c']['a', 'b,c']['a', 'b,c']['a', 'b,c']['a', 'b c']",
  ],
  [
    "{{ 'a b  c'.rsplit() }}{{ 'a,b,c'.rsplit(',', 1) }}{{ 'abXXcXX'.rsplit('XX', maxsplit=1) }}{{ 'a b '.rsplit(none, 1) }}",
    {},
    "['a', 'b', 'c']['a,b', 'c']['abXXc', '']['a', 'b']",
  ],
  [
    "{{ 'aXbXc'.replace('X', '-') }}{{ 'aXbXc'.replace('X', '-', 1) }}{{ 'aaa' | replace('a', 'b') }}{{ 'aaa' | replace('a', 'b', 2) }}{{ 'ab'.replace('', '-') }}{{ 112 | replace('1', 'x') }}",
    {},
    'a-b-ca-bXcbbbbba-a-b-xx2',
  ],
  [
    "{{ 'hELLO wORLD' | capitalize }}{{ 'hELLO'.capitalize() }}{{ ''.capitalize() }}{{ none | capitalize }}{{ 12 | trim }}{{ [' a '] | trim }}",
    {},
    "Hello worldHelloNone12[' a ']",
  ],
  [
    "{{ 'a\nb\r\nc'.splitlines() }}{{ 'abc'.removeprefix('ab') }}{{ 'abc'.removesuffix('bc') }}{{ 'abc'.removesuffix('') }}{{ 'x'.removeprefix('xy') }}",
    {},
    "['a', 'b', 'c']caabcx",
  ],
  [
    "{{ 'abc'.upper() }}{{ 'ABC'.lower() }}{{ 'a b'.title() }}{{ 'abc'.startswith('a') }}{{ 'abc'.endswith('b') }}{{ 'abc' | upper }}{{ 'AbC' | lower }}{{ 'a b' | title }}",
    {},
    'ABCabcA BTrueFalseABCabcA B',
  ],
  [
    "{{ 'äöü' | string }}{{ 1 | string }}{{ none | string }}{{ [1, 'a'] | string | length }}{{ true | string }}{{ 1.0 | string }}",
    {},
    'äöü1None8True1.0',
  ],
  [
    "{{ x | tojson }}|{{ x | tojson(indent=1) }}|{{ x | tojson(sort_keys=true) }}|{{ x | tojson(separators=(',', ':')) }}|{{ x | tojson(ensure_ascii=true) }}",
    { x: { b: [1, 'é\n', null, [], {}], a: 1.5 } },
    '{"b": [1, "é\\n", null, [], {}], "a": 1.5}|{\n "b": [\n  1,\n  "é\\n",\n  null,\n  [],\n  {}\n ],\n "a": 1.5\n}|{"a": 1.5, "b": [1, "é\\n", null, [], {}]}|{"b":[1,"é\\n",null,[],{}],"a":1.5}|{"b": [1, "\\u00e9\\n", null, [], {}], "a": 1.5}',
  ],
  [
    "{{ missing | default('d') }}{{ none | default('d') }}{{ none | default('d', true) }}{{ '' | default('d', boolean=true) }}{{ missing is defined }}{{ missing is undefined }}{{ none is none }}{{ 1 is number }}{{ 1 is string }}{{ 'a' is string }}{{ {} is mapping }}{{ [] is iterable }}{{ true is boolean }}{{ 2 is even }}{{ 3 is odd }}",
    {},
    'dNoneddFalseTrueTrueTrueFalseTrueTrueTrueTrueTrueTrue',
  ],
  [
    "{{ x[0] }}{{ x[-1] }}{{ x[1:] }}{{ x[:1] }}{{ x[::2] }}{{ x[::-1] }}{{ 'abc'[1] }}{{ 'abc'[-2:] }}{{ x[5] is defined }}",
    { x: [1, 'b', null] },
    "1None['b', None][1][1, None][None, 'b', 1]bbcFalse",
  ],
  [
    "{{ 'y' if a else 'n' }}{{ 'y' if not a }}{{ a and 2 }}{{ b or 'x' }}{{ not a }}{{ a and b or c }}",
    { a: 1, b: 0, c: 'c' },
    'y2xFalsec',
  ],
  [
    "{% set n = namespace(a=1, b='x') %}{% for i in range(3) %}{% set n.a = n.a + i %}{% endfor %}{{ n.a }}{{ n.b }}",
    {},
    '4x',
  ],
  [
    "{% set a = 'o' %}{% macro f() %}{{ a }}{% set b = 1 %}{{ b }}{% endmacro %}{% for a in ['i'] %}{{ f() }}{% endfor %}{{ b is defined }}",
    {},
    'o1False',
  ],
  ['{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}', {}, '3210'],
  [
    "{% macro f(a, b=2, c='x') %}{{ [a, b, c] }}{% endmacro %}{{ f(1) }}{{ f(1, 3) }}{{ f(1, c=none) }}{{ f(a=5) }}",
    {},
    "[1, 2, 'x'][1, 3, 'x'][1, 2, None][5, 2, 'x']",
  ],
  [
    '{% macro outer() %}{{ caller() }}{{ inner() }}{% endmacro %}{% macro inner() %}{{ caller is defined }}{% endmacro %}{% call outer() %}c{% endcall %}',
    {},
    'cFalse',
  ],
  ['  {% if true %}\n    x\n  {% endif %}\n  {%- if true %}  y  {%- endif -%}  \n z\n', {}, '    x\n  yz'],
  ['a\r\nb\rc\n{{ x }}', { x: 'd\r\ne' }, 'a\nb\nc\nd\r\ne'],
  ['{{ True }}{{ False }}{{ None }}{{ true }}{{ false }}{{ none }}', {}, 'TrueFalseNoneTrueFalseNone'],
  [
    '{{ range(3) | list }}{{ range(1, 4) | list }}{{ range(4, 0, -2) | list }}{% for i in range(0) %}x{% endfor %}',
    {},
    '[0, 1, 2][1, 2, 3][4, 2]',
  ],
  [
    "{{ \"it's\" }}{{ [\"it's\"] }}{{ ['say \"x\"'] }}{{ ['\\\\ \n\t\r'] }}{{ ['it\\'s \"x\"'] }}",
    {},
    "it's[\"it's\"]['say \"x\"']['\\\\ \\n\\t\\n']['it\\'s \"x\"']",
  ],
  [
    '{% for m in ms %}{% if not loop.first %}, {% endif %}{{ m.role }}{{ loop.previtem.role if loop.previtem is defined }}{{ loop.nextitem.role if loop.nextitem is defined }}{% endfor %}',
    { ms: [{ role: 'a' }, { role: 'b' }] },
    'ab, ba',
  ],
  [
    "{% set x = {'a': {'b': 1}} %}{{ x.a.b }}{{ x['a']['b'] }}{{ x.a.c is defined }}{{ x.q is defined }}",
    {},
    '11FalseFalse',
  ],
  [
    "{{ x.split('<think>')[-1].split('</think>')[0].strip('\n') }}|{{ x.split('</think>')|last }}",
    { x: '<think>\nhm\n</think>so' },
    'hm|so',
  ],
  ['{% for x in [1, 2, 3] %}{% if x == 2 %}{% break %}{% else %}{{ true }}{% endif %}{% endfor %}', {}, 'True'],
  [
    "{{ [1] == [1, 2] }}{{ [1, 2] == [1] }}{{ [1, [2, 3]] == [1, [2, 4]] }}{{ (1, 2) == (1, 2) }}{{ (1, 2) == [1, 2] }}{{ {'a': 1} == {'b': 1} }}{{ {'a': 1} == {} }}{{ {} == [] }}",
    {},
    'FalseFalseFalseTrueFalseFalseFalseFalse',
  ],
  [
    "{{ 'a' + 'b' }}{{ 1 + 2 }}{{ 1.5 + 1 }}{{ [1] + [2, 'x'] }}{{ 7 - 2 }}{{ 2 * 3 }}{{ 7 % 4 }}{{ 1 < 2 }}{{ 2 >= 3 }}",
    {},
    "ab32.5[1, 2, 'x']563TrueFalse",
  ],
  [
    "{{ 'äöü👍' | length }}{{ [1, 2] | length }}{{ {'a': 1} | length }}{{ '👍' | count }}{{ missing | length }}{{ missing | count }}{{ range(4) | length }}",
    {},
    '4211004',
  ],
  [
    "{{ ['1', 'a'] | join }}|{{ [1, 'a'] | join(', ') }}|{{ 'abc' | join('-') }}|{{ [] | join('x') }}|{{ ['a'] | join('x') }}",
    {},
    '1a|1, a|a-b-c||a',
  ],
  [
    "{{ 'a\nb\n\nc' | indent }}|{{ 'a\nb' | indent(2) }}|{{ 'a\nb' | indent(2, true) }}|{{ 'a\nb' | indent(width=1) }}|{{ 'a\n\nb' | indent(2, blank=true) }}",
    {},
    'a\n    b\n\n    c|a\n  b|  a\n  b|a\n b|a\n  \n  b',
  ],
  [
    "{{ [3, 1, 2] | sort }}{{ [3, 1] | first }}{{ [3, 1] | last }}{{ -3 | abs }}{{ '3' | int + 1 }}{{ [1, 2] | reverse | list }}",
    {},
    '[1, 2, 3]3134[2, 1]',
  ],
  [
    "{{ x | selectattr('a') | list | length }}{{ x | rejectattr('a') | list | length }}",
    { x: [{ a: 1 }, { a: 0 }] },
    '11',
  ],
  [
    '{{ 1.0 }}{{ 2.5 }}|{{ 10 // 3 }}|{{ 10 / 4 }}|{{ 10 / 5 }}|{{ 2 ** 3 }}|{{ -7 // 2 }}|{{ 0.1 + 0.2 }}|{{ 3.0 * 2 }}',
    {},
    '1.02.5|3|2.5|2.0|8|-4|0.30000000000000004|6.0',
  ],
  ['{{ x }}{{ [x] }}{{ x + 1 }}', { x: 1e-5 }, '1e-05[1e-05]1.00001'],
  [
    "{{ {'a': 1, 'b': [1, {'c': none}]} }}{{ [] }}{{ {} }}{{ (1, 'x') }}{{ [[]] }}{{ [1.0, 'a'] }}",
    {},
    "{'a': 1, 'b': [1, {'c': None}]}[]{}(1, 'x')[[]][1.0, 'a']",
  ],
  ["{% for x in {'k': 1, 'items': 2} %}{{ x }}{% endfor %}", {}, 'kitems'],
  [
    "{{ missing }}{{ missing ~ 'a' }}{{ missing == missing2 }}{{ not missing }}{{ missing | trim }}|{{ missing | capitalize }}|{{ missing | string }}",
    {},
    'aTrueTrue||',
  ],
  [
    '{% for k, v in d | dictsort %}{{ k }}{{ v }}{% endfor %}{% for k, v in d | items %}{{ k }}{% endfor %}',
    { d: { b: 1, a: 2 } },
    'a2b1ba',
  ],
  ["{{ ('a' ~ 'b') | upper ~ 'c' }}{{ ('a', 'b') | join('+') }}", {}, 'ABca+b'],
  [
    '{% for a in x %}{% for b in a %}{% if b %}{{ none }}{% elif loop.last %}{{ true }}{% else %}{{ [b] }}{% endif %}{% endfor %}{% endfor %}',
    {
      x: [
        [1, 0],
        [0, 0],
      ],
    },
    'NoneTrue[0]True',
  ],
  [
    '{% if a %}{% if a %}{{ true }}{% endif %}{% for i in [none] %}{{ i }}{% endfor %}{% set t %}{{ none }}{% endset %}{{ t }}{% endif %}',
    { a: 1 },
    'TrueNoneNone',
  ],
  [
    '{% macro f() %}{{ x }}{{ y is defined }}{% endmacro %}{% set x = 1 %}{% for y in [2] %}{{ f() }}{% endfor %}',
    {},
    '1False',
  ],
  [
    '{% macro f() %}{{ caller is defined }}{% endmacro %}{{ f() }}{% call f() %}x{% endcall %}{% for i in [1] %}{% call f() %}y{% endcall %}{% endfor %}',
    {},
    'FalseTrueTrue',
  ],
  [
    '{% macro f() %}{{ caller() }}|{% endmacro %}{% for i in [1, 2] %}{% call f() %}{{ i }}{{ loop.index }}{% endcall %}{% endfor %}',
    {},
    '11|22|',
  ],
  ['{% for x in [1, 2] %}{% set ns = namespace(a=x) %}{% set ns.a = ns.a + 1 %}{{ ns.a }}{% endfor %}', {}, '23'],
  ["{% set loop = 'l' %}{% for namespace in [1] %}{{ loop.index }}{% endfor %}{{ loop }}", {}, '1l'],
  [
    '{% for x in [1, 2] %}{% set q = x %}{% for y in [3] %}{{ q }}{% set q = 9 %}{{ q }}{% endfor %}{{ q }}{% endfor %}',
    {},
    '191292',
  ],
  [
    "{{ 'a,b' | replace(',', ';') }}{{ 'xaax' | trim('x') }}{{ none | trim }}{{ 5 | replace('5', '6') }}{{ true | capitalize }}",
    {},
    'a;baaNone6True',
  ],
  [
    "{{ 'a' if missing is not defined and 1 != 2 or false else 'b' }}{{ 1 == 1 and 'a' in 'abc' }}{{ not ('z' in 'abc') }}",
    {},
    'aTrueTrue',
  ],
  [
    "{{ d.a.strip() }}{{ d['a'].strip() }}{{ (d.a ~ ' ').split(' ')[1] }}{{ d.keys() | list | first }}{{ d.items() | list | length }}",
    { d: { a: ' x' } },
    'xxxa1',
  ],
  [
    "{{ d['items'] is defined }}{{ d.items is defined }}{{ d.values is defined }}{{ d.nothing is defined }}{{ d['a'].b }}",
    { d: { a: { b: 2 } } },
    'TrueTrueTrueFalse2',
  ],
  // loops that are left early, and lists that are joined
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

test.each(WRITTEN)('%j with %j is written as Jinja2 writes it', (source, variables, text) => {
  const write = jinja(source);
  expect([write(variables), write(variables)]).toEqual([text, text]);
});

test.each([
  ['{{ missing.part }}', 'part of an undefined value'],
  ['{{ missing[0] }}', 'a part of an undefined value'],
  ["{{ missing['a'] }}", 'a part of an undefined value'],
  ["{{ {'a': 1}.b.c }}", 'c of an undefined value'],
  ["{{ raise_exception('no ' ~ 1) }}", 'no 1'],
  ["{{ 'a' + 1 }}", 'StringValue and IntegerValue cannot be added'],
  ["{{ [1] + 'a' }}", 'ArrayValue and StringValue cannot be added'],
  ['{{ 1 | tojson(2) }}', 'tojson takes keyword arguments only'],
  ['{{ 1 | tojson(2, indent=1) }}', 'tojson takes keyword arguments only'],
  ['{{ [missing] | tojson }}', 'an undefined value or a function has no JSON'],
  ['{{ range | tojson }}', 'an undefined value or a function has no JSON'],
  ["{{ 'a'.split('') }}", 'an empty separator'],
  ["{{ 'a'.split(1) }}", 'a text is needed, not number'],
  ["{{ 'a'.split(',', 'x') }}", 'maxsplit is not a number'],
  ["{{ 'a'.strip([1]) }}", 'a text is needed, not object'],
  ["{{ 'a' | replace('b') }}", 'a text is needed, not undefined'],
  ["{{ 'a'.replace('b', 'c', 'd') }}", 'count is not a number'],
  ['{{ range(1, 2, 0) }}', 'range: a step of 0'],
  ['{{ range(100001) }}', 'range: over 100000 numbers'],
  ["{{ range('a') }}", 'range: over 100000 numbers'],
  ['{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}', 'Maximum call stack size exceeded'],
])('%j ends in an error that says %j', (source, message) => {
  expect(() => jinja(source)({})).toThrow(expect.objectContaining({ message }));
});

test.each([
  ['{{ 3 | join }}', /can’t be joined/],
  ['{{ none | join }}', /can’t be joined/],
  ['a{% continue %}', /continue stands outside of a loop/],
])('%s, which Jinja2 refuses too, is refused', (source, message) => {
  expect(() => jinja(source)({})).toThrow(message);
});
