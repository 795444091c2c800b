import { BadLine, isObject, type JsonObject, shown } from './fields.ts';

/** A line's object, and how many numbers of it are none: Python writes NaN and Infinity, which JSON has not; they are read as absent. */
export interface ParsedLine {
  readonly line: JsonObject;
  readonly nonFinite: number;
}

const decoder = new TextDecoder('utf-8', { fatal: true });
const AROUND = 24; // characters shown around a fault

/** Reads a line of JSON Lines. Throws BadLine: no UTF-8, no JSON, no object. */
export function parseLine(bytes: Uint8Array): ParsedLine {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw new BadLine(
      'bytes that are no UTF-8 (Latin-1 or Windows-1252, perhaps)',
      'UTF-8: save the file in that encoding',
    );
  }
  const { value, nonFinite } = parse(text);
  if (!isObject(value)) {
    const whole = Array.isArray(value) ? '; a file that is one list has to be written a line each' : '';
    throw new BadLine(shown(value), `an object, one a line${whole}`);
  }
  return { line: value, nonFinite };
}

function parse(text: string): { value: unknown; nonFinite: number } {
  try {
    return { value: JSON.parse(text), nonFinite: 0 };
  } catch (error) {
    const repaired = withoutNonFinite(text);
    if (repaired.nonFinite > 0) {
      try {
        return { value: JSON.parse(repaired.text), nonFinite: repaired.nonFinite };
      } catch {
        // the fault is another one: told of the line as it was
      }
    }
    throw new BadLine(`no JSON${place(error, text)}`, 'one JSON object on a line of its own');
  }
}

/** Replaces NaN, Infinity and -Infinity outside of texts by null. */
function withoutNonFinite(text: string): { text: string; nonFinite: number } {
  let nonFinite = 0;
  let out = '';
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    const outside = text.slice(at, quote < 0 ? text.length : quote);
    out += outside.replace(/-?\bInfinity\b|\bNaN\b/g, () => {
      nonFinite++;
      return 'null';
    });
    if (quote < 0) break;
    const end = endOfText(text, quote);
    out += text.slice(quote, end);
    at = end;
  }
  return { text: out, nonFinite };
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

/** Where the fault is, from what the engine says of it. */
function place(error: unknown, text: string): string {
  const at = Number(/position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1] ?? NaN);
  if (Number.isNaN(at)) return ` (${shown(text.slice(0, AROUND))}${text.length > AROUND ? '…' : ''})`;
  return ` at character ${at + 1} (${shown(text.slice(Math.max(0, at - AROUND), at + AROUND))})`;
}
