import { field as ownField, isRecord, type JsonRecord } from '../base/jsonRecord.ts';
import { parseDecimal } from '../base/decimal.ts';
import { ProblemError } from '../base/problem.ts';
import { visible } from '../base/visible.ts';
import { parsedIfJson } from './pythonJson.ts';

const MAX_EXTRAS = 100;
const MAX_EXTRA_LENGTH = 2000; // characters
const MAX_QUOTE_LENGTH = 60; // characters of a text that a message quotes

/** Whether an object has all of these keys. Their values may be null: a format is recognised by its keys alone. */
export function has(record: JsonRecord, ...keys: readonly string[]): boolean {
  return keys.every((key) => Object.hasOwn(record, key));
}

/** The value of a key; undefined if it is missing or null. */
export function field(record: JsonRecord, key: string): unknown {
  return ownField(record, key) ?? undefined;
}

export function shown(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'string') return `the text “${visible(value, MAX_QUOTE_LENGTH)}”`;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isRecord(value)) return `an object with ${keysText(value)}`;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : typeof value;
}

/** Lists the first six keys of an object, for a message. */
export function keysText(record: JsonRecord): string {
  const keys = Object.keys(record);
  if (keys.length === 0) return 'no keys';
  const first = keys.slice(0, 6).map((key) => visible(key, 24));
  return `the keys ${first.join(', ')}${keys.length > first.length ? ` and ${keys.length - first.length} more` : ''}`;
}

/** The text at a key. Throws ProblemError if the value is not text. */
export function textAt(record: JsonRecord, key: string): string {
  const value = unwrapSingle(field(record, key));
  if (typeof value !== 'string') throw new ProblemError({ got: `${shown(value)} for ${key}`, want: 'a text' });
  return value;
}

/** Null if there is none. Numbers and booleans become text, because some programs write ids as numbers. */
export function textOrNull(record: JsonRecord, key: string): string | null {
  const value = unwrapSingle(field(record, key));
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? value : null;
}

/** The finite number at a key, or null if there is none. Booleans become 1 or 0, and decimal text becomes its number. */
export function numberOrNull(record: JsonRecord, key: string): number | null {
  const value = unwrapSingle(field(record, key));
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'string') return parseDecimal(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Null if there is none. 1, 0 and the texts `True` and `False` (in any case) count as booleans. */
export function flagOrNull(record: JsonRecord, key: string): boolean | null {
  const value = unwrapSingle(field(record, key));
  if (typeof value === 'string') return FLAGS.get(value.toLowerCase()) ?? null;
  if (typeof value === 'boolean') return value;
  return value === 1 || value === 0 ? value === 1 : null;
}
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

/** Unwraps a list of one entry, which a reward function writes when it returns a batch of one. Other values stay. */
export function unwrapSingle(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}

/** Parsed if it is JSON text; empty if there is none. Throws ProblemError on anything else. */
export function objectAt(record: JsonRecord, key: string): JsonRecord {
  const value = parsedIfJson(field(record, key)) ?? {};
  if (!isRecord(value)) throw new ProblemError({ got: `${shown(value)} for ${key}`, want: 'an object' });
  return value;
}

/** The list or its entries may be JSON text. Empty if there is none. Throws ProblemError on anything else. */
export function objectListAt(record: JsonRecord, key: string): readonly JsonRecord[] {
  const list: unknown = parsedIfJson(field(record, key)) ?? [];
  if (!Array.isArray(list)) throw new ProblemError({ got: `${shown(list)} for ${key}`, want: 'a list of objects' });
  return list.map((item: unknown, i) => {
    const entry = parsedIfJson(item);
    if (!isRecord(entry))
      throw new ProblemError({ got: `${shown(entry)} in ${key}, entry ${i + 1}`, want: 'an object' });
    return entry;
  });
}

/** Null if there is none. Null entries stay; booleans become 1 or 0. Throws ProblemError on anything else, or not `length` entries. */
export function numbersOrNull(record: JsonRecord, key: string, length?: number): (number | null)[] | null {
  const list = field(record, key);
  if (list === undefined) return null;
  if (!Array.isArray(list)) throw new ProblemError({ got: `${shown(list)} for ${key}`, want: 'a list of numbers' });
  if (length !== undefined && list.length !== length) {
    throw new ProblemError({
      got: `${list.length} entries in ${key}`,
      want: `${length}, one for each token`,
    });
  }
  return list.map((entry: unknown, i) => {
    if (entry === null) return null;
    if (typeof entry === 'boolean') return Number(entry);
    if (typeof entry !== 'number')
      throw new ProblemError({ got: `${shown(entry)} in ${key}, entry ${i + 1}`, want: 'a number' });
    return entry;
  });
}

/** Null if there is none. Throws ProblemError unless every entry is a whole number from 0. */
export function idsOrNull(record: JsonRecord, key: string): number[] | null {
  const list = numbersOrNull(record, key);
  return list?.map((id, i) => checkedId(id, key, i)) ?? null;
}

function checkedId(id: number | null, key: string, i: number): number {
  if (id !== null && Number.isSafeInteger(id) && id >= 0) return id;
  throw new ProblemError({ got: `${shown(id)} in ${key}, entry ${i + 1}`, want: 'a token id: a whole number from 0' });
}

/** Reads one value of a line; null if it is missing or cannot be understood. */
type ValueReader = (record: JsonRecord, key: string) => string | number | boolean | null;

/**
 * The values of a line at keys other than `keysRead`, as text. Long values are shortened, and at most 100 keys are
 * listed. A key of `readers` counts as read unless its reader cannot understand the value. So nothing in a line goes
 * unseen.
 */
export function unreadValues(
  record: JsonRecord,
  keysRead: readonly string[],
  readers: Readonly<Record<string, ValueReader>> = {},
): (readonly [string, string])[] {
  const understood = (key: string) =>
    Object.hasOwn(readers, key) && (field(record, key) === undefined || readers[key]?.(record, key) !== null);
  const unreadKeys = Object.keys(record).filter((key) => !keysRead.includes(key) && !understood(key));
  const listed = unreadKeys
    .slice(0, MAX_EXTRAS)
    .map((key) => [visible(key), shortened(asText(Object.getOwnPropertyDescriptor(record, key)?.value))] as const);
  const unlistedCount = unreadKeys.length - listed.length;
  return unlistedCount > 0 ? [...listed, ['…', `and ${unlistedCount} more keys`]] : listed;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function shortened(text: string): string {
  return text.length > MAX_EXTRA_LENGTH ? `${text.slice(0, MAX_EXTRA_LENGTH)} … (${text.length} characters)` : text;
}
