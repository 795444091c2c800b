/** An object from JSON. Any key is possible, even `__proto__`, so check with `Object.hasOwn` before reading a value. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: not a list, not null. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of an object's own field. Inherited fields count as undefined. */
export function field(record: JsonRecord, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Whether a value is a whole number from 0 that JavaScript stores exactly. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** A text that isn't empty; null for any other value. */
export function filledText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Whether a value is an object whose values are all texts. */
export function isTextRecord(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every((text) => typeof text === 'string');
}

/** Returns a short text for a JSON value, for messages. */
export function valueText(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return value === '' ? "''" : value;
  if (Array.isArray(value)) return 'a list';
  return isRecord(value) ? 'an object' : JSON.stringify(value);
}

/** The lines of JSON Lines without the blank ones, numbered from 1; `record` is null if a line isn't a JSON object. */
export function* jsonLines(text: string): Generator<{
  readonly number: number;
  readonly line: string;
  readonly record: JsonRecord | null;
  readonly isLast: boolean; // whether it ends the file, without a line end
}> {
  const lines = text.split('\n');
  for (const [i, line] of lines.entries()) {
    if (line.trim() !== '') yield { number: i + 1, line, record: parsedRecord(line), isLast: i === lines.length - 1 };
  }
}

function parsedRecord(text: string): JsonRecord | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

const MAX_JSON_DEPTH = 500;

/** True above 500 levels. `JSON.parse` reads any depth, but `JSON.stringify` and other recursive code would end with a full call stack. */
export function isNestedTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (isInString && sign === '\\') at++;
    else if (sign === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (sign === '{' || sign === '[') depth++;
    else if (sign === '}' || sign === ']') depth--;
    if (depth > MAX_JSON_DEPTH) return true;
  }
  return false;
}
