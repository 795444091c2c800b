import { isRecord, type JsonRecord } from '../../base/jsonRecord.ts';
import type { WrittenView } from '../../domain/writtenView.ts';
import type { Reply, Request } from '../sandbox.ts';

const MAX_TEXT = 5000; // characters of a text; the interpreter cuts at 4,000, but one character may have two code units
const MAX_NAMED = 64; // named values in one reply
const MAX_ITEMS = 4096; // of a list in an argument
const MAX_DEPTH = 16; // of lists in an argument

/**
 * Checks an interpreter's replies to requests. A person's file can change anything in the interpreter, so every field
 * is checked. Throws TypeError if the replies don't have the right form or number.
 */
export function checkedReplies(
  replies: unknown,
  requests: readonly Request[],
  validLine: (line: unknown) => number | null,
): readonly Reply[] {
  if (!Array.isArray(replies) || replies.length !== requests.length) throw new TypeError('no list of replies');
  return (replies as readonly unknown[]).map((reply) => {
    if (!isRecord(reply)) throw new TypeError('no reply');
    return checkedReply(reply, validLine);
  });
}

function checkedReply(reply: JsonRecord, validLine: (line: unknown) => number | null): Reply {
  if (reply['problem'] !== undefined) return { problem: text(reply['problem']), line: validLine(reply['line']) };
  const isPresent = (name: string) => reply[name] !== undefined;
  return {
    ...(isPresent('line') && { line: validLine(reply['line']) }),
    ...(isPresent('text') && { text: text(reply['text']) }),
    ...(isPresent('cut') && { cut: number(reply['cut']) }),
    ...(isPresent('refused') && { refused: text(reply['refused']) }),
    ...(isPresent('bug') && { bug: reply['bug'] === true }),
    ...(isPresent('over') && { over: reply['over'] === true }),
    ...(isPresent('paid') && { paid: number(reply['paid']) }),
    ...(isPresent('state') && { state: text(reply['state']) }),
    ...(isPresent('parts') && { parts: namedValues(reply['parts'], number) }),
    ...(isPresent('none') && { none: reply['none'] === true }),
    ...(isPresent('tool') && { tool: text(reply['tool']) }),
    ...(isPresent('answer') && { answer: text(reply['answer']) }),
    ...(isPresent('values') && { values: namedValues(reply['values'], plainValue) }),
    ...(isPresent('shown') && { shown: view(reply['shown']) }),
  };
}

function text(value: unknown): string {
  if (typeof value !== 'string' || value.length > 2 * MAX_TEXT) throw new TypeError('no text');
  return value;
}

function number(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new TypeError('no number');
  return value;
}

/** A value of JSON: an argument of a call. */
function plainValue(value: unknown, depth = 0): unknown {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return number(value);
  if (typeof value !== 'object') return text(value);
  if (depth > MAX_DEPTH) throw new TypeError('nested too deep');
  const inner = (item: unknown) => plainValue(item, depth + 1);
  return Array.isArray(value) ? list(value, MAX_ITEMS, inner) : namedValues(value, inner);
}

function namedValues<T>(value: unknown, check: (value: unknown) => T): Readonly<Record<string, T>> {
  if (!isRecord(value)) throw new TypeError('nothing named');
  const entries = Object.entries(value);
  if (entries.length > MAX_NAMED) throw new TypeError('too much');
  return Object.fromEntries(entries.map(([name, entryValue]) => [text(name), check(entryValue)]));
}

function list<T>(value: unknown, maxLength: number, check: (value: unknown) => T): readonly T[] {
  if (!Array.isArray(value) || value.length > maxLength) throw new TypeError('no list');
  return (value as readonly unknown[]).map(check);
}

function view(value: unknown): WrittenView {
  if (!isRecord(value)) throw new TypeError('no view');
  const { kind, rows, from, to, marks } = value;
  if (kind === 'text') return { kind, text: text(value['text']) };
  if (kind === 'table' || kind === 'grid') return { kind, rows: list(rows, 30, (row) => list(row, 30, text)) };
  if (kind !== 'line') throw new TypeError('no view');
  const mark = (entry: unknown) => {
    if (!isRecord(entry)) throw new TypeError('no mark');
    return { name: text(entry['name']), at: number(entry['at']) };
  };
  return { kind, from: number(from), to: number(to), marks: list(marks, 12, mark) };
}
