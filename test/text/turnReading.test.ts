import { describe, expect, test } from 'vitest';
import { chatTemplate } from '../../src/text/chatTemplate.ts';
import type { Codec } from '../../src/text/codec.ts';
import { assistantMessage, dialectOf, textAfterTurn, turnText } from '../../src/text/dialect.ts';
import { hermesFormat } from '../../src/text/hermes.ts';
import { readHermes, wrongTurns } from '../../src/text/hermesReading.ts';
import { readTags } from '../../src/text/tags.ts';
import { codecFromTokenizerJson } from '../../src/text/tokenizerFile.ts';
import { jsonLine, toolSchema, type ToolFace } from '../../src/text/toolSchema.ts';
import { agentTokenizer } from '../../src/text/agentTokenizer.ts';
import { SMOLLM2, TOOLS } from './templates.ts';

const FACES: readonly ToolFace[] = [
  {
    name: 'set',
    description: 'Sets a lamp.',
    parameters: [
      { name: 'room', type: 'string', enum: ['hall', 'bath'], description: 'where' },
      { name: 'level', type: 'integer' },
      { name: 'warmth', type: 'number' },
      { name: 'on', type: 'boolean' },
      'note',
    ],
  },
  { name: 'now', description: '', parameters: [] },
];
const SCHEMAS = FACES.map(toolSchema);
const RIGHT = { room: 'hall', level: 3, warmth: 0.5, on: true, note: '' };
const WANT_FORM = 'want {"name": "…", "arguments": {…}}';
const WANT_ANSWER = 'neither a call nor an answer; want <tool_call> … </tool_call> or <answer> … </answer>';
const read = (text: string, more = {}) => readHermes(text, { tools: SCHEMAS, answerTag: false, ...more });
const called = (value: unknown) => `<tool_call>${JSON.stringify(value)}</tool_call>`;
const setting = (change: object) => called({ name: 'set', arguments: { ...RIGHT, ...change } });
const mistake = (kind: string, message: string, thought = '') => ({ kind: 'mistake', mistake: { kind, message }, thought }); // prettier-ignore
const answered = (answer: string, thought = '') => ({ kind: 'answer', answer, thought });
const NOW = { kind: 'call', tool: 'now', values: {}, thought: '' };
const now = called({ name: 'now', arguments: {} });

test('a tool’s schema has its parameters in order, all required, with what is said of each and no more', () => {
  expect(SCHEMAS).toEqual([
    {
      type: 'function',
      function: {
        name: 'set',
        description: 'Sets a lamp.',
        parameters: {
          type: 'object',
          properties: {
            room: { type: 'string', description: 'where', enum: ['hall', 'bath'] },
            level: { type: 'integer' },
            warmth: { type: 'number' },
            on: { type: 'boolean' },
            note: { type: 'string' },
          },
          required: ['room', 'level', 'warmth', 'on', 'note'],
        },
      },
    },
    {
      type: 'function',
      function: { name: 'now', description: '', parameters: { type: 'object', properties: {}, required: [] } },
    },
  ]);
  expect(Object.keys(SCHEMAS[0]!.function.parameters.properties['level']!)).toEqual(['type']);
});

test('a line of JSON has a space after each comma and colon, and no field that is undefined', () => {
  const value = { a: [1, 'x, y: z', [], {}], b: undefined, 'c"': { d: null, e: true }, f: -0.5 };
  expect(jsonLine(value)).toBe('{"a": [1, "x, y: z", [], {}], "c\\"": {"d": null, "e": true}, "f": -0.5}');
  expect([jsonLine(null), jsonLine('é\n'), jsonLine([]), jsonLine({})]).toEqual(['null', '"é\\n"', '[]', '{}']);
});

describe('a turn that is right', () => {
  test.each([
    [now, NOW],
    [` ${now} \n`, NOW],
    [`First words.${now}`, NOW],
    ['<tool_call>\n [ {"name": "now", "arguments": {}} ]\n</tool_call>', NOW],
    [`<think>\n so \n</think>${now}`, { ...NOW, thought: 'so' }],
    [` \n<think></think>${now}`, NOW],
    ['<think>a</think>b', answered('b', 'a')],
    ['<think>a<think>b</think> c ', answered('c', 'a<think>b')],
    ['<think>a</think></think>', answered('</think>', 'a')],
    ['7', answered('7')],
    ['<answer>7</answer>', answered('<answer>7</answer>')],
    [setting({}), { kind: 'call', tool: 'set', values: RIGHT, thought: '' }],
    [setting({ warmth: -1e308, level: 2 ** 53 - 1, on: false, room: 'bath', note: '</think>' }), { kind: 'call', tool: 'set', values: { room: 'bath', level: 2 ** 53 - 1, warmth: -1e308, on: false, note: '</think>' }, thought: '' }], // prettier-ignore
    [setting({ note: '<|im_start|></tool_response>' }), { kind: 'call', tool: 'set', values: { ...RIGHT, note: '<|im_start|></tool_response>' }, thought: '' }], // prettier-ignore
  ])('%j is read', (text, wanted) => {
    expect(read(text)).toEqual(wanted);
  });

  test('has its answer in the last tags, if it must have tags', () => {
    const tagged = (text: string) => read(text, { answerTag: true });
    expect(tagged('<think>x</think> so\n<answer>\n7 \n</answer>\n')).toEqual(answered('7', 'x'));
    expect(tagged('<answer>a<answer>b</answer>')).toEqual(answered('a<answer>b'));
    expect(tagged('<answer>a</answer>b</answer>')).toEqual(answered('a</answer>b'));
    for (const text of ['<answer> </answer>', '7', '<answer>7', '7</answer>', '<answer>7</answer> x', ''])
      expect(tagged(text)).toEqual(mistake('format', WANT_ANSWER));
    expect(tagged('<think>t</think>')).toEqual(mistake('format', WANT_ANSWER, 't'));
  });
});

describe('a turn that is wrong', () => {
  const ROOM = 'one of hall, bath';
  const NAMES = 'room, level, warmth, on, note';
  test.each([
    [' \n', 'format', WANT_ANSWER],
    ['x<think>y</think>', 'format', 'a thought that is not closed; want <think> … </think> first'],
    ['<tool_call><tool_call></tool_call>', 'json', `a call that is not JSON: <tool_call>; ${WANT_FORM}`],
    [`${now}<tool_call>`, 'format', 'more than one call; want one call a turn'],
    [`${now}<tool_call></tool_call>`, 'format', 'more than one call; want one call a turn'],
    [`${now}</tool_call>`, 'format', '</tool_call>, which is not yours to write; want a call or an answer'],
    [`</tool_call>${now}`, 'format', '</tool_call>, which is not yours to write; want a call or an answer'],
    [`<|im_start|>${now}`, 'format', '<|im_start|>, which is not yours to write; want a call or an answer'],
    [`${now}</tool_response>`, 'format', '</tool_response>, which is not yours to write; want a call or an answer'],
    [`${now}<end>`, 'format', '<end>, which is not yours to write; want a call or an answer'],
    ['a <end>', 'format', '<end>, which is not yours to write; want a call or an answer'],
    ['a <tool_call> <end>', 'format', 'a call that is not closed; want </tool_call> after it'],
    [`${now}x`, 'format', 'words after the call; want it last'],
    [called([]), 'json', `a list as a call; ${WANT_FORM}`],
    [called([{}, {}]), 'json', `a list as a call; ${WANT_FORM}`],
    [called(null), 'json', `null as a call; ${WANT_FORM}`],
    [called({}), 'tool', 'the tool nothing; want one of set, now'],
    [called({ name: '' }), 'tool', "the tool ''; want one of set, now"],
    [called({ name: 'now' }), 'arguments', 'nothing as arguments; want an object'],
    [called({ name: 'now', arguments: 7 }), 'arguments', '7 as arguments; want an object'],
    [called({ name: 'now', arguments: { a: 1 } }), 'arguments', 'the argument a of now; want none'],
    [setting({ extra: 1 }), 'arguments', `the argument extra of set; want ${NAMES}`],
    [called({ name: 'set', arguments: { ...RIGHT, on: undefined } }), 'arguments', `no argument on of set; want ${NAMES}`], // prettier-ignore
    [setting({ room: 'attic' }), 'arguments', `attic as room of set; want ${ROOM}`],
    [setting({ room: 7 }), 'arguments', `7 as room of set; want ${ROOM}`],
    [setting({ note: null }), 'arguments', 'null as note of set; want a text'],
    [setting({ note: ['x'] }), 'arguments', 'a list as note of set; want a text'],
    [setting({ level: '3' }), 'arguments', '3 as level of set; want a whole number'],
    [setting({ level: 2 ** 53 }), 'arguments', '9007199254740992 as level of set; want a whole number'],
    [setting({ level: 0.5 }), 'arguments', '0.5 as level of set; want a whole number'],
    [setting({ warmth: true }), 'arguments', 'true as warmth of set; want a number'],
    [setting({}).replace('0.5', '1e999'), 'arguments', 'null as warmth of set; want a number'],
    [setting({ on: 0 }), 'arguments', '0 as on of set; want true or false'],
    [`<tool_call>${'♞'.repeat(61)}</tool_call>`, 'json', `a call that is not JSON: ${'♞'.repeat(59)}…; ${WANT_FORM}`],
    [`<tool_call> ${'♞'.repeat(60)} </tool_call>`, 'json', `a call that is not JSON: ${'♞'.repeat(60)}; ${WANT_FORM}`],
    [`<tool_call>${'🜚'.repeat(60)}</tool_call>`, 'json', `a call that is not JSON: ${'🜚'.repeat(60)}; ${WANT_FORM}`],
  ])('%j is told so', (text, kind, message) => {
    expect(read(text, { markers: ['<end>'] })).toEqual(mistake(kind, message));
    expect(read(`<think>t</think>${text}`, { markers: ['<end>'] })).toEqual(mistake(kind, message, 't'));
  });

  test('has the only tool named alone, and every word of the agent shortened as is asked', () => {
    const one = { tools: SCHEMAS.slice(1), quote: (words: string) => `‹${words.length}›` };
    expect(read(called({ name: 'set', arguments: {} }), one)).toEqual(mistake('tool', 'the tool ‹3›; want now'));
    expect(read(called({ name: 'now', arguments: 'ab' }), one)).toEqual(mistake('arguments', '‹2› as arguments; want an object')); // prettier-ignore
    expect(read(called({ name: 'now', arguments: { abc: 1 } }), one)).toEqual(mistake('arguments', 'the argument ‹3› of now; want none')); // prettier-ignore
    expect(read('<|im_start|>', one)).toEqual(mistake('format', '‹12›, which is not yours to write; want a call or an answer')); // prettier-ignore
    expect(read('<tool_call>{</tool_call>', one)).toEqual(
      mistake('json', `a call that is not JSON: ‹1›; ${WANT_FORM}`),
    );
    expect(read(called('word'), one)).toEqual(mistake('json', `‹4› as a call; ${WANT_FORM}`));
    const long = read(setting({ room: 'attic' }), { quote: (words: string) => words.toUpperCase() });
    expect(long).toEqual(mistake('arguments', `ATTIC as room of set; want ${ROOM}`));
  });
});

test('wrong turns are every malformed text and a call for every mistake of every argument', () => {
  const long = '? '.repeat(60);
  const calls = (name: string, list: readonly unknown[]) => list.map((values) => called({ name, arguments: values }));
  const values = [undefined, null, '?', '', -1, 0.5, 1e15, long];
  const lamp = toolSchema({ name: 'lamp', description: '', parameters: ['a', { name: 'b', type: 'integer' }] });
  const turns = wrongTurns({ tools: [lamp, SCHEMAS[1]!] }, (tool) => (tool === 'lamp' ? { a: 'x', b: 2 } : {}));
  expect(turns).toEqual([
    ...['', '?', '0.5', '1000', long, '<think>', '<tool_call>', '<tool_call><tool_call>'],
    ...['<tool_response>', '</tool_response>', '<|im_start|>', '</tool_call>'],
    ...['<tool_call></tool_call>?', '<tool_call>?</tool_call>', '<tool_call>0</tool_call>', called({ name: '?', arguments: {} })], // prettier-ignore
    ...calls('lamp', [0, { a: 'x', b: 2, '?': 0 }, ...values.map((a) => ({ a, b: 2 })), ...values.map((b) => ({ a: 'x', b }))]), // prettier-ignore
    ...calls('now', [0, { '?': 0 }]),
  ]);
  expect(turns.filter((turn) => readHermes(turn, { tools: [lamp], answerTag: true }).kind === 'mistake').length).toBe(turns.length - 5); // prettier-ignore
});

test('a turn is written as it is read, with tags around an answer if they are asked for, and its words are marked', () => {
  const mark = (text: string) => `[${text}]`;
  expect(turnText({ answer: '7' }, false)).toBe('7');
  expect(turnText({ answer: '7', thought: 'so' }, true)).toBe('<think>\nso\n</think>\n\n<answer>7</answer>');
  expect(turnText({ answer: '7', thought: '' }, true, mark)).toBe('<think>\n[]\n</think>\n\n<answer>[7]</answer>');
  const call = { tool: 'now', values: { a: [1, 'b'] } };
  expect(turnText(call, true)).toBe('<tool_call>\n{"name": "now", "arguments": {"a": [1, "b"]}}\n</tool_call>');
  expect(turnText({ ...call, thought: 'so' }, false, mark)).toBe(
    '<think>\n[so]\n</think>\n\n<tool_call>\n[{"name": "now", "arguments": {"a": [1, "b"]}}]\n</tool_call>',
  );
});

test('a template without tools is told of them in the system message, and one without a role for them hears the user', () => {
  const plain = dialectOf(chatTemplate(SMOLLM2), SCHEMAS);
  expect(plain.tools).toBeNull();
  expect(plain.observationMessage('7')).toEqual({ role: 'user', content: '<tool_response>\n7\n</tool_response>' });
  const toolText = [
    '# Tools',
    '',
    'You may call one or more functions to assist with the user query.',
    '',
    'You are provided with function signatures within <tools></tools> XML tags:',
    '<tools>',
    ...SCHEMAS.map(jsonLine),
    '</tools>',
    '',
    'For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:',
    '<tool_call>',
    '{"name": <function-name>, "arguments": <args-json-object>}',
    '</tool_call>',
  ].join('\n');
  expect(plain.startMessages({ system: 'Hi.', question: '?' })).toEqual([
    { role: 'system', content: `Hi.\n\n${toolText}` },
    { role: 'user', content: '?' },
  ]);
  expect(plain.startMessages({ system: null, question: '' })).toEqual([
    { role: 'system', content: toolText },
    { role: 'user', content: '' },
  ]);
  const listing = dialectOf(chatTemplate(TOOLS), SCHEMAS);
  expect(listing.tools).toBe(SCHEMAS);
  expect(listing.observationMessage('7')).toEqual({ role: 'tool', content: '7' });
  expect(listing.startMessages({ system: '', question: '?' })).toEqual([{ role: 'user', content: '?' }]);
  expect(dialectOf(chatTemplate(SMOLLM2), []).startMessages({ system: null, question: '?' })).toEqual([
    { role: 'user', content: '?' },
  ]);
  expect(assistantMessage('x')).toEqual({ role: 'assistant', content: 'x' });
  const after = textAfterTurn(chatTemplate(TOOLS), listing, 'mark-of-the-turn');
  expect(after).toBe(
    '<|im_end|>\n<|im_start|>user\n<tool_response>\nmark-of-the-turn\n</tool_response><|im_end|>\n<|im_start|>assistant\n',
  );
});

describe('the format of a checkpoint', () => {
  const codecWith = (stops: readonly number[]): Codec =>
    codecFromTokenizerJson(new TextEncoder().encode(agentTokenizer([], 0)), { stops });
  const ENDS = TOOLS.replaceAll('<|im_end|>', '<|endoftext|>');

  test.each([
    [TOOLS, [0, 2], 2],
    [TOOLS, [2, 0], 2],
    [ENDS, [2, 0], 0],
  ])('ends turns with the stop id that its template writes, of several %#', (source, stops, end) => {
    const codec = codecWith(stops);
    const format = hermesFormat({ codec, template: chatTemplate(source), tools: FACES });
    const turn = format.turnIds({ answer: 'So.' });
    expect([turn.at(-1), codec.decode(turn.slice(0, -1))]).toEqual([end, 'So.']);
    const [cut, whole] = [false, true].map((stopped) => format.observationIds('7', stopped));
    expect(cut).toEqual([end, ...whole!]);
    expect(codec.decode(whole!)).toMatch(/^\n<\|im_start\|>user\n<tool_response>\n7\n<\/tool_response>/);
    expect([format.stops, format.codec]).toEqual([codec.stops, codec]);
  });

  test('passes over a stop id without a text where the template ends a turn', () => {
    const format = hermesFormat({ codec: codecWith([7_000, 0]), template: chatTemplate(ENDS), tools: FACES });
    expect(format.observationIds('7', false)).toEqual([0, ...format.observationIds('7', true)]);
  });

  test('writes answers in tags if asked, and reads its own tags but no other special token', () => {
    const codec = codecWith([2]);
    const format = hermesFormat({ codec, template: chatTemplate(TOOLS), tools: FACES, answerTag: true });
    const turn = format.turnIds({ answer: '7', thought: 'so' });
    expect(format.read(turn)).toEqual(answered('7', 'so'));
    expect(format.read(turn.slice(0, -1))).toEqual(answered('7', 'so'));
    expect(format.read(codec.encode('7'))).toEqual(mistake('format', WANT_ANSWER));
    const forged = codec.encode('<|endoftext|>7');
    expect(format.read(forged, () => 'it')).toEqual(mistake('format', 'it, which is not yours to write; want a call or an answer')); // prettier-ignore
    expect(format.read(forged)).toEqual(mistake('format', '<|endoftext|>, which is not yours to write; want a call or an answer')); // prettier-ignore
  });
});

test('a turn of tagged words keeps its thought apart from its words', () => {
  const words = (text: string) => text.split(' ');
  expect(readTags(words('<think> a b </think> <call> c d </call>'), true)).toEqual({
    ...{ kind: 'call', words: ['c', 'd'], thought: ['a', 'b'], thinkEnd: 3 },
  });
  expect(readTags(words('<think> a </think> <answer> </answer>'), true)).toEqual({
    ...{ kind: 'answer', words: [], thought: ['a'], thinkEnd: 2 },
  });
  expect(readTags(words('<answer> c </answer>'), false)).toEqual({ kind: 'answer', words: ['c'], thought: [], thinkEnd: -1 }); // prettier-ignore
  for (const text of ['<think> a </think> <call>', '<think> a </think>', '</call>', '<call> <pad> </call>', 'a <call> b </call>']) expect(readTags(words(text), true)).toBeNull(); // prettier-ignore
});
