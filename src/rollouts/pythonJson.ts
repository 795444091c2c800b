/** A JSON value that Python wrote. `nonFinite` counts the numbers that were NaN or infinite; they are null in the value. */
export interface PythonJson {
  readonly value: unknown;
  readonly nonFinite: number;
}

/** Matches text that may contain a whole number of 16 or more digits, which may be beyond 2^53. */
const MAYBE_LONG_INTEGER = /(?<![\d.])\d{16,}(?![\d.eE])/;
const LONG_INTEGER = /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
const NON_FINITE = /-?\bInfinity\b|\bNaN\b/g;

/**
 * Reads JSON that Python's `json` wrote. NaN and Infinity, which JSON does not have, become null. Whole numbers beyond
 * 2^53, which a double would round, become strings with all their digits. Throws SyntaxError, with positions in `text`,
 * on anything else.
 */
export function readPythonJson(text: string): PythonJson {
  const withLongQuoted = MAYBE_LONG_INTEGER.test(text) ? changeOutsideStrings(text, quoteLongIntegers) : text;
  try {
    return { value: JSON.parse(withLongQuoted), nonFinite: 0 };
  } catch {
    let nonFinite = 0;
    const repaired = changeOutsideStrings(withLongQuoted, (outside) =>
      outside.replace(NON_FINITE, () => {
        nonFinite++;
        return 'null';
      }),
    );
    try {
      if (nonFinite > 0) return { value: JSON.parse(repaired), nonFinite };
    } catch {
      // NaN and Infinity were not the only problem
    }
    return { value: JSON.parse(text), nonFinite: 0 }; // throws, with the position in the original text
  }
}

/** Only an object or a list; other values stay. Some programs write parts of a line as JSON text. */
export function parsedIfJson(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return readPythonJson(value).value;
  } catch {
    return value;
  }
}

function quoteLongIntegers(outside: string): string {
  return outside.replace(LONG_INTEGER, (digits) => (Number.isSafeInteger(Number(digits)) ? digits : `"${digits}"`));
}

/** Applies `change` to the parts of JSON text outside its quoted strings. */
function changeOutsideStrings(text: string, change: (outside: string) => string): string {
  const out: string[] = [];
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    out.push(change(text.slice(at, quote < 0 ? text.length : quote)));
    if (quote < 0) break;
    const end = endOfPythonString(text, quote);
    out.push(text.slice(quote, end));
    at = end;
  }
  return out.join('');
}

/** The index after the closing quote of the string that opens at `quote`. */
function endOfPythonString(text: string, quote: number): number {
  let at = quote + 1;
  for (;;) {
    const close = text.indexOf('"', at);
    if (close < 0) return text.length;
    let slashes = 0;
    while (text[close - 1 - slashes] === '\\') slashes++;
    at = close + 1;
    if (slashes % 2 === 0) return at;
  }
}
