import { MOST_BYTES } from '../facts/decode.ts';
import type { Facts } from '../facts/facts.ts';
import { parseFacts } from '../facts/parse.ts';
import { callerPath, readWhole } from './files.ts';

/** The facts of a file. Throws FileError where it cannot be read, FactsError where it cannot be used. */
export async function readFacts(file: string): Promise<Facts> {
  const { facts, notes } = parseFacts(file, await readWhole(callerPath(file), MOST_BYTES));
  for (const note of notes) console.error(note);
  return facts;
}
