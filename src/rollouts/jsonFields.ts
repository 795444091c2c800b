import { isRecord, type JsonRecord } from '../base/jsonRecord.ts';
import { decimal } from '../base/decimal.ts';
import { ProblemError } from '../base/problem.ts';
import { visible } from '../base/visible.ts';
import { unwrapped } from './pythonJson.ts';

const MOST_EXTRAS = 100;
const LONGEST_EXTRA = 2000; // characters
const LONGEST_GOT = 60;

/** Whether an object has all of these keys. What they hold may be null: a format is known by its keys. */
export function has(of: JsonRecord, ...keys: readonly string[]): boolean {
  return keys.every((key) => Object.hasOwn(of, key));
}

/** The value of a key; undefined if there is none, or null. */
export function field(of: JsonRecord, key: string): unknown {
  return Object.hasOwn(of, key) ? (of[key] ?? undefined) : undefined;
}

/** A value in a few words. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'string') return `the text “${visible(value, LONGEST_GOT)}”`;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isRecord(value)) return `an object with ${keysText(value)}`;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : typeof value;
}

/** The first keys of an object, in words. */
export function keysText(of: JsonRecord): string {
  const keys = Object.keys(of);
  if (keys.length === 0) return 'no keys';
  const first = keys.slice(0, 6).map((key) => visible(key, 24));
  return `the keys ${first.join(', ')}${keys.length > first.length ? ` and ${keys.length - first.length} more` : ''}`;
}

/** The text of a key. Throws ProblemError where it is no text. */
export function textOf(of: JsonRecord, key: string): string {
  const value = single(field(of, key));
  if (typeof value !== 'string') throw new ProblemError({ got: `${shown(value)} for ${key}`, want: 'a text' });
  return value;
}

/** A text, or null if there is none. Numbers become text: ids are written either way. */
export function textOrNull(of: JsonRecord, key: string): string | null {
  const value = single(field(of, key));
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? value : null;
}

/** A finite number, also as yes or no or as the text of one; null if there is none. */
export function numberOrNull(of: JsonRecord, key: string): number | null {
  const value = single(field(of, key));
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'string') return decimal(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Yes or no, also as 1 or 0 or as Python's texts of them; null where it is absent or anything else. */
export function flagOrNull(of: JsonRecord, key: string): boolean | null {
  const value = single(field(of, key));
  if (typeof value === 'string') return FLAGS.get(value.toLowerCase()) ?? null;
  if (typeof value === 'boolean') return value;
  return value === 1 || value === 0 ? value === 1 : null;
}
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

/** The entry of a list of one: a reward function that returns a batch of one writes that. */
export function single(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}

/** An object, also as a text of JSON, or an empty one if there is none. Throws ProblemError on anything else. */
export function objectOf(of: JsonRecord, key: string): JsonRecord {
  const value = unwrapped(field(of, key)) ?? {};
  if (!isRecord(value)) throw new ProblemError({ got: `${shown(value)} for ${key}`, want: 'an object' });
  return value;
}

/** A list of objects, also as a text of JSON or of such texts, empty if there is none. Throws ProblemError on anything else. */
export function objectsOf(of: JsonRecord, key: string): readonly JsonRecord[] {
  const list: unknown = unwrapped(field(of, key)) ?? [];
  if (!Array.isArray(list)) throw new ProblemError({ got: `${shown(list)} for ${key}`, want: 'a list of objects' });
  return list.map((written: unknown, i) => {
    const entry = unwrapped(written);
    if (!isRecord(entry))
      throw new ProblemError({ got: `${shown(entry)} in ${key}, entry ${i + 1}`, want: 'an object' });
    return entry;
  });
}

/** A list of numbers; null if there is none. An entry that is null stays null. Throws ProblemError on anything else, or on another length. */
export function numbersOrNull(of: JsonRecord, key: string, length?: number): (number | null)[] | null {
  const list = field(of, key);
  if (list === undefined) return null;
  if (!Array.isArray(list)) throw new ProblemError({ got: `${shown(list)} for ${key}`, want: 'a list of numbers' });
  if (length !== undefined && list.length !== length) {
    throw new ProblemError({
      got: `${list.length} entries in ${key}`,
      want: `${length}, one for each token it speaks of`,
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

/** A list of token ids; null if there is none. Throws ProblemError on anything that is no whole number from 0. */
export function idsOrNull(of: JsonRecord, key: string): number[] | null {
  const list = numbersOrNull(of, key);
  return list?.map((id, i) => wholeId(id, key, i)) ?? null;
}

function wholeId(id: number | null, key: string, i: number): number {
  if (id !== null && Number.isSafeInteger(id) && id >= 0) return id;
  throw new ProblemError({ got: `${shown(id)} in ${key}, entry ${i + 1}`, want: 'a token id: a whole number from 0' });
}

/** How a fact of a line is read; null: it is not there, or cannot be understood. */
type FactReader = (of: JsonRecord, key: string) => string | number | boolean | null;

/**
 * What a line holds beside the keys that were `read`, as text; long values are cut, and so is a long list. `facts` were read too, but
 * those that their readers could not understand are in it: nothing that a line says is lost.
 */
export function extrasOf(
  of: JsonRecord,
  read: readonly string[],
  facts: Readonly<Record<string, FactReader>> = {},
): (readonly [string, string])[] {
  const understood = (key: string) =>
    Object.hasOwn(facts, key) && (field(of, key) === undefined || facts[key]?.(of, key) !== null);
  const left = Object.keys(of).filter((key) => !read.includes(key) && !understood(key));
  const kept = left
    .slice(0, MOST_EXTRAS)
    .map((key) => [visible(key), cut(plain(Object.getOwnPropertyDescriptor(of, key)?.value))] as const);
  const more = left.length - kept.length;
  return more > 0 ? [...kept, ['…', `and ${more} more keys`]] : kept;
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function cut(text: string): string {
  return text.length > LONGEST_EXTRA ? `${text.slice(0, LONGEST_EXTRA)} … (${text.length} characters)` : text;
}
