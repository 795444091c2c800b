import { isRecord, type JsonRecord } from '../base/jsonRecord.ts';
import { field, has, objectsOf, shown, single, textOrNull } from './jsonFields.ts';
import { ProblemError } from '../base/problem.ts';
import { type Piece, type SplitPattern, splitByTags } from './splitPattern.ts';
import { unwrapped } from './pythonJson.ts';
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

/** The messages of a key: a list, also as a text of JSON. Any other text is one message. Messages of the role `text`, or of none, are `role`'s. */
export function messagesOf(line: JsonRecord, key: string, role: 'user' | 'assistant'): readonly JsonRecord[] {
  const value = single(field(line, key));
  if (typeof value === 'string' && !isListOfMessages(unwrapped(value))) return [{ role, content: value }];
  return objectsOf(line, key).map((message) => spokenBy(message, role));
}

function isListOfMessages(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((entry) => isRecord(entry) && has(entry, 'role'));
}

/** A message with a role: verifiers gives a prompt or a completion without a chat template the role `text`. */
export function spokenBy(message: JsonRecord, role: 'user' | 'assistant'): JsonRecord {
  const named = field(message, 'role');
  return named === undefined || named === 'text' ? { ...message, role } : message;
}

/** The pieces of chat messages: content, reasoning, calls. What follows the agent's first words and is not its own is an observation. */
export function piecesOfMessages(messages: readonly JsonRecord[], pattern: SplitPattern): Piece[] {
  let spoken = false;
  return messages.flatMap((message) => {
    const pieces = piecesOfMessage(message, pattern, spoken);
    spoken ||= pieces.some(({ role }) => role === 'action');
    return pieces;
  });
}

/** The pieces of one chat message. Throws ProblemError for an unknown role. */
export function piecesOfMessage(message: JsonRecord, pattern: SplitPattern, spoken: boolean): Piece[] {
  const named = textOrNull(message, 'role') ?? '';
  const known = Object.hasOwn(ROLES, named) ? ROLES[named] : undefined;
  if (!known)
    throw new ProblemError({ got: `the role ${shown(named)}`, want: `one of ${Object.keys(ROLES).join(', ')}` });
  const role = known === 'prompt' && spoken ? 'observation' : known;
  const content = contentText(field(message, 'content'));
  if (role !== 'action') return content === '' ? [] : [{ role, kind: role, text: content }];
  const reasoning = textOrNull(message, 'reasoning_content') ?? textOrNull(message, 'reasoning') ?? '';
  const own = splitByTags(content, pattern);
  return [
    ...(reasoning === '' ? [] : [{ role, kind: 'think', text: reasoning } as const]),
    ...own,
    ...unwrittenCalls(message, own).map(
      ({ name, args }) => ({ role, kind: 'call', text: `${name}(${args})` }) as const,
    ),
  ];
}

/** A call of a tool, as a message has it beside its text. */
interface Call {
  readonly name: string;
  readonly args: string;
}

/** The calls of a message's `tool_calls`: objects, texts of JSON, or texts of something else, which are shown as they are. */
export function callsOf(message: JsonRecord): readonly Call[] {
  const given = unwrapped(field(message, 'tool_calls')) ?? [];
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  return list.flatMap((written): Call[] => {
    const call = unwrapped(written);
    if (call === null) return [];
    if (typeof call === 'string') return [{ name: 'call', args: call }];
    if (!isRecord(call))
      throw new ProblemError({ got: `${shown(call)} in tool_calls`, want: 'a call: an object with a name' });
    const inner = unwrapped(field(call, 'function'));
    const from = isRecord(inner) ? inner : call;
    const args = field(from, 'arguments') ?? '';
    return [
      {
        name: textOrNull(from, 'name') ?? 'call',
        args: typeof args === 'string' ? args : JSON.stringify(withoutNulls(args)),
      },
    ];
  });
}

/** Arguments without the keys that are null: Arrow gives each call the arguments of every other, and fills them with null. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  const given = Object.keys(value).flatMap((key) => {
    const entry = field(value, key);
    return entry === undefined ? [] : [[key, withoutNulls(entry)] as const];
  });
  return Object.fromEntries(given);
}

/** The calls that the text of a message does not write already; a call that is written stands between tags of calls. */
function unwrittenCalls(message: JsonRecord, spoken: readonly Piece[]): readonly Call[] {
  const written = spoken.flatMap(({ kind, text }) => (kind === 'call' ? [withoutBlanks(text)] : []));
  return callsOf(message).filter(({ name, args }) => {
    const writings = [withoutBlanks(args), withoutBlanks(JSON.stringify(args).slice(1, -1))];
    const at = written.findIndex((text) => text.includes(name) && writings.some((each) => text.includes(each)));
    if (at < 0) return true;
    // what one call is, the next is not: two calls alike are written twice
    const [now = ''] = writings.filter((each) => written[at]?.includes(each));
    written[at] = (written[at] ?? '').replace(now, '');
    return false;
  });
}

function withoutBlanks(text: string): string {
  return text.replace(/\s+/g, '');
}

/** The text of a message's content: a text, or a list of parts of which pictures and sounds are named only. */
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
