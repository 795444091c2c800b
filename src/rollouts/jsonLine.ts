import { isRecord, type JsonRecord } from '../base/jsonRecord.ts';
import { shown } from './jsonFields.ts';
import { ProblemError } from '../base/problem.ts';
import { type PythonJson, readPythonJson } from './pythonJson.ts';

/** The object of a line. `nonFinite` counts its numbers that were NaN or infinite; these have become null. */
export interface ParsedLine {
  readonly line: JsonRecord;
  readonly nonFinite: number;
}

const decoder = new TextDecoder('utf-8', { fatal: true });
const QUOTED_AROUND = 24; // characters shown around a fault

/** Parses a line of JSON Lines. Throws ProblemError if it is not UTF-8, not JSON or not an object. */
export function parseLine(bytes: Uint8Array): ParsedLine {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw new ProblemError({
      got: 'bytes that are not UTF-8 (perhaps Latin-1 or Windows-1252)',
      want: 'UTF-8: save the file in that encoding',
    });
  }
  const { value, nonFinite } = parse(text);
  if (!isRecord(value)) {
    const hint = Array.isArray(value) ? '; if the file is one list, write each entry on a line of its own' : '';
    throw new ProblemError({ got: shown(value), want: `one object per line${hint}` });
  }
  return { line: value, nonFinite };
}

function parse(text: string): PythonJson {
  try {
    return readPythonJson(text);
  } catch (error) {
    throw new ProblemError({
      got: `invalid JSON${placeOf(error, text)}`,
      want: 'one JSON object on a line of its own',
    });
  }
}

/** The place of a syntax error in `text`, from the JavaScript engine's message, with the text around it. */
function placeOf(error: unknown, text: string): string {
  const at = Number(/position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1] ?? NaN);
  if (Number.isNaN(at)) return ` (${shown(text.slice(0, QUOTED_AROUND))}${text.length > QUOTED_AROUND ? '…' : ''})`;
  return ` at character ${at + 1} (${shown(text.slice(Math.max(0, at - QUOTED_AROUND), at + QUOTED_AROUND))})`;
}
