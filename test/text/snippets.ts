/** Small templates with what Python writes for each; test/python holds the last column against Transformers. */
export const SNIPPETS: readonly (readonly [
  source: string,
  variables: Readonly<Record<string, unknown>>,
  text: string,
])[] = [
  // strip, with and without letters
  [
    String.raw`[{{ x.strip('\n') }}|{{ x.lstrip('\n') }}|{{ x.rstrip('\n') }}]`,
    { x: '\n\n a \t\n' },
    '[ a \t| a \t\n|\n\n a \t]',
  ],
  [`[{{ x.strip() }}|{{ x.lstrip() }}|{{ x.rstrip() }}|{{ x | trim }}]`, { x: ' \n a \t' }, '[a|a \t| \n a|a]'],
  [
    `[{{ x.strip('ab') }}|{{ x.lstrip('👍') }}|{{ x | trim('👎b') }}]`,
    { x: '👍abxba👎b' },
    '[👍abxba👎|abxba👎b|👍abxba]',
  ],
  [`[{{ x.strip() }}]`, { x: '\u001c\u0085\ufeff\u2003 y\u3000\ufeff' }, '[\ufeff\u2003 y\u3000\ufeff]'],
  [`[{{ x | trim }}{{ missing | trim }}]`, { x: '' }, '[]'],
  // split
  [
    `{{ x.split(',') | join('|') }}/{{ x.split(',', 1) | join('|') }}/{{ x.split(',', maxsplit=2) | join('|') }}`,
    { x: 'a,,b,c' },
    'a||b|c/a|,b,c/a||b,c',
  ],
  [
    `{{ x.split() | join('|') }}/{{ x.split(none, 1) | join('|') }}`,
    { x: ' a \u0085b\ufeff  c ' },
    'a|b\ufeff|c/a|b\ufeff  c ',
  ],
  [
    `{{ x.rsplit(', ', 1) | join('|') }}/{{ x.rsplit(maxsplit=1) | join('|') }}`,
    { x: ' a, b, c ' },
    ' a, b|c / a, b,|c',
  ],
  [
    `{{ x.split('</think>')[-1].lstrip('-') }}/{{ x.split('</think>')[0].rstrip('-').split('<think>')[-1] }}`,
    { x: '<think>-t-</think>--a-' },
    'a-/-t',
  ],
  [`{{ x.splitlines() | join('|') }}`, { x: 'a\r\nb\n\nc\u2028d\n' }, 'a|b||c|d'],
  // other methods of texts
  [
    `{{ x.startswith('ab') }} {{ x.startswith(('x', 'a')) }} {{ x.endswith(('x', 'y')) }} {{ x.endswith('') }}`,
    { x: 'abc' },
    'True True False True',
  ],
  [
    `{{ x.replace('a', 'b') }} {{ x.replace('a', 'b', 1) }} {{ x | replace('a', '$&', 2) }}`,
    { x: 'aaa' },
    'bbb baa $&$&a',
  ],
  [`{{ x.removeprefix('ab') }} {{ x.removesuffix('ba') }} {{ x.removeprefix('c') }}`, { x: 'abcba' }, 'cba abc abcba'],
  [
    `{{ x.capitalize() }} {{ x | capitalize }} {{ x.upper() }} {{ x | lower }}`,
    { x: 'heLLo ΣΑΣ' },
    'Hello σας Hello σας HELLO ΣΑΣ hello σας',
  ],
  [`{{ x | length }} {{ missing | length }} {{ x[:2] }} {{ x[::-1] }}`, { x: '👍ab' }, '3 0 👍a ba👍'],
  // dicts
  [
    `{% for k, v in x.items() %}{{ k }}={{ v }};{% endfor %}{{ x.get('a') }}{{ x.get('z', 'no') }}`,
    { x: { a: 1, items: 2, get: 3, keys: 4 } },
    'a=1;items=2;get=3;keys=4;1no',
  ],
  [
    `{% for k in x %}{{ k }}{% endfor %}{{ x.keys() | list | length }}{{ 'keys' in x }}{{ x['items'] }}`,
    { x: { a: 1, items: 2, keys: 3 } },
    'aitemskeys3True2',
  ],
  [
    `{% for k, v in x | dictsort %}{{ k }}{{ v }}{% endfor %}{% for k, v in x | items %}{{ k }}{% endfor %}`,
    { x: { b: 1, a: 2 } },
    'a2b1ba',
  ],
  // what is written
  [`{{ true }} {{ none }} {{ 1 }} {{ 1.0 }} {{ x }} {{ missing }}.`, { x: 0.00001 }, 'True None 1 1.0 1e-05 .'],
  [
    `{{ x }}`,
    { x: { a: [1, 2.5, "it's", 'say "it\'s"', '\n\u0000é\u200b', true, null, {}] } },
    `{'a': [1, 2.5, "it's", 'say "it\\'s"', '\\n\\x00é\\u200b', True, None, {}]}`,
  ],
  [`{{ 'a' ~ 1 ~ none ~ true ~ [1, 'b'] ~ missing }} {{ [1] | string }}`, {}, "a1NoneTrue[1, 'b'] [1]"],
  // JSON
  [
    `{{ x | tojson }}`,
    { x: { a: 'é"\n\u007f👍', b: [1, 1.5, 1e-7, true, null], c: {}, d: [] } },
    '{"a": "é\\"\\n\u007f👍", "b": [1, 1.5, 1e-07, true, null], "c": {}, "d": []}',
  ],
  [`{{ x | tojson(ensure_ascii=true) }}`, { x: 'é\u007f👍 ~' }, '"\\u00e9\\u007f\\ud83d\\udc4d ~"'],
  [
    `{{ x | tojson(indent=2) }}`,
    { x: { a: [1, { b: [] }], c: {} } },
    '{\n  "a": [\n    1,\n    {\n      "b": []\n    }\n  ],\n  "c": {}\n}',
  ],
  [
    `{{ x | tojson(indent=0) }}{{ x | tojson(separators=(',', ':')) }}`,
    { x: { a: [1, 2] } },
    '{\n"a": [\n1,\n2\n]\n}{"a":[1,2]}',
  ],
  [
    `{{ x | tojson(sort_keys=true) }}`,
    { x: { b: 1, a: 2, B: 3, ａ: 4, '👍': 5 } },
    '{"B": 3, "a": 2, "b": 1, "ａ": 4, "👍": 5}',
  ],
  // comparison
  [
    `{{ missing == none }} {{ '1' == 1 }} {{ true == 1 }} {{ [1, 'a'] == [1, 'a'] }} {{ {'a': 1} == {'a': 1} }} {{ 'a' != 'b' }} {{ [1] == [1, 2] }}`,
    {},
    'False False True True True True False',
  ],
  [
    `{{ 'a' in 'cat' }} {{ 'a' in ['a'] }} {{ 'a' not in {'b': 1} }} {{ missing is defined }} {{ none is none }} {{ x is string }} {{ x is mapping }}`,
    { x: {} },
    'True True True False True False True',
  ],
  // loops and names
  [`{% for x in [1, 2] %}{% if x == 1 %}{% set y = 5 %}{% endif %}{{ y }}.{% endfor %}{{ y }}`, {}, '5..'],
  [`{% set y = 0 %}{% for x in [1, 2] %}{{ y }}{% set y = x %}{{ y }}{% endfor %}{{ y }}`, {}, '01020'],
  [
    `{% set ns = namespace(n=0, seen=false) %}{% for x in [1, 2, 3] %}{% set ns.n = ns.n + x %}{% set ns.seen = true %}{% endfor %}{{ ns.n }}{{ ns.seen }}`,
    {},
    '6True',
  ],
  [
    `{% for x in [1, 2, 3, 4] %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 4 %}{% break %}{% endif %}{{ x }}{{ loop.first }}{{ loop.index }}{% endfor %}`,
    {},
    '1True13False3',
  ],
  [
    `{% for x in missing %}{{ x }}{% else %}none{% endfor %}{% for x in [3, 4] if x > 3 %}{{ loop.last }}{{ x }}{{ loop.length }}{% endfor %}`,
    {},
    'noneTrue41',
  ],
  [`{% for a, b in [[1, 2], [3, 4]] %}{{ a }}{{ b }}{{ loop.previtem is defined }}{% endfor %}`, {}, '12False34True'],
  [
    `{% macro f(a, b='d') %}<{{ a }}{{ b }}>{% endmacro %}{{ f(1) }}{{ f(1, b=2) }}{% set x %}in{{ 1 }}{% endset %}{{ x }}`,
    {},
    '<1d><12>in1',
  ],
  [
    `{%- if x %}\n  {%- for m in x[1:] %}\n    {{- m.a if m.a else 'no' }}\n  {%- endfor %}\n{%- endif %}\n`,
    { x: [{}, { a: 'yes' }, {}] },
    'yesno',
  ],
  [`  {% if true %}\n  a\n  {% endif %}\nb\n`, {}, '  a\nb'],
  [
    `{{ range(3) | list }}{% for i in range(1, 6, 2) %}{{ i }}{% endfor %}{{ -7 // 2 }}{{ 7 / 2 }}{{ 2 ** 3 }}`,
    {},
    '[0, 1, 2]135-43.58',
  ],
  [
    `{{ x | selectattr('role', 'equalto', 'tool') | list | length }}{{ x | map(attribute='role') | join(',') }}{{ x | first }}`,
    { x: [{ role: 'tool' }, { role: 'user' }] },
    "1tool,user{'role': 'tool'}",
  ],
  [`{{ x | default('d') }}{{ '' | default('e', true) }}{{ missing | default('f') }}`, { x: '' }, 'ef'],
  [
    `{% set x = 1 %}{% macro f() %}{{ x }}{{ caller() if caller else '' }}{% endmacro %}{% for x in [2] %}{{ f() }}{% call f() %}c{{ x }}{% endcall %}{% endfor %}`,
    {},
    '11c2',
  ],
  [`{{ 'a' + 'b' }}{{ 1 + 2 }}{{ [1] + [2] }}{{ 'x' and 0 or 'y' }}`, {}, 'ab3[1, 2]y'],
];

/** Templates that raise in Python, and must not be written as something else. */
export const RAISING: readonly string[] = [
  '{{ missing.part }}',
  '{{ missing.part.part }}',
  "{{ raise_exception('no') }}",
  "{{ 'a'.split('') }}",
  "{{ 'a'.strip(1) }}",
  '{{ missing | tojson }}',
  "{{ 'a' + 1 }}",
  "{{ 'a' + none }}",
];
