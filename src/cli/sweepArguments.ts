import { availableParallelism } from 'node:os';
import { readFlags } from '../../tools/flags.mjs';
import { parseDecimal } from '../base/decimal.ts';
import { visible } from '../base/visible.ts';
import { ConfigError } from '../config/configProblem.ts';

export interface SweepArguments {
  readonly file: string;
  readonly out: string; // folder
  readonly jobs: number; // runs at a time
  readonly shard: { readonly i: number; readonly n: number }; // i from 1; 1/1: all
  readonly merge: readonly string[]; // folders whose results are taken over first
  readonly only: 'runs' | 'table'; // table: nothing is run
  readonly json: boolean;
}

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
const MAX_JOBS = 256;
const MAX_SHARDS = 100_000;

/** Reads the arguments. Throws ConfigError with every problem: what was found, and what exists. */
export function parseSweepArguments(args: readonly string[]): SweepArguments {
  const { given, positionals: files, problems } = readFlags(args, FLAGS);
  const [file = ''] = files;
  if (files.length !== 1)
    problems.push({ what: `sweep needs one FILE, not ${files.map((f) => visible(f)).join(' ') || 'none'}.` });
  const jobs = wholeNumber(given.jobs ?? String(availableParallelism()), MAX_JOBS);
  if (jobs === null)
    problems.push({
      what: `--jobs can’t be ${visible(given.jobs ?? '')}.`,
      remedy: `Use a whole number from 1 to ${MAX_JOBS}.`,
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
  const n = wholeNumber(last, MAX_SHARDS);
  const i = n === null ? null : wholeNumber(first, n);
  return i === null || n === null || more.length > 0 ? null : { i, n };
}

/** Reads a whole number from 1 to `max`. Null for any other text. */
function wholeNumber(text: string, max: number): number | null {
  const value = parseDecimal(text) ?? NaN;
  return Number.isInteger(value) && value >= 1 && value <= max ? value : null;
}
