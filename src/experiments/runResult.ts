import { isRecord } from '../base/jsonRecord.ts';
import { parseConfig, type RunConfig } from '../config/config.ts';
import { withCurrentNames } from '../config/fields.ts';
import type { MetricName } from '../domain/metrics.ts';
import type { HealthState } from '../domain/health.ts';
import { areStates, healthAt } from '../runs/log.ts';
import { bareRun, readNames, type Run } from '../runs/run.ts';
import { type Points, Series } from '../runs/series.ts';
import type { Measure } from './experimentDefinition.ts';

/** Of the form below; a file or a store of another version is not read. */
export const RESULT_VERSION = 1;

/** What a finished run leaves behind. */
export interface RunResult {
  readonly version: typeof RESULT_VERSION;
  readonly experiment: string;
  readonly arm: string;
  readonly seed: number;
  readonly config: Partial<RunConfig>; // complete when it was written; knobs may have come since
  readonly backend: string;
  readonly metrics: Readonly<Partial<Record<MetricName, Readonly<Record<Measure['take'], number>>>>>;
  readonly curve: readonly number[]; // success of the training rollouts, by update
  readonly heldOut: readonly (readonly [update: number, success: number])[];
  readonly health: readonly (readonly [update: number, state: HealthState])[]; // where it changed
  readonly skipped: number; // optimizer steps that would not have been finite
  readonly seconds: number;
}

/** The numbers of a finished run that the tables of an experiment or a sweep are made of. */
export function resultOf(run: Run, experiment: string): RunResult {
  const { arm = run.name, begun: config, skipped, seconds = 0 } = run;
  const measures = [...run.series].filter(([name]) => !/^(time|engine)\//.test(name));
  const { x: heldAt, y: held } = pointsOf(run, 'eval/success');
  return {
    ...{ version: RESULT_VERSION, experiment, arm, seed: config.seed, config, backend: named(run) },
    metrics: Object.fromEntries(measures.map(([name, { points }]) => [name, takes(points.y)])),
    curve: Array.from(pointsOf(run, 'rollout/success').y, rounded),
    heldOut: Array.from(heldAt, (update, i) => [update, rounded(held[i] ?? NaN)] as const),
    health: run.health.map(({ update, health }) => [update, health.state] as const),
    ...{ skipped, seconds: rounded(seconds) },
  };
}

function pointsOf({ series }: Run, name: MetricName): Points {
  return series.get(name)?.points ?? { x: new Uint32Array(), y: new Float64Array() };
}

/** What a run computed on, with its kernels: others round otherwise. */
function named({ backend: { kind, adapter }, kernels }: Run): string {
  return `${kind}: ${adapter}${kernels ? `, ${kernels['set']}` : ''}`;
}

function takes(values: Float64Array): Record<Measure['take'], number> {
  const [first = NaN, last = NaN] = [values[0], values.at(-1)];
  const best = values.reduce((most, value) => Math.max(most, value), -Infinity);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { first: rounded(first), last: rounded(last), best: rounded(best), mean: rounded(mean) };
}

/**
 * The run that a result of an older version of the commands tells of, as far as it does: its success by update, on evaluated tasks too.
 * Throws ConfigError for knobs that can't be read.
 */
export function runOfResult(result: RunResult, started: string): Run {
  const { arm, seed, curve, heldOut, backend, health, skipped, seconds } = result;
  const begun = parseConfig(result.config);
  const [kind = '', ...adapter] = backend.split(': ');
  const every = Series.of({ x: Uint32Array.from(curve, (_, i) => i + 1), y: Float64Array.from(curve) });
  const heldOutPoints = { x: Uint32Array.from(heldOut, ([x]) => x), y: Float64Array.from(heldOut, ([, y]) => y) };
  return bareRun({
    ...{ id: 0, started, begun, update: curve.length, arm, skipped, seconds, health: health.map(healthAt) },
    ...readNames(`${arm}, seed ${seed}`, { kind: kind === 'gpu' ? 'gpu' : 'cpu', adapter: adapter.join(': ') }),
    series: new Map([
      ['rollout/success', every],
      ['eval/success', Series.of(heldOutPoints)],
    ]),
  });
}

/** Six digits are more than any table shows and half of what JSON would write. */
function rounded(x: number): number {
  return Number(x.toPrecision(6));
}

/** Results as the text of a file, one on each line. */
export function resultsText(results: Iterable<RunResult>): string {
  return Array.from(results, (result) => `${JSON.stringify(result)}\n`).join('');
}

/** The results of a file that holds one a line, and the numbers of the lines that are none. */
export function parseResults(text: string): {
  readonly results: readonly RunResult[];
  readonly bad: readonly number[];
} {
  const results: RunResult[] = [];
  const bad: number[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const result = parseLine(line);
    if (result) results.push(result);
    else bad.push(i + 1);
  }
  return { results, bad };
}

function parseLine(line: string): RunResult | null {
  try {
    return parseResult(JSON.parse(line));
  } catch {
    return null;
  }
}

/** A result read from text that anybody may have touched; null when it is not one. */
export function parseResult(value: unknown): RunResult | null {
  if (typeof value !== 'object' || value === null) return null;
  const r = value as Partial<Record<keyof RunResult, unknown>>;
  const fits =
    r.version === RESULT_VERSION &&
    [r.experiment, r.arm, r.backend].every((x) => typeof x === 'string') &&
    [r.seed, r.skipped, r.seconds].every((x) => Number.isFinite(x)) &&
    [r.config, r.metrics].every(isRecord) &&
    isNumbers(r.curve) &&
    areStates(r.health) &&
    Array.isArray(r.heldOut) &&
    r.heldOut.every((pair) => Array.isArray(pair) && pair.length === 2);
  if (!fits) return null;
  const result = value as RunResult;
  return { ...result, config: withCurrentNames(result.config) };
}

function isNumbers(x: unknown): boolean {
  return Array.isArray(x) && x.every((value) => Number.isFinite(value));
}
