import { FIELDS, parseConfig, type Field, type FieldName, type RunConfig } from '../config/config.ts';
import { EXPERIMENTS, type ExperimentName } from './experimentList.ts';
import { isRun, type Experiment } from './experimentDefinition.ts';
import type { RunIdentity } from './runIdentity.ts';
import type { RunResult } from './runResult.ts';

/** What to run of an experiment. */
export interface Plan {
  readonly experiment: ExperimentName;
  readonly seeds: number; // 1 … seeds
  readonly arms: readonly string[]; // empty: all
  readonly updates: number | null; // null: as the experiment says
  readonly backend: RunConfig['backend'];
}
/** One run of a plan. */
export interface PlannedRun extends RunIdentity {
  readonly experiment: ExperimentName;
}

/** The arms of an experiment that a choice of names means, with those whose runs they are read from; empty means all. */
export function armsOf(experiment: Experiment, chosen: readonly string[]): Experiment['arms'] {
  if (chosen.length === 0) return experiment.arms;
  const needed = new Set(chosen);
  for (const arm of experiment.arms) if (needed.has(arm.key) && !isRun(arm)) needed.add(arm.readFrom);
  return experiment.arms.filter((arm) => needed.has(arm.key));
}

/** The runs of a plan, seed by seed: an early look shows every arm. Throws ConfigError where a configuration is impossible. */
export function plannedRuns(plan: Plan): PlannedRun[] {
  const experiment: Experiment = EXPERIMENTS[plan.experiment];
  const arms = armsOf(experiment, plan.arms).filter(isRun);
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

/**
 * Knobs in which a finished run differs from a planned one, as sentences; empty: it can stand for it. A knob that is newer
 * than the result counts as having had its default.
 */
export function differencesOf(result: RunResult, planned: Pick<RunIdentity, 'config'>): string[] {
  return (Object.entries(FIELDS) as [FieldName, Field][]).flatMap(([name, field]) => {
    const had = result.config[name] ?? field.default;
    return had === planned.config[name] ? [] : [`${name} ${had} → ${planned.config[name]}`];
  });
}

/** The latest result that can stand for a planned run. */
export function resultFor(planned: PlannedRun, results: readonly RunResult[]): RunResult | undefined {
  return results.findLast((result) => isOf(result, planned) && differencesOf(result, planned).length === 0);
}

/** The shipped result that can stand for a planned run: the same knobs but for the backend, which its table names. */
export function shippedFor(planned: PlannedRun, shipped: readonly RunResult[]): RunResult | undefined {
  return shipped.findLast(
    (result) =>
      isOf(result, planned) && differencesOf(result, planned).every((difference) => difference.startsWith('backend ')),
  );
}

/** Whether a result is of the same experiment, arm and seed, whatever its knobs. */
export function isOf(result: RunResult, { experiment, arm, seed }: PlannedRun): boolean {
  return result.experiment === experiment && result.arm === arm && result.seed === seed;
}
