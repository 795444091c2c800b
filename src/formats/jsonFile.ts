import { isRecord, type JsonRecord, valueText } from '../base/jsonRecord.ts';
import { ProblemError } from '../base/problem.ts';

export { isRecord, type JsonRecord, valueText as shown };

const REMEDY = 'Write the file anew with the program it came from.';

/** The value of an object's own field. Inherited fields count as undefined. */
export function field(record: JsonRecord, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/**
 * Parses JSON text. Throws ProblemError, with the file and the place in it, on bytes that are not UTF-8, on text that
 * is not JSON, and on an object that has a name twice, because programs differ in which of the two values they take.
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
    throw fail(`invalid JSON (${error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : ''})`, 'JSON');
  }
  const duplicate = duplicateName(text);
  if (duplicate !== null) throw fail(`the name ${duplicate} twice in one object`, 'every name once');
  return value;
}

/** JSON text that reads back to the same numbers. It keeps `-0`, which `JSON.stringify` alone would write as 0. */
export function jsonText(value: unknown, indent = 2): string {
  const marked = JSON.stringify(value, (_, x: unknown) => (Object.is(x, -0) ? MINUS_ZERO : x), indent);
  return `${marked.replaceAll(JSON.stringify(MINUS_ZERO), '-0')}\n`;
}
const MINUS_ZERO = '\u0000-0';

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
const BLANK = 0x20; // the other white space of JSON has smaller codes

/** The first name that occurs twice in one object of valid JSON text; null if there is none. */
function duplicateName(text: string): string | null {
  const openContainers: (Set<string> | null)[] = []; // for each enclosing object its names so far, for each list null
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT) openContainers.push(new Set());
    else if (code === OPEN_LIST) openContainers.push(null);
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) openContainers.pop();
    else if (code === QUOTE) {
      const end = endOfJsonString(text, at);
      const names = openContainers.at(-1);
      if (names && isFollowedByColon(text, end + 1)) {
        const rawName = text.slice(at + 1, end);
        const name = rawName.includes('\\') ? String(JSON.parse(`"${rawName}"`)) : rawName;
        if (names.has(name)) return name;
        names.add(name);
      }
      at = end;
    }
  }
  return null;
}

/** The index of the quote that closes the string opened at `start`. */
function endOfJsonString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0 || end < 0) return end < 0 ? text.length : end;
  }
}

function isFollowedByColon(text: string, start: number): boolean {
  let at = start;
  while (text.charCodeAt(at) <= BLANK) at++;
  return text.charCodeAt(at) === COLON;
}
