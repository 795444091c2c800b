import { FIELDS, parseConfig, type Field, type FieldName, type RunConfig } from '../config/config.ts';
import { EXPERIMENTS, type ExperimentName } from './experimentList.ts';
import { isRunArm, type Experiment } from './experimentDefinition.ts';
import type { RunIdentity } from './runIdentity.ts';
import type { RunResult } from './runResult.ts';

export interface Plan {
  readonly experiment: ExperimentName;
  readonly seeds: number; // number of seeds; they are 1 … seeds
  readonly arms: readonly string[]; // keys of the arms; empty: all
  readonly updates: number | null; // null: as many as the experiment sets
  readonly backend: RunConfig['backend'];
}
export interface PlannedRun extends RunIdentity {
  readonly experiment: ExperimentName;
}

/** The arms of an experiment with the chosen keys, and the arms whose runs they need. If `chosen` is empty, all arms. */
export function chosenArms(experiment: Experiment, chosen: readonly string[]): Experiment['arms'] {
  if (chosen.length === 0) return experiment.arms;
  const needed = new Set(chosen);
  for (const arm of experiment.arms) if (needed.has(arm.key) && !isRunArm(arm)) needed.add(arm.borrowedFrom);
  return experiment.arms.filter((arm) => needed.has(arm.key));
}

/** Seed by seed, so that early results show every arm. Throws ConfigError if a configuration is impossible. */
export function plannedRuns(plan: Plan): PlannedRun[] {
  const experiment: Experiment = EXPERIMENTS[plan.experiment];
  const arms = chosenArms(experiment, plan.arms).filter(isRunArm);
  return Array.from({ length: plan.seeds }, (_, i) => i + 1).flatMap((seed) =>
    arms.map((arm) => ({
      experiment: plan.experiment,
      arm: arm.key,
      seed,
      config: parseConfig({
        ...experiment.shared,
        ...arm.set,
        ...(plan.updates === null ? {} : { updates: plan.updates }),
        backend: plan.backend,
        seed,
      }),
    })),
  );
}

/** They are text; without any, the result can be used. A knob that didn't exist when it was saved counts as at its default. */
export function differencesOf(result: RunResult, planned: Pick<RunIdentity, 'config'>): string[] {
  return (Object.entries(FIELDS) as [FieldName, Field][]).flatMap(([name, field]) => {
    const savedValue = result.config[name] ?? field.default;
    return savedValue === planned.config[name] ? [] : [`${name} ${savedValue} → ${planned.config[name]}`];
  });
}

/** The latest result that can be used for a planned run. */
export function usableResult(planned: PlannedRun, results: readonly RunResult[]): RunResult | undefined {
  return results.findLast((result) => isSameRun(result, planned) && differencesOf(result, planned).length === 0);
}

/** The shipped result that can be used for a planned run. Only the backend may differ; the table names it. */
export function usableShippedResult(planned: PlannedRun, shipped: readonly RunResult[]): RunResult | undefined {
  return shipped.findLast(
    (result) =>
      isSameRun(result, planned) &&
      differencesOf(result, planned).every((difference) => difference.startsWith('backend ')),
  );
}

/** Whether a result is of the same experiment, arm and seed, whatever its knobs. */
export function isSameRun(result: RunResult, { experiment, arm, seed }: PlannedRun): boolean {
  return result.experiment === experiment && result.arm === arm && result.seed === seed;
}
