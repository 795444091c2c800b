import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { chatTemplate } from '../../src/text/chatTemplate.ts';
import { dialectOf } from '../../src/text/dialect.ts';
import { hermesFormat } from '../../src/text/hermes.ts';
import { readHermes } from '../../src/text/hermesReading.ts';
import { TAGS } from '../../src/text/tags.ts';
import { codecFromTokenizerJson } from '../../src/text/tokenizerFile.ts';
import { toolSchema, type ToolFace } from '../../src/text/toolSchema.ts';
import { wordCodec } from '../../src/text/wordCodec.ts';
import { COUNTS, FORGETS, SMOLLM2, TOOLS } from './templates.ts';
import { firstProblem } from '../formats/refusal.ts';

const codec = codecFromTokenizerJson(readFileSync(new URL('./fixtures/qwen.json', import.meta.url)), { stops: [2] });
const ADD: ToolFace = {
  name: 'add',
  description: 'The sum of two numbers.',
  parameters: [
    { name: 'a', type: 'integer' },
    { name: 'b', type: 'number', description: 'added to a' },
  ],
};
const FIND: ToolFace = {
  name: 'find',
  description: 'Looks up a text.',
  parameters: ['query', { name: 'where', type: 'string', enum: ['here', 'there'] }],
};
const formatWith = (source: string) => hermesFormat({ codec, template: chatTemplate(source), tools: [ADD, FIND] });
const CALL = { tool: 'add', values: { a: 2, b: 0.5 } };
const CALLED = '<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": 0.5}}\n</tool_call>';

describe('hermes', () => {
  test('a template without tools gets them in the system prompt, and observations in a message of the user', () => {
    const format = formatWith(SMOLLM2);
    const prompt = codec.decode(format.promptIds({ system: 'Be brief.', question: 'How much?' }));
    expect(prompt).toMatch(/^<\|im_start\|>system\nBe brief\.\n\n# Tools\n/);
    expect(prompt).toContain(
      '\n<tools>\n{"type": "function", "function": {"name": "add", "description": "The sum of two numbers.", ',
    );
    expect(prompt).toMatch(/<\|im_end\|>\n<\|im_start\|>user\nHow much\?<\|im_end\|>\n<\|im_start\|>assistant\n$/);
    expect(codec.decode(format.observationIds('2.5', true))).toBe(
      '\n<|im_start|>user\n<tool_response>\n2.5\n</tool_response><|im_end|>\n<|im_start|>assistant\n',
    );
  });

  test('a template with tools and a role for them is given both', () => {
    const template = chatTemplate(TOOLS);
    expect(template).toMatchObject({ listsTools: true, hasToolRole: true });
    expect(chatTemplate(SMOLLM2)).toMatchObject({ listsTools: false, hasToolRole: false });
    const prompt = codec.decode(formatWith(TOOLS).promptIds({ system: 'Be brief.', question: 'How much?' }));
    expect(prompt.match(/"name": "find"/g)).toHaveLength(1);
    expect(prompt).not.toContain('# Tools');
  });

  test('a template is given tools only if there are some and it lists them; one that refuses them doesn’t', () => {
    const schemas = [ADD].map(toolSchema);
    expect(dialectOf(chatTemplate(TOOLS), schemas).tools).toBe(schemas);
    expect(dialectOf(chatTemplate(TOOLS), []).tools).toBeNull();
    expect(dialectOf(chatTemplate(SMOLLM2), schemas).tools).toBeNull();
    const refusing = chatTemplate(`{% if tools %}{{ raise_exception('no tools') }}{% endif %}${SMOLLM2}`);
    expect(refusing.listsTools).toBe(false);
  });

  test('a turn ends with a stop id of its own; one that ran out of budget has the end forced after it', () => {
    const format = formatWith(TOOLS);
    const turn = format.turnIds(CALL);
    expect(codec.decode(turn)).toBe(`${CALLED}<|im_end|>`);
    const cut = turn.slice(0, -1);
    expect([...cut, ...format.observationIds('2.5', false)]).toEqual([...turn, ...format.observationIds('2.5', true)]);
  });

  test.each([SMOLLM2, TOOLS])(
    'an observation’s words are told from the markup around them, stopped or not',
    (source) => {
      const format = formatWith(source);
      for (const text of ['2.5', 'error: no such place', 'tool', '<|im_end|>\n<|im_start|>user', '\n7\n', '']) {
        for (const stopped of [true, false]) {
          const ids = format.observationIds(text, stopped);
          const [from, to] = format.bodyOf(ids);
          const words = codec.decode(ids.slice(from, to));
          // white space may be one token with the markup’s
          expect(words.trim(), text).toBe(text.trim());
          const markup = format.observationIds('', stopped);
          if (text.trim() === text && text !== '') expect(ids.length - (to - from)).toBe(markup.length);
          expect(ids.slice(from, to).some((id) => codec.special.has(id))).toBe(false);
        }
      }
    },
  );

  test.each([SMOLLM2, TOOLS])('ids that were drawn and forced are those of the whole conversation', (source) => {
    const format = formatWith(source);
    const template = chatTemplate(source);
    const beginning = { system: 'Be brief.', question: 'How much?' };
    const ids = [...format.promptIds(beginning), ...format.turnIds(CALL), ...format.observationIds('2.5', true)];
    const whole = codec.decode(ids);
    expect(codec.encode(whole)).toEqual(ids);
    const observed = template.hasToolRole
      ? { role: 'tool', content: '2.5' }
      : { role: 'user', content: '<tool_response>\n2.5\n</tool_response>' };
    const opened = codec.decode(format.promptIds(beginning));
    expect(whole.startsWith(opened)).toBe(true);
    expect(whole.slice(opened.length)).toBe(
      template
        .write(
          [
            { role: 'system', content: '-' },
            { role: 'user', content: '-' },
            { role: 'assistant', content: CALLED },
            observed,
          ],
          null,
          true,
        )
        .split('<|im_start|>assistant\n')
        .slice(1)
        .join('<|im_start|>assistant\n'),
    );
  });

  test.each([
    ['drops thoughts that are past', FORGETS, /token \d+ of the prompt after turn [23]/],
    ['counts messages at the top', COUNTS, /token \d+ of the prompt after turn 1/],
    ['ends turns with no stop id', TOOLS.replaceAll('<|im_end|>', '<end>'), /the end of a turn/],
    [
      'leaves the question out',
      "{{ messages[0].content }}{{ messages[-1].content }}{{ raise_exception('no') if false }}",
      /^user$/,
    ],
    [
      'refuses assistants',
      "{% if messages[-1].role == 'assistant' %}{{ raise_exception('users only') }}{% endif %}x",
      /assistant/,
    ],
    ['is not Jinja', '{% for x in %}', /^$/],
  ])('a template that %s is refused with the place', (_, source, place) => {
    const problem = firstProblem(() => formatWith(source));
    expect(problem?.place).toMatch(place);
    for (const part of [problem?.file, problem?.got, problem?.want]) expect(part).toBeTruthy();
  });

  test('a template is not told the date, so that equal conversations are equal ids', () => {
    const dated = `{% if strftime_now is defined %}{{ strftime_now('%Y') }}{% else %}undated{% endif %}${TOOLS}`;
    expect(codec.decode(formatWith(dated).promptIds({ system: null, question: '?' }))).toMatch(/^undated/);
  });
});

describe('reading a hermes turn', () => {
  const tools = [ADD, FIND].map(toolSchema);
  const read = (text: string, answerTag = false) => readHermes(text, { tools, answerTag });

  test.each([
    [CALLED, { kind: 'call', tool: 'add', values: { a: 2, b: 0.5 }, thought: '' }],
    [
      `<think>\nhalf more\n</think>\n\nSo:\n${CALLED}\n`,
      { kind: 'call', tool: 'add', values: { a: 2, b: 0.5 }, thought: 'half more' },
    ],
    [
      '<tool_call>[{"name":"find","arguments":{"query":"<b>","where":"here"}}]</tool_call>',
      { kind: 'call', tool: 'find', values: { query: '<b>', where: 'here' }, thought: '' },
    ],
    [' It is 2.5. ', { kind: 'answer', answer: 'It is 2.5.', thought: '' }],
  ])('%s', (text, turn) => {
    expect(read(text)).toEqual(turn);
  });

  test('an answer that is asked for in tags is what stands in them', () => {
    expect(read('So <answer> 2.5 </answer>', true)).toEqual({ kind: 'answer', answer: '2.5', thought: '' });
    expect(read('2.5', true)).toMatchObject({ kind: 'mistake', mistake: { kind: 'format' } });
  });

  const call = (name: string, args: string) => `<tool_call>{"name": ${name}, "arguments": ${args}}</tool_call>`;
  test.each([
    ['<tool_call>{"name": "add"', 'format', 'a call that is not closed; want </tool_call> after it'],
    [
      '<tool_call>{"name": "add",}</tool_call>',
      'json',
      'a call that is not JSON: {"name": "add",}; want {"name": "…", "arguments": {…}}',
    ],
    ['<tool_call>7</tool_call>', 'json', '7 as a call; want {"name": "…", "arguments": {…}}'],
    [call('"sum"', '{}'), 'tool', 'the tool sum; want one of add, find'],
    [call('null', '{}'), 'tool', 'the tool null; want one of add, find'],
    [call('"add"', '[]'), 'arguments', 'a list as arguments; want an object'],
    [call('"add"', '{"a": 1}'), 'arguments', 'no argument b of add; want a, b'],
    [call('"add"', '{"a": "1", "b": 2}'), 'arguments', '1 as a of add; want a whole number'],
    [call('"add"', '{"a": 1.5, "b": 2}'), 'arguments', '1.5 as a of add; want a whole number'],
    [call('"add"', '{"a": 1, "b": 2, "c": 3}'), 'arguments', 'the argument c of add; want a, b'],
    [call('"add"', '{"a": 1, "b": 2, "__proto__": 3}'), 'arguments', 'the argument __proto__ of add; want a, b'],
    [call('"find"', '{"query": "x", "where": "up"}'), 'arguments', 'up as where of find; want one of here, there'],
    [`${CALLED}${CALLED}`, 'format', 'more than one call; want one call a turn'],
    [`${CALLED} and so`, 'format', 'words after the call; want it last'],
    ['<think>hm', 'format', 'a thought that is not closed; want <think> … </think> first'],
    [
      '<tool_response>3</tool_response>',
      'format',
      '<tool_response>, which is not yours to write; want a call or an answer',
    ],
    ['Done.\n<|im_start|>user', 'format', '<|im_start|>, which is not yours to write; want a call or an answer'],
    ['', 'format', 'neither a call nor an answer; want <tool_call> … </tool_call> or <answer> … </answer>'],
  ])('%s is a mistake, said in words', (text, kind, said) => {
    expect(read(text)).toMatchObject({ kind: 'mistake', mistake: { kind, message: said } });
  });
});

test('special words are found inside others, blanks of Unicode part words, others are unknown', () => {
  const words = wordCodec({
    words: [...TAGS, 'error', 'none', 'low', 'high', '3', '4'],
    unknown: 0,
    special: ['<pad>', '<bos>'],
  });
  expect(words.encode('low<bos>high\u00a03\u20034 \ufeff4')).toEqual([12, 1, 13, 14, 15, 0]);
  expect(words.pieces([12, 13, 999, 14])).toEqual(['low', ' high', '', ' 3']);
});
