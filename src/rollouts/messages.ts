import { isRecord, type JsonRecord } from '../base/jsonRecord.ts';
import { field, has, objectListAt, shown, unwrapSingle, textOrNull } from './jsonFields.ts';
import { ProblemError } from '../base/problem.ts';
import { type Piece, type SplitPattern, splitByTags } from './splitPattern.ts';
import { parsedIfJson } from './pythonJson.ts';
import type { SegmentRole } from './rolloutRecord.ts';

const ROLES: Readonly<Record<string, SegmentRole>> = {
  system: 'system',
  developer: 'system',
  user: 'prompt',
  assistant: 'action',
  model: 'action',
  tool: 'observation',
  function: 'observation',
  ipython: 'observation',
  environment: 'observation',
};

/** A list, or JSON text of one; any other text is one message. Messages without a role, or with the role `text`, get `role`. */
export function messagesOf(line: JsonRecord, key: string, role: 'user' | 'assistant'): readonly JsonRecord[] {
  const value = unwrapSingle(field(line, key));
  if (typeof value === 'string' && !isListOfMessages(parsedIfJson(value))) return [{ role, content: value }];
  return objectListAt(line, key).map((message) => withRole(message, role));
}

function isListOfMessages(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((entry) => isRecord(entry) && has(entry, 'role'));
}

/** verifiers writes the role `text` for a prompt or a completion without a chat template; it becomes `role`. */
export function withRole(message: JsonRecord, role: 'user' | 'assistant'): JsonRecord {
  const roleName = field(message, 'role');
  return roleName === undefined || roleName === 'text' ? { ...message, role } : message;
}

/** Content, reasoning and calls. User messages after the agent's first message count as observations. */
export function piecesOfMessages(messages: readonly JsonRecord[], pattern: SplitPattern): Piece[] {
  let agentSpoke = false;
  return messages.flatMap((message) => {
    const pieces = piecesOfMessage(message, pattern, agentSpoke);
    agentSpoke ||= pieces.some(({ role }) => role === 'action');
    return pieces;
  });
}

/** `agentSpoke`: the agent wrote an earlier message. Throws ProblemError for an unknown role. */
export function piecesOfMessage(message: JsonRecord, pattern: SplitPattern, agentSpoke: boolean): Piece[] {
  const roleName = textOrNull(message, 'role') ?? '';
  const baseRole = Object.hasOwn(ROLES, roleName) ? ROLES[roleName] : undefined;
  if (!baseRole)
    throw new ProblemError({ got: `the role ${shown(roleName)}`, want: `one of ${Object.keys(ROLES).join(', ')}` });
  const role = baseRole === 'prompt' && agentSpoke ? 'observation' : baseRole;
  const content = contentText(field(message, 'content'));
  if (role !== 'action') return content === '' ? [] : [{ role, kind: role, text: content }];
  const reasoning = textOrNull(message, 'reasoning_content') ?? textOrNull(message, 'reasoning') ?? '';
  const contentPieces = splitByTags(content, pattern);
  return [
    ...(reasoning === '' ? [] : [{ role, kind: 'think', text: reasoning } as const]),
    ...contentPieces,
    ...callsOutsideText(message, contentPieces).map(
      ({ name, args }) => ({ role, kind: 'call', text: `${name}(${args})` }) as const,
    ),
  ];
}

/** A tool call that a message lists outside its text. */
interface Call {
  readonly name: string;
  readonly args: string;
}

/** `tool_calls`: objects or JSON text. Text that is not JSON becomes the arguments of a call named `call`. */
export function callsOf(message: JsonRecord): readonly Call[] {
  const calls = parsedIfJson(field(message, 'tool_calls')) ?? [];
  const list: readonly unknown[] = Array.isArray(calls) ? calls : [calls];
  return list.flatMap((listedCall): Call[] => {
    const call = parsedIfJson(listedCall);
    if (call === null) return [];
    if (typeof call === 'string') return [{ name: 'call', args: call }];
    if (!isRecord(call))
      throw new ProblemError({ got: `${shown(call)} in tool_calls`, want: 'a call: an object with a name' });
    const inner = parsedIfJson(field(call, 'function'));
    const callObject = isRecord(inner) ? inner : call;
    const args = field(callObject, 'arguments') ?? '';
    return [
      {
        name: textOrNull(callObject, 'name') ?? 'call',
        args: typeof args === 'string' ? args : JSON.stringify(withoutNulls(args)),
      },
    ];
  });
}

/** Arrow gives every call the argument names of all calls, with null for those a call does not use. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  const entries = Object.keys(value).flatMap((key) => {
    const entry = field(value, key);
    return entry === undefined ? [] : [[key, withoutNulls(entry)] as const];
  });
  return Object.fromEntries(entries);
}

/** The calls of `tool_calls` that the message's text does not already contain as pieces of kind `call`. */
function callsOutsideText(message: JsonRecord, pieces: readonly Piece[]): readonly Call[] {
  const callTexts = pieces.flatMap(({ kind, text }) => (kind === 'call' ? [withoutBlanks(text)] : []));
  return callsOf(message).filter(({ name, args }) => {
    const argTexts = [withoutBlanks(args), withoutBlanks(JSON.stringify(args).slice(1, -1))];
    const matchIndex = callTexts.findIndex(
      (text) => text.includes(name) && argTexts.some((each) => text.includes(each)),
    );
    if (matchIndex < 0) return true;
    // remove the matched text, so that a second, equal call needs a match of its own
    const [matched = ''] = argTexts.filter((each) => callTexts[matchIndex]?.includes(each));
    callTexts[matchIndex] = (callTexts[matchIndex] ?? '').replace(matched, '');
    return false;
  });
}

function withoutBlanks(text: string): string {
  return text.replace(/\s+/g, '');
}

/** Text or a list of parts. Of a part without text, such as an image, only its type is shown. */
function contentText(content: unknown): string {
  if (content === undefined) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content))
    throw new ProblemError({ got: `${shown(content)} for content`, want: 'a text or a list of parts' });
  return content
    .map((part: unknown) => {
      if (typeof part === 'string') return part;
      if (!isRecord(part)) throw new ProblemError({ got: `${shown(part)} in content`, want: 'a part with a type' });
      return textOrNull(part, 'text') ?? `[${textOrNull(part, 'type') ?? 'part'}]`;
    })
    .join('\n');
}
