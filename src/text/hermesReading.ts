import { field, isRecord, type JsonRecord, valueText } from '../base/jsonRecord.ts';
import { matchesSchema, type ParameterType, schemaWords, type ToolSchema } from './toolSchema.ts';
import type { Quote, ReadTurn, TurnMistake } from './turnFormat.ts';

const CALL_OPEN = '<tool_call>';
const CALL_CLOSE = '</tool_call>';
/**
 * Markers that an agent may not write outside a call. Only the chat template writes the first three: an agent that
 * writes them would fake an observation or a new message.
 */
const FORBIDDEN_MARKERS = ['<tool_response>', '</tool_response>', '<|im_start|>', CALL_CLOSE];
const THINK = /^\s*<think>([\s\S]*?)<\/think>/;
const MAX_QUOTED = 60; // characters of the agent's words in a message

/** The rules for reading a turn. */
export interface ReadingOptions {
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
export function readHermes(
  text: string,
  { tools, answerTag, markers = [], quote = shortened }: ReadingOptions,
): ReadTurn {
  const think = THINK.exec(text);
  const thought = think?.[1]?.trim() ?? '';
  const mistakeTurn = (kind: TurnMistake['kind'], message: string): ReadTurn => ({
    kind: 'mistake',
    mistake: { kind, message },
    thought,
  });
  const body = text.slice(think?.[0].length ?? 0);
  if (body.includes('<think>'))
    return mistakeTurn('format', 'a thought that is not closed; want <think> … </think> first');
  const callStart = body.indexOf(CALL_OPEN);
  const callEnd = body.indexOf(CALL_CLOSE, callStart + CALL_OPEN.length);
  const outsideCall =
    callStart < 0 ? body : body.slice(0, callStart) + (callEnd < 0 ? '' : body.slice(callEnd + CALL_CLOSE.length));
  const forbidden = [...FORBIDDEN_MARKERS, ...markers].find((tag) => outsideCall.includes(tag));
  if (outsideCall.includes(CALL_OPEN)) return mistakeTurn('format', 'more than one call; want one call a turn');
  if (forbidden !== undefined)
    return mistakeTurn('format', `${quote(forbidden)}, which is not yours to write; want a call or an answer`);
  if (callStart < 0) return answerOf(body, answerTag, thought) ?? mistakeTurn('format', WANT_ANSWER);
  if (callEnd < 0) return mistakeTurn('format', `a call that is not closed; want ${CALL_CLOSE} after it`);
  if (body.slice(callEnd + CALL_CLOSE.length).trim() !== '')
    return mistakeTurn('format', 'words after the call; want it last');
  const call = readCall(body.slice(callStart + CALL_OPEN.length, callEnd), tools, quote);
  return 'kind' in call ? mistakeTurn(call.kind, call.message) : { kind: 'call', ...call, thought };
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
    return { kind: 'json', message: `a call that is not JSON: ${quote(text.trim())}; want ${CALL_FORM}` };
  }
  const call: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (!isRecord(call)) return { kind: 'json', message: `${quote(valueText(call))} as a call; want ${CALL_FORM}` };
  const name = field(call, 'name');
  const tool = tools.find((schema) => schema.function.name === name);
  if (!tool) {
    const names = tools.map((schema) => schema.function.name).join(', ');
    return {
      kind: 'tool',
      message: `the tool ${quote(valueText(name))}; want ${tools.length === 1 ? names : `one of ${names}`}`,
    };
  }
  const callArguments = field(call, 'arguments');
  if (!isRecord(callArguments))
    return { kind: 'arguments', message: `${quote(valueText(callArguments))} as arguments; want an object` };
  const problem = wrongArgument(callArguments, tool, quote);
  return problem === null
    ? { tool: tool.function.name, values: callArguments }
    : { kind: 'arguments', message: problem };
}

const CALL_FORM = '{"name": "…", "arguments": {…}}';

/** The first mistake in the arguments of a call, in words, or null if they are right. */
function wrongArgument(
  callArguments: JsonRecord,
  { function: { name, parameters } }: ToolSchema,
  quote: Quote,
): string | null {
  const names = Object.keys(parameters.properties).join(', ');
  const unknownKey = Object.keys(callArguments).find((key) => !Object.hasOwn(parameters.properties, key));
  if (unknownKey !== undefined)
    return `the argument ${quote(unknownKey)} of ${name}; want ${names === '' ? 'none' : names}`;
  for (const [key, property] of Object.entries(parameters.properties)) {
    const value = field(callArguments, key);
    if (value === undefined) {
      if (!parameters.required.includes(key)) continue;
      return `no argument ${key} of ${name}; want ${names}`;
    }
    if (matchesSchema(value, property)) continue;
    const { type } = property;
    const plainWords = typeof type === 'string' && !property.enum && !property.nullable ? TYPE_WORDS[type] : undefined;
    const kind = plainWords ?? schemaWords(property);
    return `${quote(valueText(value))} as ${key} of ${name}; want ${kind}`;
  }
  return null;
}

/** The types that have plainer words than their names. */
const TYPE_WORDS: Readonly<Partial<Record<ParameterType, string>>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

/**
 * Wrong turns, at least one for each kind of mistake possible with these tools. `rightArgumentsOf` returns the
 * arguments of a correct call of a tool.
 */
export function wrongTurns(
  { tools }: Pick<ReadingOptions, 'tools'>,
  rightArgumentsOf: (tool: string) => JsonRecord,
): readonly string[] {
  const call = (name: string, callArguments: unknown) =>
    `${CALL_OPEN}${JSON.stringify({ name, arguments: callArguments })}${CALL_CLOSE}`;
  const wrongCalls = tools.flatMap(({ function: { name, parameters } }) => {
    const rightArguments = rightArgumentsOf(name);
    const wrongValues = [undefined, null, '?', '', -1, 0.5, 1e15, '? '.repeat(MAX_QUOTED)];
    return [
      ...[call(name, 0), call(name, { ...rightArguments, '?': 0 })],
      ...Object.keys(parameters.properties).flatMap((key) =>
        wrongValues.map((value) => call(name, { ...rightArguments, [key]: value })),
      ),
    ];
  });
  const malformedTexts = [
    '',
    '?',
    '0.5',
    '1000',
    '? '.repeat(MAX_QUOTED),
    '<think>',
    CALL_OPEN,
    `${CALL_OPEN}${CALL_OPEN}`,
    ...FORBIDDEN_MARKERS,
  ];
  return [
    ...malformedTexts,
    `${CALL_OPEN}${CALL_CLOSE}?`,
    `${CALL_OPEN}?${CALL_CLOSE}`,
    `${CALL_OPEN}0${CALL_CLOSE}`,
    call('?', {}),
    ...wrongCalls,
  ];
}

function shortened(text: string): string {
  const characters = Array.from(text);
  return characters.length > MAX_QUOTED ? `${characters.slice(0, MAX_QUOTED - 1).join('')}…` : text;
}
