import { EXPERIMENTS, type ExperimentName } from './experimentList.ts';
import { isRun, type Arm, type Column, type Experiment } from './experimentDefinition.ts';
import { armsOf, plannedRuns, resultFor, shippedFor, type Plan } from './experimentPlan.ts';
import type { RunResult } from './runResult.ts';
import { correctedTogether, pairedDifference, summaryOf, type Paired, type Summary } from './statistics.ts';

/** An arm's line in the table. */
export interface Row {
  readonly arm: Arm;
  readonly runs: number; // number of finished runs
  readonly cells: readonly (Summary | null)[]; // one for each column; null: the arm doesn't have this number
  /**
   * Difference in the headline column to the arm that it is compared with, corrected for the number of comparisons in
   * the table.
   */
  readonly difference: Paired | null;
  readonly curves: readonly (readonly number[])[]; // training success by update, one curve for each seed
}

/** The results of a plan's finished runs. */
export interface Table {
  readonly plan: Plan;
  readonly experiment: Experiment;
  readonly rows: readonly Row[];
  readonly done: number; // number of finished runs, shipped ones included
  readonly shipped: number; // number of finished runs that were shipped
  readonly planned: number;
  readonly backends: readonly string[];
}

/**
 * Aggregates finished runs. Runs whose knobs differ from the plan's don't count. A shipped run, on any backend, is used
 * for a planned run as long as `results` has none for it.
 */
export function tableOf(plan: Plan, results: readonly RunResult[], shipped: readonly RunResult[] = []): Table {
  const experiment: Experiment = EXPERIMENTS[plan.experiment];
  const planned = plannedRuns(plan);
  const standIn = new Set(shipped);
  const done = planned.flatMap((run) => resultFor(run, results) ?? shippedFor(run, shipped) ?? []);
  const single = armsOf(experiment, plan.arms).map((arm) => rowOf(experiment, arm, done));
  const differences = correctedTogether(single.map(({ difference }) => difference));
  const rows = single.map((row, i) => ({ ...row, difference: differences[i] ?? null }));
  const backends = [...new Set(done.map(({ backend }) => backend))];
  return {
    plan,
    experiment,
    rows,
    done: done.length,
    shipped: done.filter((run) => standIn.has(run)).length,
    planned: planned.length,
    backends,
  };
}

/** The table of an experiment's shipped runs. */
export function shippedTable(name: ExperimentName, results: readonly RunResult[]): Table {
  const { defaultSeeds: seeds } = EXPERIMENTS[name];
  return tableOf({ experiment: name, seeds, arms: [], updates: null, backend: 'cpu' }, [], results);
}

function rowOf(experiment: Experiment, arm: Arm, results: readonly RunResult[]): Row {
  const runs = runsOf(arm, results);
  const headline = experiment.columns.find(({ key }) => key === experiment.headline);
  const against = experiment.arms.find(({ key }) => key === arm.against);
  return {
    arm,
    runs: runs.length,
    cells: experiment.columns.map((column) =>
      hasCell(arm, column) ? summaryOf([...valuesOf(arm, column, runs).values()]) : null,
    ),
    difference:
      headline && against
        ? pairedDifference(valuesOf(arm, headline, runs), valuesOf(against, headline, runsOf(against, results)))
        : null,
    // An arm with its own `cells` is untrained. It has no curve, because the curve of the other arm's run shows
    // training.
    curves: isRun(arm) || !arm.cells ? runs.map(({ curve }) => curve) : [],
  };
}

function runsOf(arm: Arm, results: readonly RunResult[]): RunResult[] {
  return results.filter((result) => result.arm === (isRun(arm) ? arm.key : arm.readFrom));
}

function hasCell(arm: Arm, { key }: Column): boolean {
  return isRun(arm) || !arm.cells || Object.hasOwn(arm.cells, key);
}

/** The values of a column by seed, for the runs that have one. */
function valuesOf(arm: Arm, column: Column, runs: readonly RunResult[]): Map<number, number> {
  return new Map(
    runs.flatMap((run) => {
      const value = valueOf(arm, column, run);
      return value === undefined ? [] : [[run.seed, value] as const];
    }),
  );
}

function valueOf(arm: Arm, { key, of }: Column, run: RunResult): number | undefined {
  const measure = isRun(arm) || !arm.cells ? of : arm.cells[key];
  if (measure === undefined) return undefined;
  if (measure === 'trap') return run.health.find(([, state]) => state === 'trap')?.[0];
  if (measure === 'rollouts') {
    const { prompts = 0, groupSize = 0 } = run.config;
    return run.curve.length * prompts * groupSize;
  }
  return run.metrics[measure.metric]?.[measure.take];
}
