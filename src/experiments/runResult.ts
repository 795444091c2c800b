import { isRecord, jsonLines } from '../base/jsonRecord.ts';
import { parseConfig, type RunConfig, FIELDS, isFieldName } from '../config/config.ts';
import { withCurrentNames } from '../config/fields.ts';
import { metricNamed, type MetricName } from '../domain/metrics.ts';
import type { HealthState } from '../domain/health.ts';
import { areHealthStates, healthStretch } from '../runs/log.ts';
import { runWithDefaults, safeNames, type Run } from '../runs/run.ts';
import { type Points, Series } from '../runs/series.ts';
import type { Measure } from './experimentDefinition.ts';
import { checksumOf } from '../base/checksum.ts';

/** The version of the format below. Files and stores of another version aren't read. */
export const RESULT_VERSION = 1;

export interface RunResult {
  readonly version: typeof RESULT_VERSION;
  readonly experiment: string;
  readonly arm: string;
  readonly seed: number;
  readonly config: Partial<RunConfig>; // complete when it was saved; knobs may have been added since
  readonly backend: string;
  readonly metrics: Readonly<Partial<Record<MetricName, Readonly<Record<Measure['take'], number>>>>>;
  readonly curve: readonly number[]; // success of the training rollouts, by update
  readonly heldOut: readonly (readonly [update: number, success: number])[];
  readonly health: readonly (readonly [update: number, state: HealthState])[]; // the updates at which the state changed
  readonly skipped: number; // number of optimizer steps that were skipped because they weren't finite
  readonly seconds: number;
}

/** The result of a finished run: the numbers that the tables of experiments and sweeps need. */
export function resultFromRun(run: Run, experiment: string): RunResult {
  const { arm = run.name, begun: config, skipped, seconds = 0 } = run;
  const measures = [...run.series].filter(([name]) => !/^(time|engine)\//.test(name));
  const { x: evaluationUpdates, y: evaluationSuccess } = pointsOf(run, 'eval/success');
  return {
    ...{ version: RESULT_VERSION, experiment, arm, seed: config.seed, config, backend: backendName(run) },
    metrics: Object.fromEntries(measures.map(([name, { points }]) => [name, allTakes(points.y)])),
    curve: Array.from(pointsOf(run, 'rollout/success').y, rounded),
    heldOut: Array.from(evaluationUpdates, (update, i) => [update, rounded(evaluationSuccess[i] ?? NaN)] as const),
    health: run.health.map(({ update, health }) => [update, health.state] as const),
    ...{ skipped, seconds: rounded(seconds) },
  };
}

function pointsOf({ series }: Run, name: MetricName): Points {
  return series.get(name)?.points ?? { x: new Uint32Array(), y: new Float64Array() };
}

/** The backend of a run, including its kernels, because other kernels round differently. */
function backendName({ backend: { kind, adapter }, kernels }: Run): string {
  return `${kind}: ${adapter}${kernels ? `, ${kernels['set']}` : ''}`;
}

function allTakes(values: Float64Array): Record<Measure['take'], number> {
  const [first = NaN, last = NaN] = [values[0], values.at(-1)];
  const best = values.reduce((most, value) => Math.max(most, value), -Infinity);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { first: rounded(first), last: rounded(last), best: rounded(best), mean: rounded(mean) };
}

/** An older version saved only training success by update and the evaluations. Throws ConfigError for unreadable knobs. */
export function runFromResult(result: RunResult, started: string): Run {
  const { arm, seed, curve, heldOut, backend, health, skipped, seconds } = result;
  const begun = parseConfig(result.config);
  const [kind = '', ...adapter] = backend.split(': ');
  const trainingSuccess = Series.of({ x: Uint32Array.from(curve, (_, i) => i + 1), y: Float64Array.from(curve) });
  const heldOutPoints = { x: Uint32Array.from(heldOut, ([x]) => x), y: Float64Array.from(heldOut, ([, y]) => y) };
  return runWithDefaults({
    ...{ id: 0, started, begun, update: curve.length, arm, skipped, seconds, health: health.map(healthStretch) },
    ...safeNames(`${arm}, seed ${seed}`, { kind: kind === 'gpu' ? 'gpu' : 'cpu', adapter: adapter.join(': ') }),
    series: new Map([
      ['rollout/success', trainingSuccess],
      ['eval/success', Series.of(heldOutPoints)],
    ]),
  });
}

/** Rounds to six digits. That is more than any table shows and half of what JSON would write. */
function rounded(x: number): number {
  return Number(x.toPrecision(6));
}

export function resultsText(results: Iterable<RunResult>): string {
  return Array.from(results, (result) => `${JSON.stringify(result)}\n`).join('');
}

/** The results in a file with one result on each line, and the numbers of the lines that aren't results. */
export function parseResults(text: string): {
  readonly results: readonly RunResult[];
  readonly badLines: readonly number[];
} {
  const results: RunResult[] = [];
  const badLines: number[] = [];
  for (const { number, record } of jsonLines(text)) {
    const result = parseResult(record);
    if (result) results.push(result);
    else badLines.push(number);
  }
  return { results, badLines };
}

/** Checks a parsed value, which may come from an edited file. Returns the result; null if it isn't one. */
export function parseResult(value: unknown): RunResult | null {
  if (typeof value !== 'object' || value === null) return null;
  const r = value as Partial<Record<keyof RunResult, unknown>>;
  const isValid =
    r.version === RESULT_VERSION &&
    [r.experiment, r.arm, r.backend].every((x) => typeof x === 'string') &&
    [r.seed, r.skipped, r.seconds].every((x) => Number.isFinite(x)) &&
    [r.config, r.metrics].every(isRecord) &&
    isNumbers(r.curve) &&
    areHealthStates(r.health) &&
    Array.isArray(r.heldOut) &&
    r.heldOut.every((pair) => Array.isArray(pair) && pair.length === 2);
  if (!isValid) return null;
  const result = value as RunResult;
  const metrics = Object.fromEntries(Object.entries(result.metrics).map(([name, takes]) => [metricNamed(name) ?? name, takes])); // prettier-ignore
  return { ...result, config: withCurrentNames(result.config), metrics };
}

function isNumbers(x: unknown): boolean {
  return Array.isArray(x) && x.every((value) => Number.isFinite(value));
}

/** The identity of a run of an experiment or a sweep, with all its knobs. `seed` is also in `config`. */
export interface RunIdentity {
  readonly experiment: string; // `sweep` for the runs of a sweep
  readonly arm: string;
  readonly seed: number;
  readonly config: RunConfig;
}

const MAX_SLUG_LENGTH = 100;

/** The file's name without its ending. It depends only on arm, seed and knobs, so it is the same on every machine. */
export function runKey({
  arm,
  seed,
  config,
}: Pick<RunIdentity, 'arm' | 'seed'> & { readonly config: Partial<RunConfig> }): string {
  const slug = arm.replaceAll(/[^\w=.-]+/g, ',').slice(0, MAX_SLUG_LENGTH);
  // knobs at their defaults are left out, so that a knob added later doesn't change the names of old results
  const set = Object.entries(config).filter(([name, value]) => !isFieldName(name) || FIELDS[name].default !== value);
  return `${slug},seed=${seed}-${checksumOf(Object.fromEntries(set)).slice(0, 8)}`;
}
