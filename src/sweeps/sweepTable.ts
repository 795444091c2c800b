import { type Interval, meanInterval } from '../base/inference.ts';
import { differencesOf } from '../experiments/experimentPlan.ts';
import type { RunResult } from '../experiments/runResult.ts';
import { summaryOf } from '../base/statistics.ts';
import { configurationsOf, sweepRuns, type SweepRun } from './runs.ts';
import type { Knobs, Sweep } from './sweepFile.ts';

export interface SweepRow {
  readonly label: string;
  readonly knobs: Knobs; // values of the searched knobs
  /** One value per seed, in the sweep's order; null: the seed wasn't run, or its run doesn't have the metric. */
  readonly values: readonly (number | null)[];
  readonly n: number; // seeds with a value
  readonly mean: number | null;
  readonly interval: Interval | null; // 95 % t interval of the mean over seeds; null with fewer than two values
}

/** The results of a sweep's finished runs, best configuration first; configurations without a value come last. */
export interface SweepTable {
  readonly sweep: Sweep;
  readonly rows: readonly SweepRow[];
  readonly done: number;
  readonly planned: number;
}

/** Makes the table of results, which are given by the key of their run. Ignores results whose knobs or seed differ from their run's. */
export function sweepTable(sweep: Sweep, results: ReadonlyMap<string, RunResult>): SweepTable {
  const runs = sweepRuns(sweep);
  const byLabel = new Map<string, SweepRun[]>();
  for (const run of runs) byLabel.set(run.arm, [...(byLabel.get(run.arm) ?? []), run]);
  const rows = configurationsOf(sweep).map(({ label, knobs }): SweepRow => {
    const values = (byLabel.get(label) ?? []).map((run) => {
      return matchingResult(run, results)?.metrics[sweep.metric]?.[sweep.take] ?? null;
    });
    const measured = values.filter((value) => value !== null);
    const summary = summaryOf(measured);
    const { n } = summary;
    return { label, knobs, values, n, mean: n > 0 ? summary.mean : null, interval: meanInterval(summary) };
  });
  const sign = sweep.better === 'higher' ? 1 : -1;
  const sortValue = ({ mean }: SweepRow) => (mean === null ? -Infinity : sign * mean);
  const done = runs.filter((run) => matchingResult(run, results)).length;
  // equal means stay in the sweep's order
  return { sweep, rows: rows.toSorted((a, b) => compare(sortValue(b), sortValue(a))), done, planned: runs.length };
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** The result of a run, unless its knobs or seed differ. */
export function matchingResult(run: SweepRun, results: ReadonlyMap<string, RunResult>): RunResult | undefined {
  const found = results.get(run.key);
  return found?.seed === run.seed && differencesOf(found, run).length === 0 ? found : undefined;
}
