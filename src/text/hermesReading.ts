import { field, isRecord, type JsonRecord, shown } from '../formats/jsonFile.ts';
import type { ToolSchema } from './toolSchema.ts';
import type { Quote, ReadTurn, TurnMistake } from './turnFormat.ts';

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
/**
 * Markers that an agent may not write outside a call. With the first three, which only the chat template writes, it
 * would fake an observation or a new message.
 */
const FORGED = ['<tool_response>', '</tool_response>', '<|im_start|>', CLOSE];
const THINK = /^\s*<think>([\s\S]*?)<\/think>/;
const MAX_QUOTED = 60; // characters of the agent's words in a message

/** The rules for reading a turn. */
export interface Reading {
  readonly tools: readonly ToolSchema[]; // tools that may be called
  /** True: an answer is written in `<answer> … </answer>`; false: any text without a call is the answer. */
  readonly answerTag: boolean;
  readonly markers?: readonly string[]; // special tokens of the tokenizer; a turn may not write these either
  readonly quote?: Quote; // shortens the agent's words for an error message; default: cuts them to 60 characters
}

/**
 * Reads a turn in the format of Hermes models (NousResearch/Hermes-Function-Calling): a thought in `<think>`, then text
 * with one `<tool_call>{"name": …, "arguments": {…}}</tool_call>` at the end, or an answer. A JSON list with one call
 * in it is read as that call, because SmolLM2 was trained to write calls so.
 */
export function readHermes(text: string, { tools, answerTag, markers = [], quote = cut }: Reading): ReadTurn {
  const think = THINK.exec(text);
  const thought = think?.[1]?.trim() ?? '';
  const mistake = (kind: TurnMistake['kind'], said: string): ReadTurn => ({
    kind: 'mistake',
    mistake: { kind, said },
    thought,
  });
  const rest = text.slice(think?.[0].length ?? 0);
  if (rest.includes('<think>')) return mistake('format', 'a thought that is not closed; want <think> … </think> first');
  const open = rest.indexOf(OPEN);
  const close = rest.indexOf(CLOSE, open + OPEN.length);
  const outside = open < 0 ? rest : rest.slice(0, open) + (close < 0 ? '' : rest.slice(close + CLOSE.length));
  const forged = [...FORGED, ...markers].find((tag) => outside.includes(tag));
  if (outside.includes(OPEN)) return mistake('format', 'more than one call; want one call a turn');
  if (forged !== undefined)
    return mistake('format', `${quote(forged)}, which is not yours to write; want a call or an answer`);
  if (open < 0) return answerOf(rest, answerTag, thought) ?? mistake('format', WANT_ANSWER);
  if (close < 0) return mistake('format', `a call that is not closed; want ${CLOSE} after it`);
  if (rest.slice(close + CLOSE.length).trim() !== '') return mistake('format', 'words after the call; want it last');
  const call = readCall(rest.slice(open + OPEN.length, close), tools, quote);
  return 'said' in call ? mistake(call.kind, call.said) : { kind: 'call', ...call, thought };
}

const WANT_ANSWER = 'neither a call nor an answer; want <tool_call> … </tool_call> or <answer> … </answer>';

function answerOf(text: string, tag: boolean, thought: string): ReadTurn | null {
  const answer = tag ? /^[\s\S]*?<answer>([\s\S]*?)<\/answer>\s*$/.exec(text)?.[1] : text;
  return answer === undefined || answer.trim() === '' ? null : { kind: 'answer', answer: answer.trim(), thought };
}

interface Call {
  readonly tool: string;
  readonly values: JsonRecord;
}

function readCall(text: string, tools: readonly ToolSchema[], quote: Quote): Call | TurnMistake {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'json', said: `a call that is not JSON: ${quote(text.trim())}; want ${FORM}` };
  }
  const one: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (!isRecord(one)) return { kind: 'json', said: `${quote(shown(one))} as a call; want ${FORM}` };
  const name = field(one, 'name');
  const tool = tools.find((of) => of.function.name === name);
  if (!tool) {
    const names = tools.map((of) => of.function.name).join(', ');
    return {
      kind: 'tool',
      said: `the tool ${quote(shown(name))}; want ${tools.length === 1 ? names : `one of ${names}`}`,
    };
  }
  const callArguments = field(one, 'arguments');
  if (!isRecord(callArguments))
    return { kind: 'arguments', said: `${quote(shown(callArguments))} as arguments; want an object` };
  const wrong = wrongArgument(callArguments, tool, quote);
  return wrong === null ? { tool: tool.function.name, values: callArguments } : { kind: 'arguments', said: wrong };
}

const FORM = '{"name": "…", "arguments": {…}}';

/** The first mistake in the arguments of a call, in words, or null if they are right. */
function wrongArgument(given: JsonRecord, { function: { name, parameters } }: ToolSchema, quote: Quote): string | null {
  const names = parameters.required.join(', ');
  const stray = Object.keys(given).find((key) => !Object.hasOwn(parameters.properties, key));
  if (stray !== undefined) return `the argument ${quote(stray)} of ${name}; want ${names === '' ? 'none' : names}`;
  for (const key of parameters.required) {
    const want = parameters.properties[key];
    const value = field(given, key);
    if (value === undefined) return `no argument ${key} of ${name}; want ${names}`;
    if (!want || fits(value, want)) continue;
    const kind = want.enum ? `one of ${want.enum.join(', ')}` : WORDS[want.type];
    return `${quote(shown(value))} as ${key} of ${name}; want ${kind}`;
  }
  return null;
}

type Property = ToolSchema['function']['parameters']['properties'][string];
const WORDS = { string: 'a text', integer: 'a whole number', number: 'a number', boolean: 'true or false' } as const;

function fits(value: unknown, { type, enum: choices }: Property): boolean {
  switch (type) {
    case 'string':
      return typeof value === 'string' && (!choices || choices.includes(value));
    case 'integer':
      return typeof value === 'number' && Number.isSafeInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'boolean':
      return typeof value === 'boolean';
  }
}

/**
 * Wrong turns, at least one for each kind of mistake possible with these tools. `rightOf` returns the arguments of a
 * correct call of a tool.
 */
export function wrongTurns(
  { tools }: Pick<Reading, 'tools'>,
  rightOf: (tool: string) => JsonRecord,
): readonly string[] {
  const call = (name: string, given: unknown) => `${OPEN}${JSON.stringify({ name, arguments: given })}${CLOSE}`;
  const wrongCalls = tools.flatMap(({ function: { name, parameters } }) => {
    const right = rightOf(name);
    const odd = [undefined, null, '?', '', -1, 0.5, 1e15, '? '.repeat(MAX_QUOTED)];
    return [
      ...[call(name, 0), call(name, { ...right, '?': 0 })],
      ...parameters.required.flatMap((key) => odd.map((value) => call(name, { ...right, [key]: value }))),
    ];
  });
  const formless = ['', '?', '0.5', '1000', '? '.repeat(MAX_QUOTED), '<think>', OPEN, `${OPEN}${OPEN}`, ...FORGED];
  return [...formless, `${OPEN}${CLOSE}?`, `${OPEN}?${CLOSE}`, `${OPEN}0${CLOSE}`, call('?', {}), ...wrongCalls];
}

function cut(text: string): string {
  const characters = Array.from(text);
  return characters.length > MAX_QUOTED ? `${characters.slice(0, MAX_QUOTED - 1).join('')}…` : text;
}
