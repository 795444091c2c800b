import { isRecord, type JsonRecord, shown } from '../base/jsonRecord.ts';
import { ProblemError } from '../base/problem.ts';

export { isRecord, type JsonRecord, shown };

const REMEDY = 'Write the file anew with the program it came from.';

/** An own field of an object; what it inherits is none of it. */
export function field(record: JsonRecord, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/**
 * JSON text as a value. Throws ProblemError, with the file and the place in it, on bytes that are not UTF-8, on what is not JSON, and
 * on an object with a name twice, of which every reader would take another.
 */
export function readJson(file: string, bytes: Uint8Array, place = '', remedy = REMEDY): unknown {
  const fail = (got: string, want: string) => new ProblemError([{ file, place, got, want, remedy }]);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw fail('bytes that are not UTF-8', 'JSON in UTF-8');
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw fail(`what is not JSON (${error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : ''})`, 'JSON');
  }
  const twice = nameTwice(text);
  if (twice !== null) throw fail(`the name ${twice} twice in one object`, 'every name once');
  return value;
}

/** JSON text that reads back to the same numbers: `-0` is kept, which `JSON.stringify` alone writes as 0. */
export function jsonText(value: unknown, indent = 2): string {
  const marked = JSON.stringify(value, (_, x: unknown) => (Object.is(x, -0) ? MINUS_ZERO : x), indent);
  return `${marked.replaceAll(JSON.stringify(MINUS_ZERO), '-0')}\n`;
}
const MINUS_ZERO = '\u0000-0';

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
const BLANK = 0x20; // and all below it that JSON has between its parts

/** The first name that an object of valid JSON text has twice; null where none has. */
function nameTwice(text: string): string | null {
  const open: (Set<string> | null)[] = []; // names of the objects around, null for lists
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT) open.push(new Set());
    else if (code === OPEN_LIST) open.push(null);
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) open.pop();
    else if (code === QUOTE) {
      const end = endOfString(text, at);
      const names = open.at(-1);
      if (names && isName(text, end + 1)) {
        const written = text.slice(at + 1, end);
        const name = written.includes('\\') ? String(JSON.parse(`"${written}"`)) : written;
        if (names.has(name)) return name;
        names.add(name);
      }
      at = end;
    }
  }
  return null;
}

/** Where the quote is that ends the string opened at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0 || end < 0) return end < 0 ? text.length : end;
  }
}

function isName(text: string, after: number): boolean {
  let at = after;
  while (text.charCodeAt(at) <= BLANK) at++;
  return text.charCodeAt(at) === COLON;
}
