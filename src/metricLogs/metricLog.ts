import { isCount } from '../base/jsonRecord.ts';
import { ProblemError } from '../base/problem.ts';
import { visible } from '../base/visible.ts';
import { parseConfig, type RunConfig } from '../config/config.ts';
import type { ForeignMetric, MetricName } from '../domain/metrics.ts';
import { runWithDefaults, type Run } from '../runs/run.ts';
import { Series } from '../runs/series.ts';
import { counterpartOf, differenceOf, type LogProgram, programOf } from './foreignNames.ts';

/** The numbers that a log has for a step, by the names of the program that wrote it. NaN: not finite. */
export interface LogEntry {
  readonly step: number;
  readonly values: ReadonlyMap<string, number>;
}

/** A metric of another program, and the page's metric that shows it. */
export interface ReadMetric {
  readonly name: string;
  readonly metric: MetricName;
  readonly difference: string; // how its meaning differs from the page's; empty if it doesn't
}

/** What a log of another program holds besides its curves. */
export interface MetricLog {
  readonly program: LogProgram;
  readonly read: readonly ReadMetric[];
  readonly others: readonly string[]; // names of metrics that the page doesn't know; `Run.foreign` has their curves
}

const MAX_STEP = 2 ** 32 - 1; // update numbers are stored in 32 bits
const WANDB_EXPORT = /^(.+) - (.+)$/; // a column of a chart that wandb exported: run and metric

/**
 * Makes a run of the entries of a log. Its curves have the page's names. Entries of the same step are joined; of two
 * values the later one stays, because a job that went on from a checkpoint logs steps again. Throws ProblemError if a
 * step isn't a whole number, if no metric has a number, or if two runs are in it. Metrics that the page doesn't know keep
 * their names.
 */
export function runOfEntries(
  entries: readonly LogEntry[],
  { name, written }: { readonly name: string; readonly written: string },
): { readonly run: Run; readonly log: MetricLog } {
  const bySource = new Map<string, Map<number, number>>();
  for (const { step, values } of entries) {
    if (!isCount(step) || step > MAX_STEP)
      throw new ProblemError({
        got: `the step ${step}`,
        want: 'a whole number from 0',
        remedy: 'Give the log as it was written.',
      });
    for (const [key, value] of values) {
      const points = bySource.get(key) ?? new Map<number, number>();
      bySource.set(key, points.set(step, value));
    }
  }
  const names = [...bySource.keys()].filter((key) => !/__(MIN|MAX)$/.test(key));
  const keyOf = (each: string) => WANDB_EXPORT.exec(each)?.[2] ?? each;
  const program = programOf(new Set(names.map(keyOf)));
  const series = new Map<MetricName, Series>();
  const read: ReadMetric[] = [];
  for (const source of names) {
    const counterpart = counterpartOf(keyOf(source));
    if (!counterpart) continue;
    const { metric } = counterpart;
    const earlier = read.find((each) => each.metric === metric);
    const isOtherRun = earlier && keyOf(earlier.name) === keyOf(source);
    if (isOtherRun)
      throw new ProblemError(
        `${keyOf(source)} is in it twice: as ${earlier.name} and as ${source}. Export one run at a time.`,
      );
    if (earlier) continue;
    const curve = curveOf(bySource.get(source)!);
    if (curve.length === 0) continue;
    series.set(metric, curve);
    read.push({ name: source, metric, difference: differenceOf(program, counterpart) });
  }
  const others = names.filter((source) => !read.some((each) => each.name === source));
  const foreign = new Map(others.map((each) => [each as ForeignMetric, curveOf(bySource.get(each)!)] as const));
  for (const [each, curve] of foreign) if (curve.length === 0) foreign.delete(each);
  const curves = [...series.values(), ...foreign.values()];
  if (curves.length === 0)
    throw new ProblemError('None of its metrics has a number. Give the log of a run that has taken a step.');
  const update = Math.max(...curves.map(({ lastUpdate }) => lastUpdate ?? 0));
  const run = runWithDefaults({
    ...{ id: 0, name: `${visible(name)}, ${program}`, started: written, update, series, foreign },
    ...{ begun: parseConfig({ aggregation: aggregationFor(series) }), program },
  });
  return { run, log: { program, read, others } };
}

function curveOf(values: ReadonlyMap<number, number>): Series {
  const points = [...values].toSorted(([a], [b]) => a - b).filter(([, value]) => Number.isFinite(value));
  return Series.of({ x: Uint32Array.from(points, ([x]) => x), y: Float64Array.from(points, ([, y]) => y) });
}

/** Makes the monitor read the mean entropy of a token: `rollout/entropy`, or what TRL logs, and verl by default. */
function aggregationFor(series: ReadonlyMap<MetricName, Series>): RunConfig['aggregation'] {
  return series.has('rollout/entropy') ? 'seq-mean-token-mean' : 'token-mean';
}
