import { parseConfig } from '../../config/config.ts';
import { FIELDS, isFieldName, type Field, type FieldName, type RunConfig } from '../../config/fields.ts';
import { metricWords } from '../../domain/evaluated.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { PRESETS } from '../../config/presets.ts';
import { differences, nearestPreset, presetConfig } from '../knobs/configStore.ts';
import { knobText } from '../parts/format.ts';
import { readHash, hashOf } from '../address/hash.ts';
import { keptText, readKeptText } from '../parts/keptText.ts';
import type { Flag } from '../run/liveStore.ts';
import type { Series } from '../run/series.ts';

/** Metrics that are kept of a run. */
export const KEPT_METRICS = [
  'critic/score/mean',
  'rollout/success',
  'eval/success',
  'actor/entropy',
  'actor/grad_norm',
  'rollout/in_group_reward_std',
  'actor/ppo_kl',
] as const satisfies readonly MetricName[];
export type KeptMetric = (typeof KEPT_METRICS)[number];

/** A curve as it is kept: at most 300 positions, thinned as it was drawn. */
export interface Curve {
  readonly x: readonly number[]; // last update of each position
  readonly mean: readonly number[];
  readonly smooth: readonly number[];
}

/** A run as it outlives the page. */
export interface RunRecord {
  readonly id: number; // counted from 1, never given twice
  readonly name: string; // by what it differs in
  readonly started: string; // ISO 8601
  readonly backend: string;
  readonly kernels?: Readonly<Record<string, string>>; // of a GPU: its set, and why; older pages kept families of kernels
  readonly config: RunConfig; // as it began
  readonly changes: readonly Flag[]; // knobs moved on the way
  readonly update: number;
  readonly curves: Readonly<Partial<Record<KeptMetric, Curve>>>;
  readonly fork?: { readonly run: number; readonly update: number }; // goes on from that run, after that update
}

const MOST_NAMED = 3; // more knobs than that are no name

/** A run named by its difference to the run before it, or to its preset where that says more. */
export function nameOf(config: RunConfig, before: RunRecord | undefined): string {
  if (before) {
    const changed = differences(before.config, config);
    if (changed.length === 0) return `like run ${before.id}`;
    if (changed.length <= MOST_NAMED) return changed.map((name) => change(name, before.config, config)).join(', ');
  }
  const preset = nearestPreset(config);
  const own = presetConfig(preset);
  const changed = differences(own, config);
  const named = changed.slice(0, MOST_NAMED).map((name) => change(name, own, config));
  const more = changed.length > MOST_NAMED ? ` and ${changed.length - MOST_NAMED} more` : '';
  return `${PRESETS[preset].label}${named.length > 0 ? `: ${named.join(', ')}${more}` : ''}`;
}

function change(name: FieldName, from: RunConfig, to: RunConfig): string {
  const { label }: Field = FIELDS[name];
  return `${label} ${knobText(from[name])} → ${knobText(to[name])}`;
}

/** The part of a series that is kept. */
export function curveOf(series: Series): Curve {
  const digits = (value: number) => Number(value.toPrecision(5));
  return {
    x: series.buckets.map(({ last }) => last),
    mean: series.buckets.map(({ sum, count }) => digits(sum / count)),
    smooth: series.buckets.map(({ smooth }) => digits(smooth)),
  };
}

/** A record as text for storage: the configuration as an address, which is short. */
export function textOf({ config, ...rest }: RunRecord): string {
  return keptText({ ...rest, config: hashOf(config) });
}

const RECORD_FIELDS = [
  ...(['id', 'name', 'started', 'backend', 'kernels', 'config', 'changes', 'update', 'curves', 'fork'] as const),
] satisfies readonly (keyof RunRecord)[];

/** Reads what `textOf` wrote; null for anything else: nothing of a record is mended in silence. */
export function readRecord(text: string): RunRecord | null {
  try {
    const r = readKeptText(text, RECORD_FIELDS);
    const { id, name, started, backend, config, update, changes, curves, fork, kernels } = r;
    if (!isCount(id) || !isCount(update) || typeof config !== 'string') return null;
    if (typeof name !== 'string' || typeof started !== 'string' || typeof backend !== 'string') return null;
    const address = readHash(config);
    if (address.corrections.length > 0) return null;
    if (!Array.isArray(changes) || !changes.every(isFlag) || !areCurves(curves)) return null;
    if (fork !== undefined && !isFork(fork)) return null;
    if (kernels !== undefined && !isTexts(kernels)) return null;
    return {
      ...{ id, name, started, backend, update, changes, curves, config: address.config },
      ...(fork && { fork }),
      ...(kernels && { kernels }),
    };
  } catch {
    return null; // damaged
  }
}

/** Whether it is what a record says of a run before its first update. */
export function isRunStart(value: unknown): value is Omit<RunRecord, 'update' | 'changes' | 'curves'> {
  const { id, name, started, backend, config, kernels, fork } = (value ?? {}) as Partial<
    Record<keyof RunRecord, unknown>
  >;
  const texts = [name, started, backend].every((text) => typeof text === 'string');
  const rest = (kernels === undefined || isTexts(kernels)) && (fork === undefined || isFork(fork));
  return isCount(id) && texts && rest && isConfig(config);
}

function isConfig(value: unknown): value is RunConfig {
  try {
    if (typeof value !== 'object' || value === null) return false;
    parseConfig(value as Record<string, unknown>);
    return true;
  } catch {
    return false;
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function isFork(value: unknown): value is NonNullable<RunRecord['fork']> {
  const { run, update } = (value ?? {}) as Partial<Readonly<Record<string, unknown>>>;
  return isCount(run) && isCount(update);
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return value instanceof Object && Object.values(value).every((text) => typeof text === 'string');
}

function isFlag(value: unknown): value is Flag {
  const flag = value as Partial<Flag> | null;
  return typeof flag?.update === 'number' && typeof flag.text === 'string';
}

function areCurves(value: unknown): value is RunRecord['curves'] {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(
    ([metric, curve]) => KEPT_METRICS.some((name) => name === metric) && isCurve(curve),
  );
}

function isCurve(value: unknown): value is Curve {
  const { x, mean, smooth } = (value ?? {}) as Partial<Record<keyof Curve, unknown>>;
  const numbers = (list: unknown): list is number[] => Array.isArray(list) && list.every(Number.isFinite);
  return numbers(x) && numbers(mean) && numbers(smooth) && x.length === mean.length && x.length === smooth.length;
}

/** The last value of a curve, smoothed unless it has few points: evaluations are made seldom. */
export function lastOf({ curves }: RunRecord, metric: KeptMetric): number | undefined {
  return (metric === 'eval/success' ? curves[metric]?.mean : curves[metric]?.smooth)?.at(-1);
}

/** What a metric is called in some runs. */
export function metricLabel(metric: KeptMetric, runs: readonly RunRecord[]): string {
  const { label, unit } = metricWords(metric, ...runs.map(({ config }) => config));
  return unit === '' ? label : `${label} (${unit})`;
}

/** Knobs in which any of the runs differ. */
export function differingKnobs(runs: readonly RunRecord[]): FieldName[] {
  const [first] = runs;
  return first
    ? Object.keys(FIELDS)
        .filter(isFieldName)
        .filter((name) => runs.some(({ config }) => config[name] !== first.config[name]))
    : [];
}
