import { Environment } from '@huggingface/jinja';

/** A value of a running template. A list is an array of values, a dict a Map of values. */
export type Value = ReturnType<Environment['set']>;

/**
 * Converts a JavaScript value to a value of templates. A function then gets its arguments as plain JavaScript values.
 */
export const templateValue = (value: unknown): Value => new Environment().set('value', value);

/** The JavaScript value in a value of templates; null for the library's None, which contains none. */
const plainValue = ({ type, value }: Value): Value['value'] => (type === 'NullValue' ? null : value);

/** The text that `{{ value }}` writes: Python's `str`, or nothing for an undefined value. */
export function pythonText(value: Value): string {
  const plain = plainValue(value);
  return typeof plain === 'string' ? plain : repr(value);
}

/** Whether two values are equal by Python's `==`. */
export function pythonEquals(a: Value, b: Value): boolean {
  const [left, right] = [plainValue(a), plainValue(b)];
  if (Array.isArray(left) && Array.isArray(right)) {
    const sameShape = isTuple(a) === isTuple(b) && left.length === right.length;
    return sameShape && left.every((value, i) => pythonEquals(value, right[i] ?? a));
  }
  if (left instanceof Map && right instanceof Map) {
    return left.size === right.size && [...left].every(([key, value]) => pythonEquals(value, right.get(key) ?? a));
  }
  const number = (value: unknown) => (typeof value === 'boolean' ? Number(value) : value); // True == 1
  return number(left) === number(right);
}

/** The options of `tojson` in Transformers, which is Python's `json.dumps` with `ensure_ascii=False` by default. */
export interface JsonStyle {
  readonly indent: number | null;
  readonly ascii: boolean; // true: characters outside ASCII are written as \uXXXX
  readonly separators: readonly [string, string] | null; // text between entries, and text after a key
  readonly sortsKeys: boolean; // true: keys are sorted by code point
}

/** The style described by keyword arguments of `tojson`. */
export function jsonStyle(keywords: ReadonlyMap<string, Value>): JsonStyle {
  const [indent, separators] = [keywords.get('indent')?.value, keywords.get('separators')?.value];
  const [comma, colon] = Array.isArray(separators) ? separators.map(({ value }) => value) : [];
  return {
    indent: typeof indent === 'number' ? indent : null,
    ascii: keywords.get('ensure_ascii')?.value === true,
    separators: typeof comma === 'string' && typeof colon === 'string' ? [comma, colon] : null,
    sortsKeys: keywords.get('sort_keys')?.value === true,
  };
}

/** A value as JSON. Throws TypeError for undefined values and functions, which have no JSON. */
export function pythonJson(value: Value, style: JsonStyle, depth = 0): string {
  const { indent, ascii, sortsKeys } = style;
  const [comma, colon] = style.separators ?? [indent === null ? ', ' : ',', ': '];
  const text = (plain: string) => {
    const json = JSON.stringify(plain);
    return ascii
      ? json.replaceAll(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      : json;
  };
  const list = (open: string, entries: readonly string[], close: string) => {
    if (indent === null || entries.length === 0) return `${open}${entries.join(comma)}${close}`;
    const line = (level: number) => `\n${' '.repeat(indent * level)}`;
    return `${open}${line(depth + 1)}${entries.join(`${comma}${line(depth + 1)}`)}${line(depth)}${close}`;
  };
  const plain = plainValue(value);
  if (typeof plain === 'string') return text(plain);
  if (typeof plain === 'boolean') return String(plain);
  if (plain === null) return 'null';
  if (typeof plain === 'number') return numberText(value);
  if (Array.isArray(plain))
    return list(
      '[',
      plain.map((entry) => pythonJson(entry, style, depth + 1)),
      ']',
    );
  if (!(plain instanceof Map)) throw new TypeError('an undefined value or a function has no JSON');
  const entries = [...plain];
  if (sortsKeys) entries.sort(([a], [b]) => byCodePoint(a, b));
  return list(
    '{',
    entries.map(([key, entry]) => `${text(key)}${colon}${pythonJson(entry, style, depth + 1)}`),
    '}',
  );
}

function byCodePoint(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  const at = left.findIndex((character, i) => character !== right[i]);
  if (at < 0) return left.length - right.length;
  return (left[at]?.codePointAt(0) ?? 0) - (right[at]?.codePointAt(0) ?? -1);
}

const isTuple = ({ type }: Value) => type === 'TupleValue';

/** Python's `repr` of a value; '' for an undefined value. */
function repr(value: Value): string {
  const plain = plainValue(value);
  if (typeof plain === 'string') return quoted(plain);
  if (typeof plain === 'boolean') return plain ? 'True' : 'False';
  if (plain === null) return 'None';
  if (typeof plain === 'number') return numberText(value);
  if (Array.isArray(plain)) {
    const entries = plain.map((entry) => repr(entry));
    const list = entries.join(', ');
    return isTuple(value) ? `(${list}${plain.length === 1 ? ',' : ''})` : `[${list}]`;
  }
  if (!(plain instanceof Map)) return '';
  const entries = Array.from(plain, ([key, entry]) => `${quoted(key)}: ${repr(entry)}`);
  return `{${entries.join(', ')}}`;
}

/** A number in Python's notation, such as `1.0` and `1e-05`. */
function numberText({ value, type }: Value): string {
  const number = Number(value);
  if (type === 'FloatValue' && Number.isInteger(number) && Math.abs(number) < 1e16) return number.toFixed(1);
  const small = number !== 0 && Math.abs(number) < 1e-4;
  const text = small || (type === 'FloatValue' && Math.abs(number) >= 1e16) ? number.toExponential() : String(number);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

/** A text in quotation marks with escapes, like Python's `repr`. */
function quoted(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const characters = Array.from(text, (character) => {
    const escape = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\', [mark]: `\\${mark}` }[character];
    if (escape !== undefined) return escape;
    if (character === ' ' || !/[\p{C}\p{Z}]/u.test(character)) return character;
    const code = (character.codePointAt(0) ?? 0).toString(16);
    if (code.length <= 2) return `\\x${code.padStart(2, '0')}`;
    return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`;
  });
  return `${mark}${characters.join('')}${mark}`;
}

/**
 * The text of Jinja's filter `join`: the entries of a list, the keys of a dict or the letters of a text, each written as
 * Python writes it. With `attribute`, a member of each entry: `n`, or `a.b` for a member of a member. Throws TypeError if
 * the value has no entries to join.
 */
export function pythonJoin(value: Value, separator: string, attribute: Value | null): string {
  const path = attribute === null || attribute.type === 'NullValue' ? [] : pythonText(attribute).split('.');
  const memberOf = (entry: Value) =>
    path.reduce((part, name) => (part.value instanceof Map ? part.value.get(name) : undefined) ?? UNDEFINED, entry);
  return entriesOf(value)
    .map((entry) => pythonText(memberOf(entry)))
    .join(separator);
}

const UNDEFINED = templateValue(undefined);

function entriesOf({ type, value }: Value): readonly Value[] {
  if (type === 'UndefinedValue') return [];
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return [...value.keys()].map(templateValue);
  if (typeof value === 'string') return Array.from(value, templateValue);
  throw new TypeError(`${type} can’t be joined`);
}
