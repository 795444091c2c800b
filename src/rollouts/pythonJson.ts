/** A value of JSON as Python writes it, and how many of its numbers were NaN or infinite: they are null in the value. */
export interface PythonJson {
  readonly value: unknown;
  readonly nonFinite: number;
}

/** Whether a whole number of sixteen digits or more may be in a text: such numbers may be beyond 2^53. */
const MAY_BE_LONG = /(?<![\d.])\d{16,}(?![\d.eE])/;
const LONG = /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
const NON_FINITE = /-?\bInfinity\b|\bNaN\b/g;

/**
 * Reads JSON that Python's `json` wrote: NaN and Infinity, which JSON does not have, become null, and whole numbers beyond 2^53, which
 * a double rounds, become texts of all their digits. Throws SyntaxError, with places in `text`, on anything else.
 */
export function readPythonJson(text: string): PythonJson {
  const whole = MAY_BE_LONG.test(text) ? outsideTexts(text, quoteLong) : text;
  try {
    return { value: JSON.parse(whole), nonFinite: 0 };
  } catch {
    let nonFinite = 0;
    const repaired = outsideTexts(whole, (outside) =>
      outside.replace(NON_FINITE, () => {
        nonFinite++;
        return 'null';
      }),
    );
    try {
      if (nonFinite > 0) return { value: JSON.parse(repaired), nonFinite };
    } catch {
      // the fault is another one
    }
    return { value: JSON.parse(text), nonFinite: 0 }; // throws, and names the place in the text as it was
  }
}

/** A text that holds an object or a list of JSON, as that; any other value as it is. Some programs write parts of a line as JSON texts. */
export function unwrapped(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return readPythonJson(value).value;
  } catch {
    return value;
  }
}

function quoteLong(outside: string): string {
  return outside.replace(LONG, (digits) => (Number.isSafeInteger(Number(digits)) ? digits : `"${digits}"`));
}

/** JSON text with what stands outside its quoted texts changed. */
function outsideTexts(text: string, change: (outside: string) => string): string {
  const out: string[] = [];
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    out.push(change(text.slice(at, quote < 0 ? text.length : quote)));
    if (quote < 0) break;
    const end = endOfText(text, quote);
    out.push(text.slice(quote, end));
    at = end;
  }
  return out.join('');
}

/** After the closing quote of the text that opens at `quote`. */
function endOfText(text: string, quote: number): number {
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
