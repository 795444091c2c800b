import { availableParallelism } from 'node:os';
import { readFlags } from '../../tools/flags.mjs';
import { decimal } from '../base/decimal.ts';
import { visible } from '../base/visible.ts';
import { ConfigError } from '../config/configProblem.ts';

/** What `npm run sweep` was asked to do. */
export interface SweepArguments {
  readonly file: string;
  readonly out: string; // folder
  readonly jobs: number; // runs at a time
  readonly shard: { readonly i: number; readonly n: number }; // i from 1; 1/1: all
  readonly merge: readonly string[]; // folders whose results are taken over first
  readonly only: 'runs' | 'table'; // table: nothing is run
  readonly json: boolean;
}

/** How `npm run sweep` is called. */
export const USAGE = [
  'npm run sweep -- FILE [--out DIR] [--jobs N] [--shard i/n] [--merge DIR …] [--table] [--json]',
  '  FILE       which knobs to try: examples/sweep.json, docs/long-jobs.md',
  '  --out      folder of results, one file a run; without: the name of FILE without .json',
  '  --jobs     runs at a time; without: one a core',
  '  --shard    the i-th of n parts, for as many machines',
  '  --merge    takes over the results of another folder',
  '  --table    runs nothing, writes the table of what is there',
].join('\n');
const FLAGS = {
  out: 'value',
  jobs: 'value',
  shard: 'value',
  merge: 'values',
  table: 'switch',
  json: 'switch',
} as const;
const MOST_JOBS = 256;
const MOST_SHARDS = 100_000;

/** Reads the arguments. Throws ConfigError with every problem: what was got, and what exists. */
export function parseSweepArguments(args: readonly string[]): SweepArguments {
  const { given, positionals: files, problems } = readFlags(args, FLAGS);
  const [file = ''] = files;
  if (files.length !== 1)
    problems.push({ what: `sweep needs one FILE, not ${files.map((f) => visible(f)).join(' ') || 'none'}.` });
  const jobs = whole(given.jobs ?? String(availableParallelism()), MOST_JOBS);
  if (jobs === null)
    problems.push({
      what: `--jobs can’t be ${visible(given.jobs ?? '')}.`,
      remedy: `Use a whole number from 1 to ${MOST_JOBS}.`,
    });
  const shard = shardFrom(given.shard ?? '1/1');
  if (shard === null) {
    problems.push({
      what: `--shard can’t be ${visible(given.shard ?? '')}.`,
      remedy: 'Use i/n with i from 1 to n, such as 2/8. SLURM: docs/long-jobs.md.',
    });
  }
  if (problems.length > 0 || jobs === null || shard === null) throw new ConfigError(problems, { usage: USAGE });
  const out = given.out ?? file.replace(/\.json$/i, '');
  return {
    ...{ file, jobs, shard, merge: given.merge ?? [], out: out === file ? `${file}-results` : out },
    ...{ only: given.table ? 'table' : 'runs', json: given.json ?? false },
  };
}

function shardFrom(text: string): SweepArguments['shard'] | null {
  const [first = '', last = '', ...more] = text.split('/');
  const n = whole(last, MOST_SHARDS);
  const i = n === null ? null : whole(first, n);
  return i === null || n === null || more.length > 0 ? null : { i, n };
}

/** A whole number from 1 to `most`; null where the text is none. */
function whole(text: string, most: number): number | null {
  const value = decimal(text) ?? NaN;
  return Number.isInteger(value) && value >= 1 && value <= most ? value : null;
}
