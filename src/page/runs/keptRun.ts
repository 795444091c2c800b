import { visible } from '../../base/visible.ts';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import { FIELDS, isFieldName, type FieldName, type RunConfig, changeText } from '../../config/fields.ts';
import { metricWords } from '../../domain/evaluationSet.ts';
import { type CurveName, type MetricName, metricNamed } from '../../domain/metrics.ts';
import type { Diagnosis } from '../../metricLogs/diagnosis.ts';
import { isDiagnosis } from '../../metricLogs/isDiagnosis.ts';
import { presetNamed } from '../../config/presets.ts';
import { knobDifferences, nearestPreset, presetConfig } from '../knobs/configStore.ts';
import { readHash, hashOf } from '../address/hash.ts';
import { keptText, readKeptText } from '../browser/keptText.ts';
import { readManifest } from '../../runs/manifest.ts';
import { backendText, runWithDefaults, readBackend, type Run, seriesOf } from '../../runs/run.ts';
import { type PlottedCurve, Series } from '../../runs/series.ts';
import { shownValue } from '../words/metricText.ts';

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

/** The metrics whose curves are listed for a run: of another program's log those that it has, under the page's names. */
export function listedMetrics({ program, series }: Run): readonly MetricName[] {
  const others = [...series.keys()].filter((name) => !KEPT_METRICS.some((kept) => kept === name));
  return program === undefined ? KEPT_METRICS : [...KEPT_METRICS.filter((name) => series.has(name)), ...others];
}

export const MAX_NAMED_KNOBS = 3;

/**
 * Name of a run: how its knobs differ from the run before it or, if that is too much or `file` is given, its preset and
 * how its knobs differ from that. With `file`, the person's own environment, its name replaces the preset's.
 */
export function runName(config: RunConfig, before: Run | undefined, file: EnvironmentFile | null = null): string {
  if (before && !file) {
    const changed = knobDifferences(before.begun, config);
    if (changed.length === 0) return `like run ${before.id}`;
    if (changed.length <= MAX_NAMED_KNOBS)
      return changed.map((name) => changeText(name, before.begun, config)).join(', ');
  }
  const preset = nearestPreset(config);
  const presetKnobs = presetConfig(preset);
  const changed = knobDifferences(presetKnobs, config);
  const listed = changed.slice(0, MAX_NAMED_KNOBS).map((name) => changeText(name, presetKnobs, config));
  const more = changed.length > MAX_NAMED_KNOBS ? ` and ${changed.length - MAX_NAMED_KNOBS} more` : '';
  return `${file ? visible(file.name) : presetNamed(preset).label}${listed.length > 0 ? `: ${listed.join(', ')}${more}` : ''}`;
}

/** The name of a run, followed by the changes of knobs during the run if there are any. */
export function fullName({ name, changes }: Pick<Run, 'name' | 'changes'>): string {
  if (changes.length === 0) return name;
  if (changes.length > MAX_NAMED_KNOBS) return `${name}, then ${changes.length} changes of knobs`;
  return `${name}, then ${changes.map(({ update, text }) => `${text} at update ${update}`).join(', ')}`;
}

/** A run in the list; of a log that was opened, with what the doctor says of it. */
export interface ListedRun extends Run {
  readonly diagnosis?: Diagnosis;
}

/** A run as text for storage: its knobs as addresses, which are short, and the main curves and those of findings as plotted. */
export function runText(run: ListedRun): string {
  const { id, name, started, backend, kernels, begun, config, changes, update, series, fork, arm, seconds, program } =
    run;
  const { diagnosis } = run;
  const shown = new Set<MetricName>([...KEPT_METRICS, ...(diagnosis?.findings ?? []).map(({ metric }) => metric)]);
  const curves = Array.from(shown).flatMap((metric) => {
    const curve = series.get(metric);
    return curve && curve.length > 0 ? [[metric, curve.plotted] as const] : [];
  });
  return keptText({
    ...{ id, name, started, backend: backendText(backend), kernels, changes, update, fork, arm, seconds, program },
    ...{ config: hashOf(begun), ...(hashOf(config) !== hashOf(begun) && { now: hashOf(config) }) },
    curves: Object.fromEntries(curves),
    diagnosis,
  });
}

// prettier-ignore
const KEPT_FIELDS = ['id', 'name', 'started', 'backend', 'kernels', 'config', 'now', 'changes', 'update', 'curves', 'fork', 'arm', 'seconds', 'program', 'diagnosis'] as const;

/** Reads text from this or an older version of the page. Null if any part is not valid: nothing is repaired silently. */
export function readRun(text: string): ListedRun | null {
  try {
    const { config, now = config, backend, curves, diagnosis, ...rest } = readKeptText(text, KEPT_FIELDS);
    if (typeof config !== 'string' || typeof now !== 'string' || typeof backend !== 'string') return null;
    const [begun, current] = [readHash(config), readHash(now)];
    if (begun.corrections.length + current.corrections.length > 0 || !areCurves(curves)) return null;
    if (diagnosis !== undefined && !isDiagnosis(diagnosis)) return null;
    const knobs = { begun: begun.config, config: current.config };
    const manifest = readManifest({ ...rest, ...knobs, backend: readBackend(backend) });
    const series = Object.entries(curves).map(
      ([name, plotted]) => [name as MetricName, Series.fromPlotted(plotted)] as const,
    );
    return { ...runWithDefaults({ ...manifest, series: new Map(series) }), ...(diagnosis && { diagnosis }) };
  } catch {
    return null; // the text is damaged
  }
}

function areCurves(value: unknown): value is Readonly<Partial<Record<MetricName, PlottedCurve>>> {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(([metric, curve]) => metricNamed(metric) === metric && isCurve(curve));
}

function isCurve(value: unknown): value is PlottedCurve {
  const { x, mean, smooth } = (value ?? {}) as Partial<Record<keyof PlottedCurve, unknown>>;
  const numbers = (list: unknown): list is number[] => Array.isArray(list) && list.every(Number.isFinite);
  return numbers(x) && numbers(mean) && numbers(smooth) && x.length === mean.length && x.length === smooth.length;
}

export function lastMetricValue(run: Run, metric: CurveName): number | undefined {
  return shownValue(metric, seriesOf(run, metric));
}

export function metricLabel(metric: CurveName, runs: readonly Run[]): string {
  const { label, unit } = metricWords(metric, ...runs.map(({ begun }) => begun));
  return unit === '' ? label : `${label} (${unit})`;
}

/** The knobs in which at least two of the runs differ. */
export function differingKnobs(runs: readonly Run[]): FieldName[] {
  const [first] = runs;
  return first
    ? Object.keys(FIELDS)
        .filter(isFieldName)
        .filter((name) => runs.some(({ begun }) => begun[name] !== first.begun[name]))
    : [];
}
