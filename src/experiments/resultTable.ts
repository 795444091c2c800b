import { DEFAULTS } from '../config/fields.ts';
import { imitatedRows } from '../config/imitationRecipe.ts';
import { EXPERIMENTS, type ExperimentName } from './experimentList.ts';
import { headlineColumn, isRunArm, type Arm, type Column, type Experiment } from './experimentDefinition.ts';
import {
  chosenArms,
  plannedRuns,
  planOf,
  resultsByArm,
  usableResult,
  usableShippedResult,
  type Plan,
} from './experimentPlan.ts';
import type { RunResult } from './runResult.ts';
import { type Interval, meanInterval } from '../base/inference.ts';
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
  /** The headline column by seed, in the plan's order; null: the seed wasn't run, or its run doesn't have the number. */
  readonly values: readonly (number | null)[];
  readonly interval: Interval | null; // 95 % t interval of the mean of `values`
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

/** The rows of a sweep are sorted, best first. Runs with other knobs than the plan's don't count. A shipped run, on any backend, stands in as long as `results` has none. */
export function resultTable(plan: Plan, results: Iterable<RunResult>, shipped: readonly RunResult[] = []): Table {
  const { experiment } = plan;
  const planned = plannedRuns(plan);
  const [ownRuns, shippedRuns] = [resultsByArm(results), resultsByArm(shipped)];
  const shippedResults = new Set(shipped);
  const done = planned.flatMap(
    (run) => usableResult(run, ownRuns(run.arm)) ?? usableShippedResult(run, shippedRuns(run.arm)) ?? [],
  );
  const doneRuns = resultsByArm(done);
  const uncorrectedRows = chosenArms(experiment, plan.arms).map((arm) => rowOf(plan, arm, doneRuns));
  const differences = correctedComparisons(uncorrectedRows.map(({ difference }) => difference));
  const rows = uncorrectedRows.map((row, i) => ({ ...row, difference: differences[i] ?? null }));
  const backends = [...new Set(done.map(({ backend }) => backend))];
  return {
    plan,
    experiment,
    rows: experiment.search ? bestFirst(rows, plan) : rows,
    done: done.length,
    shipped: done.filter((run) => shippedResults.has(run)).length,
    planned: planned.length,
    backends,
  };
}

export function shippedTable(name: ExperimentName, results: readonly RunResult[]): Table {
  const { defaultSeeds: seeds } = EXPERIMENTS[name];
  return resultTable(planOf({ experiment: name, seeds, arms: [], updates: null, backend: 'cpu' }), [], results);
}

/** Sorted by the headline column. Equal rows stay in the plan's order; rows without a number come last. */
function bestFirst(rows: readonly Row[], { experiment: { columns, headline, search } }: Plan): Row[] {
  const at = columns.findIndex(({ key }) => key === headline);
  const sign = search?.better === 'lower' ? -1 : 1;
  const sortValue = ({ cells }: Row) => (cells[at]?.n ? sign * cells[at].mean : -Infinity);
  return rows.toSorted((a, b) => (sortValue(a) === sortValue(b) ? 0 : sortValue(b) - sortValue(a)));
}

function rowOf({ experiment, seeds }: Plan, arm: Arm, resultsOf: ReturnType<typeof resultsByArm>): Row {
  const runsOf = (of: Arm) => resultsOf(isRunArm(of) ? of.key : of.borrowedFrom);
  const runs = runsOf(arm);
  const headline = headlineColumn(experiment);
  const values = headline ? valuesOf(arm, headline, runs) : new Map<number, number>();
  const reference =
    arm.comparedWith === undefined ? undefined : experiment.arms.find(({ key }) => key === arm.comparedWith);
  return {
    arm,
    runs: runs.length,
    cells: experiment.columns.map((column) =>
      hasCell(arm, column) ? summaryOf([...valuesOf(arm, column, runs).values()]) : null,
    ),
    values: seeds.map((seed) => values.get(seed) ?? null),
    interval: meanInterval(summaryOf([...values.values()])),
    difference:
      headline && reference ? pairedDifference(values, valuesOf(reference, headline, runsOf(reference))) : null,
    // A borrowed arm with its own `cells` shows numbers from before training. It has no curve, because the curves of
    // the arm that it borrows from show training.
    curves: isRunArm(arm) || !arm.cells ? runs.map(({ curve }) => curve) : [],
  };
}

function hasCell(arm: Arm, { key }: Column): boolean {
  return isRunArm(arm) || !arm.cells || Object.hasOwn(arm.cells, key);
}

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
  return source && measuredIn(run, source);
}

export function measuredIn(run: RunResult, source: Column['measure']): number | undefined {
  if (source === 'trap') return run.health.find(([, state]) => state === 'trap')?.[0];
  if (source === 'rollouts') {
    const { prompts = 0, groupSize = 0 } = run.config;
    return run.curve.length * prompts * groupSize;
  }
  if (source === 'seconds') return run.seconds;
  if (source === 'tokens') return learnedTokens(run);
  return run.metrics[source.metric]?.[source.take];
}

/** Rows learned × tokens of the agent in a row. A demonstration is taken to be as long as the run’s own rollouts. */
function learnedTokens({ config, curve, metrics }: RunResult): number {
  const c = { ...DEFAULTS, ...config };
  const isLearning = c.learningRate > 0; // an arm that only imitates has one update at rate 0
  const played = isLearning ? curve.length * c.epochs * c.prompts * c.groupSize : 0;
  const rows = played + (c.warmStart === 'shipped' ? 0 : imitatedRows(c));
  return rows * (metrics['response_length/mean']?.mean ?? NaN) * (metrics['action/ratio']?.mean ?? NaN);
}
