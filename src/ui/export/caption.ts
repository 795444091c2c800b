import { presetNamed } from '../../config/presets.ts';
import type { RunConfig } from '../../config/fields.ts';
import { metricWords } from '../../domain/evaluationSet.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { backendText, type Run } from '../../runs/run.ts';
import type { Frame } from '../curves/frame.ts';
import { LINES } from '../curves/curves.ts';
import { differences, nearestPreset, presetConfig, useConfig } from '../knobs/configStore.ts';
import { live } from '../run/liveStore.ts';
import { currentRun } from '../run/liveRun.ts';
import type { Caption, Key } from './svg.ts';

const MAX_CHANGES = 8; // lines in a picture

/** The knobs of the run in the lab, or of the run that would begin now. */
export function configNow(): RunConfig {
  const { applied, wanted } = useConfig.getState();
  return applied ?? wanted;
}

/** A metric's name with its unit. */
export function titleOf(metric: MetricName): string {
  const { label, unit } = metricWords(metric, configNow());
  return unit === '' ? label : `${label} (${unit})`;
}

/** The preset that a run began with, and how many knobs differed from it, in words. */
export function presetText(begun: RunConfig): string {
  const preset = nearestPreset(begun);
  const others = differences(presetConfig(preset), begun).length;
  const changed = others === 0 ? '' : `, ${others} ${others === 1 ? 'knob' : 'knobs'} changed`;
  return `preset ${presetNamed(preset).label}${changed}`;
}

/** How curves were smoothed, in words. */
export function smoothingText(weight: number): string {
  return weight === 0 ? 'not smoothed' : `smoothed: exponential moving average, weight ${weight}, debiased`;
}

/** The caption of a picture of a live curve: run, preset, seed, metric, smoothing, knob changes. */
export function captionOf(metric: MetricName, { thinned, zoomed, settings, plot: { x, y } }: Frame): Caption {
  const [, second] = LINES[metric] ?? [];
  const { smoothing } = settings;
  const record = currentRun();
  const inView = zoomed ? `, ${Math.ceil(x.from)} to ${Math.floor(x.to)} in view` : '';
  const keys: Key[] = [
    { label: 'each update', stroke: 'var(--curve)', width: 1, opacity: 0.4 },
    ...(smoothing > 0 ? [{ label: 'smoothed', stroke: 'var(--curve)', width: 2 }] : []),
    ...(thinned ? [{ label: 'lowest to highest', stroke: 'var(--curve)', width: 8, opacity: 0.2 }] : []),
    ...(second
      ? [{ label: metricWords(second, configNow()).label, stroke: 'var(--curve-2)', width: 2, dash: '5 3' }]
      : []),
    ...(live.flags.length > 0 ? [{ label: 'knob changed', stroke: 'var(--flag)', width: 1, dash: '2 3' }] : []),
  ];
  return {
    title: titleOf(metric),
    notes: [
      ...(live.recorded ? runNotes('Recording', live.recorded) : record ? runNotes(`Run ${record.id}`, record) : []),
      `metric ${metric}; ${smoothingText(smoothing)}`,
      `x: update${inView}; y: ${y.log ? 'logarithmic' : 'linear'}`,
      ...changeNotes(),
    ],
    keys,
  };
}

/** The lines of a caption about the run: its name, preset, seed and backend. */
function runNotes(which: string, { name, begun, config, backend, kernels }: Run): readonly string[] {
  const on = [backendText(backend), ...(kernels?.['set'] ? [`kernels ${kernels['set']}`] : [])].join(', ');
  return [`${which}: ${name}`, `${presetText(begun)}; seed ${config.seed}; ${on}`];
}

function changeNotes(): readonly string[] {
  const shown = live.flags.slice(0, MAX_CHANGES).map(({ update, text }, i) => `${i + 1}: update ${update}, ${text}`);
  const more = live.flags.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more changes`] : shown;
}
