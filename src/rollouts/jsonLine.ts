import { isRecord, type JsonRecord } from '../base/jsonRecord.ts';
import { shown } from './jsonFields.ts';
import { ProblemError } from '../base/problem.ts';
import { type PythonJson, readPythonJson } from './pythonJson.ts';

/** A line's object, and how many of its numbers were NaN or infinite: they are read as absent. */
export interface ParsedLine {
  readonly line: JsonRecord;
  readonly nonFinite: number;
}

const decoder = new TextDecoder('utf-8', { fatal: true });
const AROUND = 24; // characters shown around a fault

/** Reads a line of JSON Lines. Throws ProblemError: no UTF-8, no JSON, no object. */
export function parseLine(bytes: Uint8Array): ParsedLine {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw new ProblemError({
      got: 'bytes that are no UTF-8 (Latin-1 or Windows-1252, perhaps)',
      want: 'UTF-8: save the file in that encoding',
    });
  }
  const { value, nonFinite } = parse(text);
  if (!isRecord(value)) {
    const whole = Array.isArray(value) ? '; a file that is one list has to be written a line each' : '';
    throw new ProblemError({ got: shown(value), want: `an object, one a line${whole}` });
  }
  return { line: value, nonFinite };
}

function parse(text: string): PythonJson {
  try {
    return readPythonJson(text);
  } catch (error) {
    throw new ProblemError({ got: `no JSON${place(error, text)}`, want: 'one JSON object on a line of its own' });
  }
}

/** Where the fault is, from what the engine says of it. */
function place(error: unknown, text: string): string {
  const at = Number(/position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1] ?? NaN);
  if (Number.isNaN(at)) return ` (${shown(text.slice(0, AROUND))}${text.length > AROUND ? '…' : ''})`;
  return ` at character ${at + 1} (${shown(text.slice(Math.max(0, at - AROUND), at + AROUND))})`;
}
