import { agentR1 } from './agentR1.ts';
import type { JsonRecord } from '../base/jsonRecord.ts';
import { keysText } from './jsonFields.ts';
import { ProblemError } from '../base/problem.ts';
import type { RolloutFormat } from './rolloutFormat.ts';
import { ownFormat } from './ownFormat.ts';
import { primeRl } from './primeRl.ts';
import { ragen } from './ragen.ts';
import { trl } from './trl.ts';
import { verifiers } from './verifiers.ts';
import { verifiersResults } from './verifiersResults.ts';
import { verl } from './verl.ts';

/** All formats that can be read. The first that recognises a file's first good line or row reads the whole file. */
export const FORMATS: readonly RolloutFormat[] = [
  ownFormat,
  verifiers,
  agentR1,
  ragen,
  primeRl,
  verl,
  trl,
  verifiersResults,
];

/** The format of a line. Throws ProblemError if no format recognises it. */
export function formatOf(line: JsonRecord): RolloutFormat {
  const found = FORMATS.find((format) => format.recognises(line));
  if (found) return found;
  const known = FORMATS.map(({ label, keys }) => `${label} (${keys})`).join(', ');
  throw new ProblemError({ got: `an object with ${keysText(line)}`, want: `a rollout of one of these: ${known}` });
}
