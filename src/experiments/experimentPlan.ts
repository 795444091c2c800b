import { FIELDS, parseConfig, type Field, type FieldName, type RunConfig } from '../config/config.ts';
import { ConfigError } from '../config/configProblem.ts';
import { type Problem, problemText } from '../base/problem.ts';
import { EXPERIMENTS, isExperiment } from './experimentList.ts';
import { isRunArm, type Experiment } from './experimentDefinition.ts';
import type { RunResult, RunIdentity } from './runResult.ts';

/** Runs to train: each arm of an experiment with each seed. The experiment is listed in the code, or a file has it. */
export interface Plan {
  readonly name: string; // of the experiment; on the command line `sweep` for a file, on the page `own-1` and so on
  readonly experiment: Experiment;
  readonly arms: readonly string[]; // keys of the arms; empty: all
  readonly seeds: readonly number[];
  readonly set: Partial<RunConfig>; // for all arms, on top of what they set
}

/** An experiment and how it is run, as the page's form and its address have it. */
export interface PlanChoice {
  readonly experiment: string; // ExperimentName, or the name of one of your own
  readonly seeds: number; // number of seeds; they are 1 … seeds, or as many as a file lists
  readonly arms: readonly string[]; // keys of the arms; empty: all
  readonly updates: number | null; // null: as many as the experiment sets
  readonly backend: RunConfig['backend'];
}

export const MAX_RUNS = 100_000; // more are probably a mistake

/** The experiments of one's own by name, as their files plan them. */
export type OwnPlans = ReadonlyMap<string, { readonly plan: Plan }>;

/** The whole plan of an experiment, listed or of one's own; null if there is none of that name. */
export function knownPlan(name: string, own: OwnPlans = new Map()): Plan | null {
  if (!isExperiment(name)) return own.get(name)?.plan ?? null;
  const experiment = EXPERIMENTS[name];
  return { name, experiment, arms: [], seeds: firstSeeds(experiment.defaultSeeds), set: {} };
}

/** Throws RangeError if there is no such experiment. */
export function planOf({ experiment: name, seeds, arms, updates, backend }: PlanChoice, own?: OwnPlans): Plan {
  const whole = knownPlan(name, own);
  if (!whole) throw new RangeError(`There is no experiment ${name}.`);
  const set = { ...(updates === null ? {} : { updates }), backend };
  return { ...whole, arms, seeds: seeds === whole.seeds.length ? whole.seeds : firstSeeds(seeds), set };
}

export function firstSeeds(count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}

/** The arms of an experiment with the chosen keys, and the arms whose runs they need. If `chosen` is empty, all arms. */
export function chosenArms(experiment: Experiment, chosen: readonly string[]): Experiment['arms'] {
  if (chosen.length === 0) return experiment.arms;
  const needed = new Set(chosen);
  for (const arm of experiment.arms) if (needed.has(arm.key) && !isRunArm(arm)) needed.add(arm.borrowedFrom);
  return experiment.arms.filter((arm) => needed.has(arm.key));
}

/** Throws ConfigError if a plan has too many runs. */
export function limitRuns(count: number, most = MAX_RUNS): void {
  if (count <= most) return;
  const what = `This plans ${count} runs, and the limit is ${most}.`;
  throw new ConfigError([{ what, remedy: 'Search fewer values, draw samples or train fewer seeds.' }]);
}

/** Seed by seed, so that early results show every arm. Throws ConfigError on an impossible configuration or too many runs. */
export function plannedRuns({ name, experiment, arms: chosen, seeds, set }: Plan): RunIdentity[] {
  const arms = chosenArms(experiment, chosen).filter(isRunArm);
  limitRuns(arms.length * seeds.length);
  const problems: Problem[] = [];
  const configs = arms.flatMap((arm) => {
    try {
      return [{ arm: arm.key, config: parseConfig({ ...experiment.shared, ...arm.set, ...set }) }];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const { remedy, ...problem } of error.problems) {
        // the label may be long, and a place would be cut
        problems.push({ what: `${arm.label}: ${problemText(problem)}`, remedy });
      }
      return [];
    }
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return seeds.flatMap((seed) => configs.map(({ arm, config }) => ({ experiment: name, arm, seed, config: { ...config, seed } }))); // prettier-ignore
}

/** They are text; without any, the result can be used. A knob that didn't exist when it was saved counts as at its default. */
export function differencesOf(result: RunResult, planned: Pick<RunIdentity, 'config'>): string[] {
  return (Object.entries(FIELDS) as [FieldName, Field][]).flatMap(([name, field]) => {
    const savedValue = result.config[name] ?? field.default;
    return savedValue === planned.config[name] ? [] : [`${name} ${savedValue} → ${planned.config[name]}`];
  });
}

/** The latest result that can be used for a planned run. */
export function usableResult(planned: RunIdentity, results: readonly RunResult[]): RunResult | undefined {
  return results.findLast((result) => isSameRun(result, planned) && differencesOf(result, planned).length === 0);
}

/** The shipped result that can be used for a planned run. Only the backend may differ; the table names it. */
export function usableShippedResult(planned: RunIdentity, shipped: readonly RunResult[]): RunResult | undefined {
  return shipped.findLast(
    (result) =>
      isSameRun(result, planned) &&
      differencesOf(result, planned).every((difference) => difference.startsWith('backend ')),
  );
}

/** Whether a result is of the same arm and seed, whatever its knobs. It may be of another experiment: a changed copy keeps the results of the arms that stay. */
export function isSameRun(result: RunResult, { arm, seed }: RunIdentity): boolean {
  return result.arm === arm && result.seed === seed;
}

/** The results by arm, because a sweep may have 100,000 of each. */
export function resultsByArm(results: Iterable<RunResult>): (arm: string) => readonly RunResult[] {
  const byArm = new Map<string, RunResult[]>();
  for (const result of results) {
    const others = byArm.get(result.arm);
    if (others) others.push(result);
    else byArm.set(result.arm, [result]);
  }
  return (arm) => byArm.get(arm) ?? [];
}
