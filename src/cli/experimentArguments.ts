import { availableParallelism } from 'node:os';
import { readFlags } from '../../tools/flags.mjs';
import { FIELDS, parseField, type RunConfig } from '../config/config.ts';
import { ConfigError } from '../config/configProblem.ts';
import { EXPERIMENT_NAMES, EXPERIMENTS, isExperiment } from '../experiments/experimentList.ts';
import type { Problem } from '../base/problem.ts';
import { parseDecimal } from '../base/decimal.ts';
import { firstSeeds, plannedRuns, planOf, type Plan } from '../experiments/experimentPlan.ts';
import { parseSweep } from '../experiments/sweepFile.ts';
import { visible } from '../base/visible.ts';

export interface ExperimentArguments {
  readonly plan: Plan;
  readonly out: string; // folder
  readonly jobs: number; // number of runs that train at the same time
  readonly shard: { readonly i: number; readonly n: number }; // i from 1; 1/1: all
  readonly merge: readonly string[]; // folders whose results are taken over first
  readonly only: 'runs' | 'table'; // table: nothing is run
  readonly json: boolean;
}

export const USAGE = [
  'npm run experiment -- NAME [FLAGS]',
  'npm run sweep -- FILE [FLAGS]',
  `  NAME       one of ${EXPERIMENT_NAMES.join(', ')}`,
  '  FILE       an experiment of your own: examples/sweep.json, docs/experiments.md',
  '  --seeds    trains seeds 1 to N',
  '  --updates  of each run',
  '  --backend  cpu, gpu or auto; without: cpu',
  '  --arms     some of the arms, such as a,b',
  '  --out      folder of results; without: experiments, or the name of FILE without .json',
  '  --jobs     runs at a time; without: 1, or with FILE one a core',
  '  --shard    i/n, the i-th of n parts, for as many machines',
  '  --merge    takes over the results of another folder; can be repeated',
  '  --table    runs nothing, writes the table of what is there',
  '  --json     prints the table as JSON and nothing else',
].join('\n');
const FLAGS = {
  ...({ seeds: 'value', updates: 'value', backend: 'value', arms: 'value', out: 'value', jobs: 'value' } as const),
  ...({ shard: 'value', merge: 'values', table: 'switch', json: 'switch' } as const),
};
const MAX_SEEDS = 1000;
const MAX_JOBS = 256;
const MAX_SHARDS = 100_000;

/**
 * Reads the arguments, and the file of an experiment with `readFile`, which gives null if there's none. Throws ConfigError
 * with every problem: what was found, and what exists.
 */
export async function parseExperimentArguments(
  args: readonly string[],
  readFile: (file: string) => Promise<string | null>,
): Promise<ExperimentArguments> {
  const { given, positionals: names, problems } = readFlags(args, FLAGS);
  const [name = ''] = names;
  // CPU by default: its results do not depend on an adapter, so they can be compared between machines
  const listed = isExperiment(name)
    ? planOf({ experiment: name, seeds: EXPERIMENTS[name].defaultSeeds, arms: [], updates: null, backend: 'cpu' })
    : null;
  const text = names.length !== 1 || listed ? null : await readFile(name);
  if (names.length !== 1 || (!listed && text === null)) {
    const got = names.length === 0 ? 'nothing' : names.map((each) => visible(each)).join(' ');
    problems.push({
      what: `experiment can’t run ${got}.`,
      remedy: `Use one of ${EXPERIMENT_NAMES.join(', ')}, or the file of an experiment.`,
    });
    throw new ConfigError(problems, { usage: USAGE });
  }
  const refuse = (flag: string, value: string, remedy: string) =>
    problems.push({ what: `--${flag} ${value.trim() === '' ? 'is empty' : `can’t be ${visible(value)}`}.`, remedy });
  const count = (flag: 'seeds' | 'updates' | 'jobs', max: number) => {
    const value = given[flag];
    const number = value === undefined ? null : wholeNumber(value, max);
    if (value !== undefined && number === null) refuse(flag, value, `Use a whole number from 1 to ${max}.`);
    return number;
  };
  const [seeds, updates] = [count('seeds', MAX_SEEDS), count('updates', FIELDS.updates.max)];
  const jobs = count('jobs', MAX_JOBS) ?? (listed ? 1 : availableParallelism());
  const shard = shardFrom(given.shard ?? '1/1');
  if (!shard) refuse('shard', given.shard ?? '', 'Use i/n with i from 1 to n, such as 2/8. SLURM: docs/long-jobs.md.');
  const set: Partial<RunConfig> = { ...(updates === null ? {} : { updates }), ...backendFrom(given.backend, problems) };
  if (!listed && problems.length > 0) throw new ConfigError(problems, { usage: USAGE });
  const base = listed ?? parseSweep(text ?? '');
  const keys = base.experiment.arms.map(({ key }) => key);
  const arms = given.arms?.split(',') ?? [];
  for (const arm of arms) {
    if (keys.includes(arm)) continue;
    const what = `--arms ${arm === '' ? 'has an empty name' : `can’t be ${visible(arm)}`}.`;
    problems.push({ what, remedy: `Use some of ${keys.join(', ')}.` });
  }
  if (problems.length > 0 || !shard) throw new ConfigError(problems, { usage: USAGE });
  const plan = { ...base, arms, seeds: seeds === null ? base.seeds : firstSeeds(seeds), set: { ...base.set, ...set } };
  plannedRuns(plan); // throws now, not after an hour, if a setting is impossible
  const out = given.out ?? (listed ? 'experiments' : name.replace(/\.json$/i, ''));
  return {
    ...{ plan, out: !listed && out === name ? `${name}-results` : out, jobs, shard, merge: given.merge ?? [] },
    ...{ only: given.table ? 'table' : 'runs', json: given.json ?? false },
  };
}

function backendFrom(text: string | undefined, problems: Problem[]): Partial<RunConfig> {
  if (text === undefined) return {};
  try {
    return { backend: parseField('backend', text) as RunConfig['backend'] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems.map((problem) => ({ ...problem, place: `--${problem.place}` })));
    return {};
  }
}

function shardFrom(text: string): ExperimentArguments['shard'] | null {
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
