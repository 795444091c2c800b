import { readFlags } from '../../tools/flags.mjs';
import { FIELDS, parseField, type RunConfig } from '../config/config.ts';
import { ConfigError } from '../config/configProblem.ts';
import type { Problem } from '../base/problem.ts';
import { EXPERIMENT_NAMES, EXPERIMENTS, isExperiment } from '../experiments/experimentList.ts';
import { parseDecimal } from '../base/decimal.ts';
import type { Experiment } from '../experiments/experimentDefinition.ts';
import { plannedRuns, type Plan } from '../experiments/experimentPlan.ts';
import { visible } from '../base/visible.ts';

export interface ExperimentArguments {
  readonly plan: Plan;
  readonly out: string; // folder
  readonly jobs: number; // number of runs that train at the same time
}

export const USAGE =
  'npm run experiment -- NAME [--seeds N] [--out DIR] [--updates N] [--backend cpu|gpu|auto] [--arms a,b] [--jobs N]';
const FLAGS = {
  seeds: 'value',
  out: 'value',
  updates: 'value',
  backend: 'value',
  arms: 'value',
  jobs: 'value',
} as const;
const MAX_SEEDS = 1000;
const MAX_JOBS = 64;

/** Reads the arguments. Throws ConfigError with every problem: what was found, and what exists. */
export function parseExperimentArguments(args: readonly string[]): ExperimentArguments {
  const { given, positionals: names, problems } = readFlags(args, FLAGS);
  const [name = ''] = names;
  if (names.length !== 1 || !isExperiment(name)) {
    const got = names.length === 0 ? 'nothing' : names.join(' ');
    problems.push({ what: `experiment can’t run ${got}.`, remedy: `Use one of ${EXPERIMENT_NAMES.join(', ')}.` });
    throw new ConfigError(problems, { usage: USAGE });
  }
  const experiment: Experiment = EXPERIMENTS[name];
  const count = (flag: keyof typeof FLAGS, max: number, fallback: number) => {
    const text = given[flag];
    if (text === undefined) return fallback;
    const value = parseDecimal(text) ?? NaN;
    if (Number.isInteger(value) && value >= 1 && value <= max) return value;
    const what = `--${flag} ${text.trim() === '' ? 'is empty' : `can’t be ${visible(text)}`}.`;
    problems.push({ what, remedy: `Use a whole number from 1 to ${max}.` });
    return fallback;
  };
  const plan: Plan = {
    experiment: name,
    seeds: count('seeds', MAX_SEEDS, experiment.defaultSeeds),
    arms: armsFrom(given.arms, experiment, problems),
    updates: given.updates === undefined ? null : count('updates', FIELDS.updates.max, 1),
    backend: backendFrom(given.backend, problems),
  };
  const jobs = count('jobs', MAX_JOBS, 1);
  if (problems.length > 0) throw new ConfigError(problems, { usage: USAGE });
  plannedRuns(plan); // throws now, not after an hour, if a setting is impossible
  return { plan, out: given.out ?? 'experiments', jobs };
}

function armsFrom(text: string | undefined, { arms }: Experiment, problems: Problem[]): string[] {
  const chosen = text?.split(',') ?? [];
  const keys = arms.map(({ key }) => key);
  for (const arm of chosen) {
    if (keys.includes(arm)) continue;
    const what = `--arms ${arm === '' ? 'has an empty name' : `can’t be ${arm}`}.`;
    problems.push({ what, remedy: `Use some of ${keys.join(', ')}.` });
  }
  return chosen;
}

// CPU by default: its results do not depend on an adapter, so they can be compared between machines
function backendFrom(text: string | undefined, problems: Problem[]): RunConfig['backend'] {
  if (text === undefined) return 'cpu';
  try {
    return parseField('backend', text) as RunConfig['backend'];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems.map((problem) => ({ ...problem, place: `--${problem.place}` })));
    return 'cpu';
  }
}
