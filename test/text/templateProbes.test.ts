import { describe, expect, test } from 'vitest';
import { addedTokenId, AGENT_STOPS, agentTokenizer, trainBpe, AGENT_TEMPLATE } from '../../src/text/agentTokenizer.ts';
import { checkAppends } from '../../src/text/hermes.ts';
import { BYTE_CHARACTERS } from '../../src/text/byteCharacters.ts';
import { chatTemplate, type NamedTemplates } from '../../src/text/chatTemplate.ts';
import { openChatTokenizer, stopIds } from '../../src/text/chatTokenizer.ts';
import type { Codec } from '../../src/text/codec.ts';
import { dialectOf } from '../../src/text/dialect.ts';
import { codecFromTokenizerJson } from '../../src/text/tokenizerFile.ts';
import { toolSchema } from '../../src/text/toolSchema.ts';
import { Purpose, random } from '../../src/base/rng.ts';
import { firstProblem } from '../formats/refusal.ts';
import { SMOLLM2, TOOLS } from './templates.ts';

const LOOK = toolSchema({ name: 'look', description: 'Looks.', parameters: ['place', { name: 'times', type: 'integer' }] }); // prettier-ignore
const ALL = '{% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}';
const NO_TOOLS = '{{ raise_exception("no tools") if tools }}';

describe('a chat template', () => {
  const REMEDY = 'Choose a checkpoint with a chat template for turns with tools, such as SmolLM2, Qwen2.5 or Qwen3.';
  const refused = (source: string | NamedTemplates) => {
    const problem = firstProblem(() => chatTemplate(source, {}, 'x.jinja'));
    expect(problem).toMatchObject({ file: 'x.jinja', remedy: REMEDY });
    return [problem?.place, problem?.got, problem?.want];
  };

  test.each<readonly [string | NamedTemplates, string, string, string]>([
    ['{% for %}', '', expect.stringMatching(/^\w*Error: .*[^\n]$/) as string, 'a Jinja template'],
    [{ default: ALL, tool_use: '{{ ' }, 'tool_use', expect.stringMatching(/^\w*Error: /) as string, 'a Jinja template'],
    [{}, '', 'only a template for conversations with tools', 'a template named default'],
    ['x', 'system', 'a text without the message', 'the text of every message'],
    [ALL.replace('messages', 'messages[1:]'), 'system', 'a text without the message', 'the text of every message'],
    [ALL.replace('messages', 'messages[:1]'), 'user', 'a text without the message', 'the text of every message'],
    [ALL.replace('messages', 'messages[:2]'), 'assistant', 'a text without the message', 'the text of every message'],
    ['{{ raise_exception("no\nline") }}', 'system, user, assistant', 'Error: no', 'a template for such conversations'],
    ['{{ missing.part }}', 'system, user, assistant', 'Error: part of an undefined value', 'a template for such conversations'], // prettier-ignore
  ])('that is %j is refused at %j: %s, expected %s', (source, ...said) => {
    expect(refused(source)).toEqual(said);
  });

  test('knows its tokens, the tools and whether it is asked, but no documents', () => {
    const source = `${ALL}{{ bos_token }}|{{ tools }}|{{ documents }}|{{ add_generation_prompt }}`;
    const { write } = chatTemplate(source, { bos_token: '<s>' });
    const [no, yes] = [false, true].map((asks) => write([{ role: 'r', content: 'c' }], null, asks));
    expect([no, yes]).toEqual(['r:c;<s>|None|None|False', 'r:c;<s>|None|None|True']);
    expect(chatTemplate(ALL).file).toBe('chat_template');
  });

  test('for tools alone is tried with a tool, and is the one that writes them', () => {
    const named = { tool_use: `${ALL}{{ tools[0].function.name }}{{ tools[0].function.description }}` };
    const template = chatTemplate(named);
    expect([template.listsTools, template.hasToolRole]).toEqual([true, false]);
    expect(template.write([], [LOOK], false)).toBe('lookLooks.');
    expect(() => template.write([], null, false)).toThrow(/only a template for conversations with tools, expected a template named default/); // prettier-ignore
    const both = chatTemplate({ default: ALL, tool_use: `${ALL}!` });
    expect([both.write([], null, false), both.write([], [LOOK], false), both.write([], [], false)]).toEqual(['', '!', '!']); // prettier-ignore
    expect([both.listsTools, chatTemplate(ALL).listsTools, chatTemplate(ALL + NO_TOOLS).listsTools]).toEqual([
      ...[true, false, false],
    ]);
    const only = chatTemplate(`${ALL}{{ raise_exception("no") if not tools and add_generation_prompt }}`);
    expect(only.listsTools).toBe(true);
  });

  test.each([
    [ALL, false],
    [`${ALL}{% if messages[-1].role == 'tool' %}!{% endif %}`, true],
    [ALL.replace('{{ m.role }}', "{% if m.role not in ['system', 'user', 'assistant', 'tool'] %}{{ raise_exception('?') }}{% endif %}{{ m.role }}"), true], // prettier-ignore
    [ALL.replace('{{ m.role }}', "{% if m.role not in ['system', 'user', 'assistant'] %}{{ raise_exception('?') }}{% endif %}{{ m.role }}"), false], // prettier-ignore
    [ALL.replace('{{ m.content }}', "{{ m.content if m.role != 'tool' }}"), false],
    [`${ALL}{{ 'nobody nobody' if messages[-1].role == 'nobody' else 'tool nobody' if messages[-1].role == 'tool' }}`, true], // prettier-ignore
    [`${ALL}{% if messages[-1].role == 'tool' and not tools %}!{% endif %}`, true],
    [`${ALL}{% if messages[-1].role == 'tool' and tools %}!{% endif %}`, false],
    [`${ALL}{{ tools }}{% if messages[-1].role == 'tool' and tools %}!{% endif %}`, true],
    [`${ALL}{% if messages | length == 4 and messages[2].content == 'Three.' and messages[-1].role == 'tool' and add_generation_prompt %}!{% endif %}`, true], // prettier-ignore
  ])('%j has a role for tools: %j', (source, has) => {
    expect(chatTemplate(source).hasToolRole).toBe(has);
  });

  test('reads thoughts by three names and writes them by two, and no field that is null', () => {
    const fields = '{% for m in messages %}{{ m.content }}{{ m | tojson }}{% endfor %}';
    const { write } = chatTemplate(fields);
    const written = (more: object) => write([{ role: 'r', content: '', ...more }], null, false);
    expect(written({ name: null, other: undefined })).toBe('{"role": "r", "content": ""}');
    const first = '{"thinking": "a", "role": "r", "content": ""';
    expect(written({ reasoning: 'a' })).toBe(`${first}, "reasoning": "a", "reasoning_content": "a"}`);
    expect(written({ thinking: 'a' })).toBe(`${first}, "reasoning_content": "a"}`);
    expect(written({ reasoning_content: 'a', thinking: 'b' })).toBe('{"thinking": "b", "role": "r", "content": "", "reasoning_content": "a"}'); // prettier-ignore
    expect(written({ thinking: 'a', reasoning: 'b' })).toBe(`${first}, "reasoning": "b", "reasoning_content": "a"}`);
  });
});

const BYTES_FILE = agentTokenizer([], 0);
const codecWith = (stops: readonly number[]): Codec => codecFromTokenizerJson(new TextEncoder().encode(BYTES_FILE), { stops }); // prettier-ignore

describe('a template that changes what was said', () => {
  const CODEC = codecWith([2]);
  const REMEDY = 'Choose a checkpoint whose template only adds to what was said, or give it a chat_template.jinja that does.'; // prettier-ignore
  const found = (source: string, codec: Codec = CODEC) => {
    const template = chatTemplate(source, {}, 'x.jinja');
    const problem = firstProblem(() => checkAppends(codec, template, dialectOf(template, [LOOK])));
    if (!problem) return null;
    expect(problem).toMatchObject({ file: 'x.jinja', remedy: REMEDY });
    return [problem.place, problem.got, problem.want];
  };
  const UNCHANGED = 'every earlier token unchanged';

  test('is not one that only appends', () => {
    expect([found(SMOLLM2), found(TOOLS), found(AGENT_TEMPLATE)]).toEqual([null, null, null]);
  });

  test('ends turns with no stop id, of which some or none are shown', () => {
    const odd = TOOLS.replaceAll('<|im_end|>', '<end>');
    expect(found(odd)).toEqual(['the end of a turn', '<end', 'one of <|im_end|>']);
    expect(found(odd, codecWith([2, 9_000]))).toEqual(['the end of a turn', '<end', 'one of <|im_end|>, ‹9000›']);
    expect(found(odd, { ...CODEC, stops: [] })).toEqual(['the end of a turn', '<end', 'one of its stop ids']);
    const nothing = ALL.replaceAll(';', '').replace('{{ m.role }}:', '');
    expect(found(nothing, CODEC)).toEqual(['the end of a turn', expect.stringMatching(/^<too$/), 'one of <|im_end|>']);
  });

  test.each([
    ['numbers the messages at the top', `{{ messages | length }}#${SMOLLM2}`, 0, 1],
    ['writes a letter in place of another', SMOLLM2.replace("message['content']", "message['content'].replace('Let', 'Bet' if messages | length > 6 else 'Let')"), null, 3], // prettier-ignore
    ['shortens an answer', SMOLLM2.replace("message['content']", "(message['content'][:-1] if 'nothing' in message['content'] and not loop.last else message['content'])"), null, 4], // prettier-ignore
    ['adds a blank at the end', `${SMOLLM2}{{ ' ' if messages | length > 4 }}`, null, 2],
    ['ends early', `{% if messages | length > 4 %}${SMOLLM2.replace('{% if add_generation_prompt %}', '{% if false %}')}{% else %}${SMOLLM2}{% endif %}`, null, 2], // prettier-ignore
  ])('and %s is refused at the first token that differs, with the tokens around it', (_, source, token, turn) => {
    const template = chatTemplate(source);
    const dialect = dialectOf(template, [LOOK]);
    const said = found(source);
    // the same by letters: every token of these bytes but the special ones is one
    const tokens = (text: string) => text.split(/(<\|im_(?:start|end)\|>|<\/?tool_call>)/).flatMap((part, i) => (i % 2 === 1 ? [part] : Array.from(part))); // prettier-ignore
    const messages = [...dialect.startMessages({ system: 'You look into boxes.', question: 'What is in the box?' })];
    const turns = [
      '<tool_call>\n{"name": "look", "arguments": {"place": "box", "times": 2}}\n</tool_call>',
      '<think>\nIt may be in there.\n</think>\n\n<tool_call>\n{"name": "look", "arguments": {"place": "a \\"box\\"\\n"}}\n</tool_call>',
      'Let me look.\n<tool_call>\n{"name": "look"',
      '<answer>nothing</answer>',
    ];
    const observations = ['{"found": "a key"}', 'error: no such place', 'Two lines.\nAnd <b>more</b>.', ''];
    let before = template.write(messages, dialect.tools, true);
    for (const [i, content] of turns.entries()) {
      const observation = dialect.observationMessage(observations[i]!);
      const mark = [...dialect.startMessages({ system: null, question: '?' }), { role: 'assistant', content: '@@' }];
      const after = template
        .write([...mark, observation], dialect.tools, true)
        .split('@@')
        .slice(1)
        .join('@@');
      messages.push({ role: 'assistant', content }, observation);
      const now = template.write(messages, dialect.tools, true);
      const [was, is] = [tokens(before + content + after), tokens(now)];
      before = before + content + after;
      const at = was.findIndex((one, index) => one !== is[index]);
      const index = at < 0 ? was.length : at;
      if (at < 0 && was.length === is.length) continue;
      const around = (all: readonly string[]) => all.slice(Math.max(0, index - 4), index + 6).join('').replaceAll(' ', '␣').replaceAll('\n', '⏎') || 'the end'; // prettier-ignore
      expect([i + 1, token ?? index]).toEqual([turn, index]);
      expect(said).toEqual([`token ${index} of the prompt after turn ${i + 1}`, `${around(is)} in place of ${around(was)}`, UNCHANGED]); // prettier-ignore
      return;
    }
    expect(said).toBeNull();
  });

  test('by cutting off more than is shown is said to be at its end', () => {
    const template = chatTemplate(SMOLLM2);
    const short = { ...template, write: (...said: Parameters<typeof template.write>) => (said[0].length > 4 ? '<|im_start|>' : template.write(...said)) }; // prettier-ignore
    const problem = firstProblem(() => checkAppends(CODEC, short, dialectOf(template, [])));
    expect(problem).toMatchObject({ place: 'token 1 of the prompt after turn 2', got: '<|im_start|> in place of <|im_start|>system' }); // prettier-ignore
    const none = { ...short, write: (...said: Parameters<typeof template.write>) => (said[0].length > 4 ? '' : template.write(...said)) }; // prettier-ignore
    const empty = firstProblem(() => checkAppends(CODEC, none, dialectOf(template, [])));
    expect(empty).toMatchObject({ place: 'token 0 of the prompt after turn 2', got: 'the end in place of <|im_start|>syste' }); // prettier-ignore
  });
});

test('the tokenizer of the text model is written whole', () => {
  const { tokens, merges } = trainBpe(['ab', 'ab', ' c', ' c', ' c'], 258);
  expect(merges).toEqual([['Ġ', 'c'], ['a', 'b']]); // prettier-ignore
  const file = agentTokenizer(['ab<|im_end|>ab 1 c1 c c', '<tool_call>', ''], 263);
  const names = ['<|endoftext|>', '<|im_start|>', '<|im_end|>', '<tool_call>', '</tool_call>'] as const;
  expect(names.map(addedTokenId)).toEqual([0, 1, 2, 3, 4]);
  expect(AGENT_STOPS).toEqual([2, 0]);
  const ids = Object.fromEntries([...names, ...tokens].map((token, id) => [token, id]));
  expect(JSON.parse(file)).toEqual({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: names.map((content, id) => ({
      ...{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: id < 3 },
    })),
    normalizer: null,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Digits', individual_digits: true },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
      ],
    },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      ...{ type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null },
      ...{ fuse_unk: false, byte_fallback: false, ignore_merges: false, vocab: ids, merges },
    },
  });
  expect(file.endsWith('}\n')).toBe(true);
  const none = JSON.parse(agentTokenizer(['aaaa'], 0)) as { model: { vocab: object; merges: unknown[] } };
  expect([Object.keys(none.model.vocab).length, none.model.merges]).toEqual([261, []]);
});

test('training merges what a count of all pairs by hand would merge, up to the size that is asked for', () => {
  const { int } = random(5, Purpose.shuffle);
  for (let n = 0; n < 40; n++) {
    const pieces = Array.from({ length: int(12) }, () => Array.from({ length: int(9) }, () => 'ab é'[int(4)]).join(''));
    const size = 256 + int(10);
    let words = pieces.map((piece) => [...new TextEncoder().encode(piece)].map((byte) => BYTE_CHARACTERS[byte]!));
    const [tokens, merges] = [[...BYTE_CHARACTERS], [] as (readonly [string, string])[]];
    while (tokens.length < size) {
      const pairs = words.flatMap((word) => word.slice(1).map((right, i) => `${word[i]!} ${right}`));
      const counted = [...new Set(pairs)].map((pair) => [pair, pairs.filter((each) => each === pair).length] as const);
      const [best] = counted.filter(([, count]) => count > 1).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
      if (!best) break;
      const [left, right] = best[0].split(' ') as [string, string];
      merges.push([left, right]);
      if (!tokens.includes(left + right)) tokens.push(left + right);
      words = words.map((word) => {
        const merged = [...word];
        for (let i = 0; i < merged.length; i++) if (merged[i] === left && merged[i + 1] === right) merged.splice(i, 2, left + right); // prettier-ignore
        return merged;
      });
    }
    expect(trainBpe(pieces, size)).toEqual({ tokens, merges });
  }
});

test('the text model’s template writes tools, turns and calls as they are, and refuses other roles', () => {
  const { template, codec } = openChatTokenizer({ tokenizer: BYTES_FILE, template: AGENT_TEMPLATE, stops: [2] });
  expect([codec.stops, template.file]).toEqual([[2], 'chat_template.jinja']);
  const call = { type: 'function', function: { name: 'look', arguments: { place: 'é', times: 2 } } } as const;
  const now = toolSchema({ name: 'now', description: 'Says when.', parameters: [] });
  const talk = [
    { role: 'system', content: 'Be.' },
    { role: 'user', content: 'Hi.' },
    { role: 'assistant', content: 'So', tool_calls: [call, call] },
  ];
  const called = '<tool_call>\n{"name": "look", "arguments": {"place": "é", "times": 2}}\n</tool_call>';
  const turns = `<|im_start|>user\nHi.<|im_end|>\n<|im_start|>assistant\nSo${called}${called}<|im_end|>\n`;
  const lines = 'look(place: string, times: integer): Looks.\nnow(): Says when.<|im_end|>\n';
  expect(template.write(talk, [LOOK, now], false)).toBe(`<|im_start|>system\nBe.\n${lines}${turns}`);
  expect(template.write(talk.slice(1), [LOOK, now], false)).toBe(`<|im_start|>system\n${lines}${turns}`);
  expect(template.write(talk, null, true)).toBe(`<|im_start|>system\nBe.<|im_end|>\n${turns}<|im_start|>assistant\n`);
  expect(() => template.write([{ role: 'critic', content: '' }], null, true)).toThrow('found Error: got the role critic; want system, user, assistant or tool'); // prettier-ignore
});

test('stop ids are the numbers that a generation_config.json names', () => {
  const texts = ['{"eos_token_id": [1, "2", null, 3]}', '{"eos_token_id": "2"}', '{"eos_token_id": 0}', '[]', 'null', '{"eos_token_id": {}}']; // prettier-ignore
  expect(texts.map(stopIds)).toEqual([[1, 3], [], [0], [], [], []]);
  expect(firstProblem(() => stopIds('{'))).toMatchObject({ file: 'generation_config.json', want: 'JSON' });
});
