import type { Environment } from '@huggingface/jinja';

/** A value of a running template. Lists hold values, dicts are Maps of them. */
export type Value = ReturnType<Environment['set']>;

/** Takes letters from what a template may still write; throws where none are left. */
export type Spend = (letters: number) => void;

/** A value's own; the library's None has none. */
const ownOf = ({ type, value }: Value): Value['value'] => (type === 'NullValue' ? null : value);

/** What `{{ value }}` writes: Python's `str`. What is not defined is nothing. `spend` counts what is gone through, here and below: a list may hold one value many times over. */
export function pythonText(value: Value, spend: Spend): string {
  const own = ownOf(value);
  return typeof own === 'string' ? own : shown(value, spend);
}

/** Whether Python's `==` holds. */
export function pythonEquals(a: Value, b: Value, spend: Spend): boolean {
  spend(0);
  const [left, right] = [ownOf(a), ownOf(b)];
  if (Array.isArray(left) && Array.isArray(right)) {
    const both = isTuple(a) === isTuple(b) && left.length === right.length;
    return both && left.every((value, i) => pythonEquals(value, right[i] ?? a, spend));
  }
  if (left instanceof Map && right instanceof Map) {
    return (
      left.size === right.size && [...left].every(([key, value]) => pythonEquals(value, right.get(key) ?? a, spend))
    );
  }
  const number = (value: unknown) => (typeof value === 'boolean' ? Number(value) : value); // True == 1
  return number(left) === number(right);
}

/** How `tojson` of Transformers writes, which is Python's `json.dumps` with `ensure_ascii=False`. */
export interface JsonStyle {
  readonly indent: number | null;
  readonly ascii: boolean; // true: letters outside ASCII are written as \uXXXX
  readonly separators: readonly [string, string] | null; // between entries, after a key
  readonly sorts: boolean; // keys, by code point
}

/** The style that arguments of `tojson` name. */
export function jsonStyle(named: ReadonlyMap<string, Value>): JsonStyle {
  const [indent, separators] = [named.get('indent')?.value, named.get('separators')?.value];
  const [comma, colon] = Array.isArray(separators) ? separators.map(({ value }) => value) : [];
  return {
    indent: typeof indent === 'number' ? indent : null,
    ascii: named.get('ensure_ascii')?.value === true,
    separators: typeof comma === 'string' && typeof colon === 'string' ? [comma, colon] : null,
    sorts: named.get('sort_keys')?.value === true,
  };
}

/** A value as JSON. Throws TypeError if there is none. */
export function pythonJson(value: Value, style: JsonStyle, spend: Spend, depth = 0): string {
  const { indent, ascii, sorts } = style;
  const [comma, colon] = style.separators ?? [indent === null ? ', ' : ',', ': '];
  const text = (of: string) => {
    const json = JSON.stringify(of);
    return ascii
      ? json.replaceAll(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      : json;
  };
  const list = (open: string, entries: readonly string[], close: string) => {
    spend(lengthOf(entries) + entries.length * (comma.length + (indent ?? 0) * (depth + 1)));
    if (indent === null || entries.length === 0) return `${open}${entries.join(comma)}${close}`;
    const line = (inside: number) => `\n${' '.repeat(indent * inside)}`;
    return `${open}${line(depth + 1)}${entries.join(`${comma}${line(depth + 1)}`)}${line(depth)}${close}`;
  };
  const of = ownOf(value);
  spend(typeof of === 'string' ? of.length : 0);
  if (typeof of === 'string') return text(of);
  if (typeof of === 'boolean') return String(of);
  if (of === null) return 'null';
  if (typeof of === 'number') return numberText(value);
  if (Array.isArray(of))
    return list(
      '[',
      of.map((entry) => pythonJson(entry, style, spend, depth + 1)),
      ']',
    );
  if (!(of instanceof Map)) throw new TypeError('what is not defined, or a function, has no JSON');
  const entries = [...of];
  if (sorts) entries.sort(([a], [b]) => byCodePoint(a, b));
  return list(
    '{',
    entries.map(([key, entry]) => `${text(key)}${colon}${pythonJson(entry, style, spend, depth + 1)}`),
    '}',
  );
}

function byCodePoint(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  const at = left.findIndex((letter, i) => letter !== right[i]);
  if (at < 0) return left.length - right.length;
  return (left[at]?.codePointAt(0) ?? 0) - (right[at]?.codePointAt(0) ?? -1);
}

const lengthOf = (texts: readonly string[]) => texts.reduce((sum, { length }) => sum + length, 0);

const isTuple = ({ type }: Value) => type === 'TupleValue';

/** Python's `repr`; what is not defined is nothing. */
function shown(value: Value, spend: Spend): string {
  const of = ownOf(value);
  spend(typeof of === 'string' ? of.length : 0);
  if (typeof of === 'string') return quoted(of);
  if (typeof of === 'boolean') return of ? 'True' : 'False';
  if (of === null) return 'None';
  if (typeof of === 'number') return numberText(value);
  if (Array.isArray(of)) {
    const entries = of.map((entry) => shown(entry, spend));
    spend(lengthOf(entries));
    const list = entries.join(', ');
    return isTuple(value) ? `(${list}${of.length === 1 ? ',' : ''})` : `[${list}]`;
  }
  if (!(of instanceof Map)) return '';
  const entries = Array.from(of, ([key, entry]) => `${quoted(key)}: ${shown(entry, spend)}`);
  spend(lengthOf(entries));
  return `{${entries.join(', ')}}`;
}

/** A number as Python writes it: `1.0`, `1e-05`. */
function numberText({ value, type }: Value): string {
  const number = Number(value);
  if (type === 'FloatValue' && Number.isInteger(number) && Math.abs(number) < 1e16) return number.toFixed(1);
  const small = number !== 0 && Math.abs(number) < 1e-4;
  const text = small || (type === 'FloatValue' && Math.abs(number) >= 1e16) ? number.toExponential() : String(number);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

/** A text in quotation marks, as Python's `repr` writes it. */
function quoted(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const letters = Array.from(text, (letter) => {
    const named = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\', [mark]: `\\${mark}` }[letter];
    if (named !== undefined) return named;
    if (letter === ' ' || !/[\p{C}\p{Z}]/u.test(letter)) return letter;
    const code = (letter.codePointAt(0) ?? 0).toString(16);
    if (code.length <= 2) return `\\x${code.padStart(2, '0')}`;
    return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`;
  });
  return `${mark}${letters.join('')}${mark}`;
}
