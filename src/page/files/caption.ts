import { presetNamed } from '../../config/presets.ts';
import type { RunConfig } from '../../config/fields.ts';
import { metricWords } from '../../domain/evaluationSet.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { backendText, type Run } from '../../runs/run.ts';
import type { ChartFrame } from '../view/frame.ts';
import { CHART_LINES } from '../curves/curves.ts';
import { changedFromPreset, nearestPreset, useConfig } from '../knobs/configStore.ts';
import { useLive } from '../view/liveStore.ts';
import { currentRun } from '../runs/liveRun.ts';
import type { Caption, LegendEntry } from '../browser/svg.ts';

const MAX_CHANGES = 8; // lines in a picture

/** The knobs of the run in the lab, or of the run that would begin now. */
export function currentConfig(): RunConfig {
  const { applied, wanted } = useConfig.getState();
  return applied ?? wanted;
}

export function titleOf(metric: MetricName): string {
  const { label, unit } = metricWords(metric, currentConfig());
  return unit === '' ? label : `${label} (${unit})`;
}

export function presetText(startConfig: RunConfig): string {
  const preset = nearestPreset(startConfig);
  const changedCount = changedFromPreset(preset, startConfig).length;
  const changed = changedCount === 0 ? '' : `, ${changedCount} ${changedCount === 1 ? 'knob' : 'knobs'} changed`;
  return `preset ${presetNamed(preset).label}${changed}`;
}

export function smoothingText(weight: number): string {
  return weight === 0 ? 'not smoothed' : `smoothed: exponential moving average, weight ${weight}, debiased`;
}

export function captionOf(metric: MetricName, { thinned, zoomed, viewSettings, plot: { x, y } }: ChartFrame): Caption {
  const [, second] = CHART_LINES[metric] ?? [];
  const { smoothing } = viewSettings;
  const { flags, shownRecording } = useLive.getState();
  const run = currentRun();
  const inView = zoomed ? `, ${Math.ceil(x.from)} to ${Math.floor(x.to)} in view` : '';
  const keys: LegendEntry[] = [
    { label: 'each update', stroke: 'var(--curve)', width: 1, opacity: 0.4 },
    ...(smoothing > 0 ? [{ label: 'smoothed', stroke: 'var(--curve)', width: 2 }] : []),
    ...(thinned ? [{ label: 'lowest to highest', stroke: 'var(--curve)', width: 8, opacity: 0.2 }] : []),
    ...(second
      ? [{ label: metricWords(second, currentConfig()).label, stroke: 'var(--curve-2)', width: 2, dash: '5 3' }]
      : []),
    ...(flags.length > 0 ? [{ label: 'knob changed', stroke: 'var(--flag)', width: 1, dash: '2 3' }] : []),
  ];
  return {
    title: titleOf(metric),
    notes: [
      ...(shownRecording ? runNotes('Recording', shownRecording) : run ? runNotes(`Run ${run.id}`, run) : []),
      `metric ${metric}; ${smoothingText(smoothing)}`,
      `x: update${inView}; y: ${y.log ? 'logarithmic' : 'linear'}`,
      ...changeNotes(),
    ],
    legend: keys,
  };
}

function runNotes(kindOfRun: string, { name, begun, config, backend, kernels }: Run): readonly string[] {
  const backendTexts = [backendText(backend), ...(kernels?.['set'] ? [`kernels ${kernels['set']}`] : [])].join(', ');
  return [`${kindOfRun}: ${name}`, `${presetText(begun)}; seed ${config.seed}; ${backendTexts}`];
}

function changeNotes(): readonly string[] {
  const shown = useLive
    .getState()
    .flags.slice(0, MAX_CHANGES)
    .map(({ update, text }, i) => `${i + 1}: update ${update}, ${text}`);
  const hiddenCount = useLive.getState().flags.length - shown.length;
  return hiddenCount > 0 ? [...shown, `and ${hiddenCount} more changes`] : shown;
}
