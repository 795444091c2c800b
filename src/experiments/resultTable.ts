import { EXPERIMENTS, type ExperimentName } from './experimentList.ts';
import { isRunArm, type Arm, type Column, type Experiment } from './experimentDefinition.ts';
import { chosenArms, plannedRuns, usableResult, usableShippedResult, type Plan } from './experimentPlan.ts';
import type { RunResult } from './runResult.ts';
import {
  correctedComparisons,
  pairedDifference,
  summaryOf,
  type PairedComparison,
  type Summary,
} from '../base/statistics.ts';

export interface Row {
  readonly arm: Arm;
  readonly runs: number; // number of finished runs
  readonly cells: readonly (Summary | null)[]; // one for each column; null: the arm doesn't have this number
  /** Against the arm that it is compared with, in the headline column, corrected for the number of comparisons in the table. */
  readonly difference: PairedComparison | null;
  readonly curves: readonly (readonly number[])[]; // training success by update, one curve for each seed
}

export interface Table {
  readonly plan: Plan;
  readonly experiment: Experiment;
  readonly rows: readonly Row[];
  readonly done: number; // number of finished runs, shipped ones included
  readonly shipped: number; // number of finished runs that were shipped
  readonly planned: number;
  readonly backends: readonly string[];
}

/** Runs with other knobs than the plan's don't count. A shipped run, on any backend, stands in as long as `results` has none. */
export function resultTable(plan: Plan, results: readonly RunResult[], shipped: readonly RunResult[] = []): Table {
  const experiment: Experiment = EXPERIMENTS[plan.experiment];
  const planned = plannedRuns(plan);
  const shippedResults = new Set(shipped);
  const done = planned.flatMap((run) => usableResult(run, results) ?? usableShippedResult(run, shipped) ?? []);
  const uncorrectedRows = chosenArms(experiment, plan.arms).map((arm) => rowOf(experiment, arm, done));
  const differences = correctedComparisons(uncorrectedRows.map(({ difference }) => difference));
  const rows = uncorrectedRows.map((row, i) => ({ ...row, difference: differences[i] ?? null }));
  const backends = [...new Set(done.map(({ backend }) => backend))];
  return {
    plan,
    experiment,
    rows,
    done: done.length,
    shipped: done.filter((run) => shippedResults.has(run)).length,
    planned: planned.length,
    backends,
  };
}

export function shippedTable(name: ExperimentName, results: readonly RunResult[]): Table {
  const { defaultSeeds: seeds } = EXPERIMENTS[name];
  return resultTable({ experiment: name, seeds, arms: [], updates: null, backend: 'cpu' }, [], results);
}

function rowOf(experiment: Experiment, arm: Arm, results: readonly RunResult[]): Row {
  const runs = runsOf(arm, results);
  const headline = experiment.columns.find(({ key }) => key === experiment.headline);
  const reference = experiment.arms.find(({ key }) => key === arm.comparedWith);
  return {
    arm,
    runs: runs.length,
    cells: experiment.columns.map((column) =>
      hasCell(arm, column) ? summaryOf([...valuesOf(arm, column, runs).values()]) : null,
    ),
    difference:
      headline && reference
        ? pairedDifference(valuesOf(arm, headline, runs), valuesOf(reference, headline, runsOf(reference, results)))
        : null,
    // A borrowed arm with its own `cells` shows numbers from before training. It has no curve, because the curves of
    // the arm that it borrows from show training.
    curves: isRunArm(arm) || !arm.cells ? runs.map(({ curve }) => curve) : [],
  };
}

function runsOf(arm: Arm, results: readonly RunResult[]): RunResult[] {
  return results.filter((result) => result.arm === (isRunArm(arm) ? arm.key : arm.borrowedFrom));
}

function hasCell(arm: Arm, { key }: Column): boolean {
  return isRunArm(arm) || !arm.cells || Object.hasOwn(arm.cells, key);
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

function valueOf(arm: Arm, { key, measure }: Column, run: RunResult): number | undefined {
  const source = isRunArm(arm) || !arm.cells ? measure : arm.cells[key];
  if (source === undefined) return undefined;
  if (source === 'trap') return run.health.find(([, state]) => state === 'trap')?.[0];
  if (source === 'rollouts') {
    const { prompts = 0, groupSize = 0 } = run.config;
    return run.curve.length * prompts * groupSize;
  }
  return run.metrics[source.metric]?.[source.take];
}
