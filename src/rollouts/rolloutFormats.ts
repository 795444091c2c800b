import { agentR1 } from './agentR1.ts';
import type { JsonRecord } from '../base/jsonRecord.ts';
import { keysText } from './jsonFields.ts';
import { ProblemError } from '../base/problem.ts';
import type { RolloutFormat } from './rolloutFormat.ts';
import { openEnvEpisodes, trackio } from './messageLists.ts';
import { openEnvTraces } from './openEnvTraces.ts';
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
  trackio, // before RAGEN, which is known by two of the same keys
  ragen,
  primeRl,
  verl,
  trl,
  verifiersResults,
  openEnvTraces,
  openEnvEpisodes,
];

/** Lines of other programs, which are named as what they are. */
const OTHER_PROGRAMS: readonly { readonly keys: readonly string[]; readonly got: string; readonly want: string }[] = [
  {
    keys: ['columns', 'data'],
    got: 'a wandb table',
    want: 'one object per line: write each row of `data` as an object with the names in `columns` as its keys',
  },
  {
    keys: ['messages', 'reward', 'metadata'],
    got: 'a trajectory of ART',
    want: 'a format that is read here: write `messages` as `completion` and keep `reward`, as in verifiers’ results',
  },
  {
    keys: ['trajectories'],
    got: 'a group of trajectories of ART',
    want: 'a format that is read here: write each trajectory on a line, its `messages` as `completion`, as in verifiers’ results',
  },
];

/** The format of a line. Throws ProblemError if no format recognises it. */
export function formatOf(line: JsonRecord): RolloutFormat {
  const found = FORMATS.find((format) => format.recognises(line));
  if (found) return found;
  const other = OTHER_PROGRAMS.find(({ keys }) => keys.every((key) => Object.hasOwn(line, key)));
  if (other) throw new ProblemError({ got: other.got, want: other.want });
  const known = FORMATS.map(({ label, keys }) => `${label} (${keys})`).join(', ');
  throw new ProblemError({ got: `an object with ${keysText(line)}`, want: `a rollout of one of these: ${known}` });
}
