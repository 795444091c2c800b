import { beforeEach, expect, test } from 'vitest';
import type { MetricName } from '../../src/domain/metrics.ts';
import { runWithDefaults } from '../../src/runs/run.ts';
import { addMetrics } from '../../src/runs/runLog.ts';
import type { Series } from '../../src/runs/series.ts';
import { parseConfig } from '../../src/config/config.ts';
import { chartVersion } from '../../src/page/view/chartClock.ts';
import { metricsOf } from '../../src/page/curves/curves.ts';
import { captionOf } from '../../src/page/files/caption.ts';
import { frameOf } from '../../src/page/view/frame.ts';
import { xPixel } from '../../src/page/curves/plot.ts';
import { showCurves, useLive } from '../../src/page/view/liveStore.ts';
import { snapshot } from '../../src/page/shell/snapshot.ts';
import { shippedRecording } from '../shippedRecording.ts';

beforeEach(() => showCurves(new Map()));

function recordedCurve(reward: number) {
  const series = new Map<MetricName, Series>();
  for (const update of [1, 2, 3]) addMetrics(series, update, { 'critic/score/mean': reward });
  const begun = parseConfig({ seed: 4 });
  const run = runWithDefaults({ id: 0, name: `of ${reward}`, started: '2026-11-24T00:00:00Z', begun, series });
  return { series, run };
}

test('curves of another recording are drawn anew though they are as long', () => {
  const [one, other] = [recordedCurve(0.25), recordedCurve(0.75)];
  showCurves(one.series, one.run);
  const drawn = chartVersion(['critic/score/mean']);
  expect(chartVersion(['critic/score/mean'])).toBe(drawn);
  showCurves(other.series, other.run);
  expect(chartVersion(['critic/score/mean'])).not.toBe(drawn);
});

test('a picture of a recorded curve says of which recording and seed it is', () => {
  const { series, run } = recordedCurve(0.25);
  showCurves(series, run);
  const asked = { metric: 'critic/score/mean', width: 300, height: 100 } as const;
  const frame = frameOf(asked, { visibleRange: null, smoothing: 0.8, log: false });
  expect(captionOf('critic/score/mean', frame).notes[0]).toBe('Recording: of 0.25');
  expect(captionOf('critic/score/mean', frame).notes[1]).toContain('seed 4');
});

test('curves of a recording are no points of a run', () => {
  const { series, run } = recordedCurve(0.25);
  showCurves(series);
  expect(snapshot().points).toEqual({ 'critic/score/mean': 3 });
  showCurves(series, run);
  expect(snapshot().points).toEqual({});
  expect(useLive.getState().shownRecording?.name).toBe('of 0.25');
});

test('the recording of the first preset has a curve for every chart of the overview and of health, in each of its updates, but where it is measured seldom', () => {
  const { series, begun } = shippedRecording();
  for (const name of metricsOf('overview')) expect(series.get(name)?.length, name).toBe(begun.updates);
  for (const name of metricsOf('health')) expect(series.get(name)?.length, name).toBeGreaterThan(30);
  expect(series.get('baseline/expert')?.firstValue).toBeGreaterThan(0.9);
  // of the machine it was recorded on, not of the reader's
  expect(series.has('time/update')).toBe(false);
});

test('a chart leaves room for the values and updates that stand beside it, and as much as before where they are short', () => {
  const frameOfValues = (value: number, update: number) => {
    const series = new Map<MetricName, Series>();
    addMetrics(series, update, { 'actor/ppo_kl': value });
    showCurves(series);
    const asked = { metric: 'actor/ppo_kl', width: 300, height: 100 } as const;
    return frameOf(asked, { visibleRange: null, smoothing: 0.8, log: false });
  };
  const short = frameOfValues(0.5, 9);
  expect(short.plot.left).toBe(42);
  // without a page a letter of 10.5 px counts 0.65 em: at least four letters (“4e−5”) and the gap
  const long = frameOfValues(-3.3e-5, 123_456);
  expect(long.plot.left).toBeGreaterThanOrEqual(Math.ceil(5 * 0.65 * 10.5) + 8);
  // half of six digits
  expect(long.plot.right).toBe(Math.ceil((6 * 0.65 * 10.5) / 2));
  expect(xPixel(long.plot, 0)).toBe(long.plot.left);
});
