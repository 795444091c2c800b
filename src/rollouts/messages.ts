import { BadLine, field, isObject, type JsonObject, objectsOf, shown, textOrNull } from './fields.ts';
import { type Piece, type SplitPattern, splitByTags } from './pattern.ts';
import type { SegmentRole } from './rollout.ts';

const ROLES: Readonly<Record<string, SegmentRole>> = {
  system: 'system',
  developer: 'system',
  user: 'prompt',
  assistant: 'action',
  tool: 'observation',
  environment: 'observation',
};

/** The pieces of chat messages: content, reasoning, calls. What follows the agent's first words and is not its own is an observation. */
export function piecesOfMessages(messages: readonly JsonObject[], pattern: SplitPattern): Piece[] {
  let spoken = false;
  return messages.flatMap((message) => {
    const pieces = piecesOfMessage(message, pattern, spoken);
    spoken ||= pieces.some(({ role }) => role === 'action');
    return pieces;
  });
}

/** The pieces of one chat message. Throws BadLine for a role that is none. */
export function piecesOfMessage(message: JsonObject, pattern: SplitPattern, spoken: boolean): Piece[] {
  const named = textOrNull(message, 'role') ?? '';
  const known = Object.hasOwn(ROLES, named) ? ROLES[named] : undefined;
  if (!known) throw new BadLine(`the role ${shown(named)}`, `one of ${Object.keys(ROLES).join(', ')}`);
  const role = known === 'prompt' && spoken ? 'observation' : known;
  const content = contentText(field(message, 'content'));
  if (role !== 'action') return content === '' ? [] : [{ role, kind: role, text: content }];
  const reasoning = textOrNull(message, 'reasoning_content') ?? textOrNull(message, 'reasoning') ?? '';
  return [
    ...(reasoning === '' ? [] : [{ role, kind: 'think', text: reasoning } as const]),
    ...splitByTags(content, pattern),
    ...callsOf(message).map((text) => ({ role, kind: 'call', text }) as const),
  ];
}

/** Calls that a message makes beside its text; what the text says already is not said twice. */
function callsOf(message: JsonObject): string[] {
  const content = contentText(field(message, 'content'));
  return objectsOf(message, 'tool_calls').flatMap((call) => {
    const inner = field(call, 'function');
    const from = isObject(inner) ? inner : call;
    const given = field(from, 'arguments') ?? '';
    const args = typeof given === 'string' ? given : JSON.stringify(given);
    return args !== '' && content.includes(args) ? [] : [`${textOrNull(from, 'name') ?? 'call'}(${args})`];
  });
}

/** The text of a message's content: a text, or a list of parts of which pictures and sounds are named only. */
function contentText(content: unknown): string {
  if (content === undefined) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw new BadLine(`${shown(content)} for content`, 'a text or a list of parts');
  return content
    .map((part: unknown) => {
      if (typeof part === 'string') return part;
      if (!isObject(part)) throw new BadLine(`${shown(part)} in content`, 'a part with a type');
      return textOrNull(part, 'text') ?? `[${textOrNull(part, 'type') ?? 'part'}]`;
    })
    .join('\n');
}
