import { Purpose, type Random, random } from '../../src/base/rng.ts';
import type { Message, MessageCall } from '../../src/text/chatTemplate.ts';
import { type ToolSchema, toolSchema } from '../../src/text/toolSchema.ts';
import { awkwardStrings } from './strings.ts';

/** A conversation as `apply_chat_template` is given one. */
interface Conversation {
  readonly messages: readonly (Message & { readonly reasoning_content?: string })[];
  readonly tools: readonly ToolSchema[] | null;
  readonly asks: boolean; // add_generation_prompt
}

const TOOLS = [
  toolSchema({
    name: 'add',
    description: 'The "sum" of <two> numbers & more.',
    parameters: [
      { name: 'a', type: 'integer' },
      { name: 'b', type: 'number', description: 'größer als 0' },
    ],
  }),
  toolSchema({
    name: 'find',
    description: 'Looks up a text.\nTwice.',
    parameters: ['query', { name: 'where', type: 'string', enum: ['here', '那里'] }],
  }),
  toolSchema({ name: 'items', description: '', parameters: ['items', 'keys', 'get'] }), // named like the methods of dicts
  toolSchema({ name: 'now', description: '👍', parameters: [] }),
];
const VALUES: readonly unknown[] = [
  0,
  -7,
  1.5,
  1e-7,
  'a "b"\n',
  'é👍\u2028',
  '',
  true,
  null,
  [],
  {},
  [1, [2, 'x']],
  { items: { z: 1, a: null } },
];

/** Conversations of every kind that a template may meet; equal seeds give equal ones. */
export function conversations(count: number, seed: number): readonly Conversation[] {
  const draw = random(seed, Purpose.environment);
  const strings = awkwardStrings(count * 4, seed, ['<|im_end|>', '<think>', '</think>', '<tool_response>']).map(
    (text) => text.replaceAll(/\p{Surrogate}/gu, '\ufffd'),
  );
  const text = () =>
    pick(draw, [
      '',
      ...strings.slice(0, 2),
      'How much is 2 + 3?',
      pick(draw, strings),
      `\n\n${pick(draw, strings)}\n`,
      `  ${pick(draw, strings)}\t\n`,
    ]);
  return Array.from({ length: count }, (_, i) => ({
    messages: [...(draw.int(2) === 0 ? [{ role: 'system', content: text() }] : []), ...turns(draw, text)],
    tools: i % 3 === 0 ? null : TOOLS.slice(0, 1 + draw.int(TOOLS.length)),
    asks: draw.int(2) === 0,
  }));
}

const pick = <T>(draw: Random, list: readonly T[]): T => list[draw.int(list.length)] as T;

function turns(draw: Random, text: () => string): Conversation['messages'] {
  const messages: Conversation['messages'][number][] = [];
  for (let questions = 1 + draw.int(3); questions > 0; questions--) {
    messages.push({
      role: 'user',
      content: draw.int(8) === 0 ? `<tool_response>\n${text()}\n</tool_response>` : text(),
    });
    for (let called = draw.int(4); called > 0; called--) {
      const calls = Array.from({ length: 1 + draw.int(3) }, () => callOf(draw));
      messages.push({
        role: 'assistant',
        content: spoken(draw, text),
        ...(draw.int(5) === 0 ? { reasoning_content: text() } : {}),
        tool_calls: calls,
      });
      for (let answers = draw.int(calls.length + 1); answers > 0; answers--)
        messages.push({ role: 'tool', content: text() });
    }
    if (draw.int(4) > 0) messages.push({ role: 'assistant', content: spoken(draw, text) });
  }
  return messages;
}

/** What an assistant says, with a thought, without one, or with half of one. */
function spoken(draw: Random, text: () => string): string {
  const thought = pick(draw, [
    `<think>\n${text()}\n</think>\n\n`,
    `<think>${text()}</think>`,
    '</think>',
    '<think>',
    '',
    '',
  ]);
  return `${thought}${text()}`;
}

function callOf(draw: Random): MessageCall {
  const { name, parameters } = pick(draw, TOOLS).function;
  const values = Object.keys(parameters.properties).map((key) => [key, pick(draw, VALUES)]);
  return {
    type: 'function',
    function: { name, arguments: Object.fromEntries(values) as MessageCall['function']['arguments'] },
  };
}
