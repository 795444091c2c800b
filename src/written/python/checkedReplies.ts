import { isRecord, type JsonRecord } from '../../base/jsonRecord.ts';
import type { WrittenView } from '../../domain/writtenView.ts';
import type { Reply, Request } from '../sandbox.ts';

const LONGEST = 5000; // code units of a text: the interpreter cuts at 4,000 characters
const MOST_NAMED = 64;

/**
 * What an interpreter said, as replies. A person's file can change whatever says it, so nothing is taken as it comes. Throws TypeError
 * where it is no reply to these requests.
 */
export function checkedReplies(
  told: unknown,
  requests: readonly Request[],
  lineIn: (line: unknown) => number | null,
): readonly Reply[] {
  if (!Array.isArray(told) || told.length !== requests.length) throw new TypeError('no list of replies');
  return (told as readonly unknown[]).map((reply) => {
    if (!isRecord(reply)) throw new TypeError('no reply');
    return checkedReply(reply, lineIn);
  });
}

function checkedReply(told: JsonRecord, lineIn: (line: unknown) => number | null): Reply {
  if (told['problem'] !== undefined) return { problem: text(told['problem']), line: lineIn(told['line']) };
  const has = (name: string) => told[name] !== undefined;
  return {
    ...(has('line') && { line: lineIn(told['line']) }),
    ...(has('text') && { text: text(told['text']) }),
    ...(has('cut') && { cut: number(told['cut']) }),
    ...(has('refused') && { refused: text(told['refused']) }),
    ...(has('bug') && { bug: told['bug'] === true }),
    ...(has('over') && { over: told['over'] === true }),
    ...(has('paid') && { paid: number(told['paid']) }),
    ...(has('state') && { state: text(told['state']) }),
    ...(has('parts') && { parts: named(told['parts'], number) }),
    ...(has('none') && { none: told['none'] === true }),
    ...(has('tool') && { tool: text(told['tool']) }),
    ...(has('answer') && { answer: text(told['answer']) }),
    ...(has('values') && { values: named(told['values'], plain) }),
    ...(has('shown') && { shown: view(told['shown']) }),
  };
}

function text(value: unknown): string {
  if (typeof value !== 'string' || value.length > 2 * LONGEST) throw new TypeError('no text');
  return value;
}

function number(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new TypeError('no number');
  return value;
}

function plain(value: unknown): string | number | boolean {
  if (typeof value === 'boolean') return value;
  return typeof value === 'number' ? number(value) : text(value);
}

function named<T>(value: unknown, each: (value: unknown) => T): Readonly<Record<string, T>> {
  if (!isRecord(value)) throw new TypeError('nothing named');
  const entries = Object.entries(value);
  if (entries.length > MOST_NAMED) throw new TypeError('too much');
  return Object.fromEntries(entries.map(([name, of]) => [text(name), each(of)]));
}

function list<T>(value: unknown, most: number, each: (value: unknown) => T): readonly T[] {
  if (!Array.isArray(value) || value.length > most) throw new TypeError('no list');
  return (value as readonly unknown[]).map(each);
}

function view(value: unknown): WrittenView {
  if (!isRecord(value)) throw new TypeError('no view');
  const { kind, rows, from, to, marks } = value;
  if (kind === 'text') return { kind, text: text(value['text']) };
  if (kind === 'table' || kind === 'grid') return { kind, rows: list(rows, 30, (row) => list(row, 30, text)) };
  if (kind !== 'line') throw new TypeError('no view');
  const mark = (one: unknown) => {
    if (!isRecord(one)) throw new TypeError('no mark');
    return { name: text(one['name']), at: number(one['at']) };
  };
  return { kind, from: number(from), to: number(to), marks: list(marks, 12, mark) };
}
