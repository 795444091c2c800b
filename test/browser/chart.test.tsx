import { Profiler } from 'react';
import { expect, test } from 'vitest';
import { render } from 'vitest-browser-react';
import { parseConfig } from '../../src/config/config.ts';
import { useConfig } from '../../src/page/knobs/configStore.ts';
import { useLive } from '../../src/page/view/liveStore.ts';
import { addMetrics } from '../../src/runs/runLog.ts';
import { frameOf } from '../../src/page/view/frame.ts';
import { LineChart } from '../../src/ui/charts/LineChart.tsx';
import { xPixel, yPixel } from '../../src/page/curves/plot.ts';
import { useChartView } from '../../src/page/curves/view.ts';
import { ChartCard } from '../../src/ui/charts/ChartCard.tsx';
import { ChartSurface } from '../../src/ui/charts/ChartSurface.tsx';

/** What a chart of 400 × 200 px shows of the gradient norm. */
const frameNow = () => frameOf({ metric: 'actor/grad_norm', width: 400, height: 200 }, useChartView.getState());

const POINTS = 5000;
const SPIKE = 90;

test('SHOULD-23: 5,000 points become at most 300 positions, few nodes, and the one-point spike still shows', async () => {
  for (let update = 1; update <= POINTS; update++) {
    addMetrics(useLive.getState().series, update, {
      'actor/grad_norm': update === 1234 ? SPIKE : 1 + Math.sin(update / 40),
    });
  }
  await render(<LineChart chart={frameNow()} />);
  await expect.poll(() => document.querySelectorAll('.line-chart :is(.raw, .smooth)').length).toBe(2);
  expect(document.querySelectorAll('svg *').length).toBeLessThan(1000);
  const line = document.querySelector('.line-chart .smooth')?.getAttribute('d') ?? '';
  expect(line.split(/[ML]/).length - 1).toBeLessThanOrEqual(300);
  // the band reaches up to the spike: near the top of a plot whose axis ends at 100
  const band = document.querySelector('.line-chart .band')?.getAttribute('d') ?? '';
  const heights = [...band.matchAll(/[\d.]+ ([\d.]+)/g)].map((match) => Number(match[1]));
  expect(Math.min(...heights)).toBeLessThan(30);
});

test('a knob that is dragged draws no chart anew; another environment does, for its words', async () => {
  let drawn = 0;
  useConfig.setState({ applied: parseConfig() });
  await render(
    <Profiler id="card" onRender={() => drawn++}>
      <ChartCard metric="eval/success" />
    </Profiler>,
  );
  // until its size has been noted and nothing is left to come
  await expect.poll(() => drawn).toBeGreaterThan(1);
  let [before, same] = [-1, 0];
  await expect
    .poll(() => (same = before === (before = drawn) ? same + 1 : 0), { interval: 200 })
    .toBeGreaterThanOrEqual(4);
  for (const maxGradNorm of [0.9, 0.8, 0.7]) {
    useConfig.setState({ applied: parseConfig({ maxGradNorm }) });
    await new Promise(requestAnimationFrame);
  }
  expect(drawn).toBe(before);
  useConfig.setState({ applied: parseConfig({ env: 'multi-hop' }) });
  await expect.poll(() => drawn).toBe(before + 1);
});

test.each([
  ['linear, the whole run', null, false],
  ['linear, a part of it', { from: 1200, to: 1260 }, false],
  ['logarithmic, a part of it', { from: 1200, to: 1260 }, true],
] as const)('what is read off a chart lies where the chart draws it: %s', async (_, range, log) => {
  for (let update = 1; update <= POINTS; update++) {
    addMetrics(useLive.getState().series, update, {
      'actor/grad_norm': update === 1234 ? SPIKE : 1.2 + Math.sin(update / 40),
    });
  }
  useChartView.setState({ visibleRange: range, log, smoothing: 0 });
  const frame = frameNow();
  await render(<LineChart chart={frame} />);
  await expect.poll(() => document.querySelectorAll('.line-chart .smooth').length).toBe(1);
  const path = document.querySelector('.line-chart .smooth')?.getAttribute('d') ?? '';
  const drawn = [...path.matchAll(/[ML]([\d.-]+) ([\d.-]+)/g)].map(([, x, y]) => [Number(x), Number(y)] as const);
  const smooth = frame.lines.find(({ cssClass }) => cssClass === 'smooth');
  const read = Array.from(smooth?.x ?? [], (x, i) => [xPixel(frame.plot, x), yPixel(frame.plot, smooth?.y[i] ?? NaN)]);
  expect(drawn).toHaveLength(read.length);
  expect(frame.plot.y.log).toBe(log);
  // paths have one digit after the point
  drawn.forEach(([x, y], i) => {
    expect(Math.abs(x - (read[i]?.[0] ?? NaN))).toBeLessThanOrEqual(0.0501);
    expect(Math.abs(y - (read[i]?.[1] ?? NaN))).toBeLessThanOrEqual(0.0501);
  });
  useChartView.setState(useChartView.getInitialState());
});

test('a finger points, and two fingers look closer at the updates that they hold', async () => {
  const ends = { axis: () => ({ from: 0, to: 100 }), newestUpdate: () => 100 };
  await render(
    <ChartSurface className="" label="all charts" valueText={String} updateEnds={ends}>
      <div
        className="plot"
        style={{ width: '300px', height: '90px' }}
        data-left="40"
        data-right="10"
        data-bottom="10"
      />
    </ChartSurface>,
  );
  const plot = document.querySelector('.plot')!;
  const from = plot.getBoundingClientRect().left + 40;
  const touch = (type: 'pointerdown' | 'pointermove' | 'pointerup', pointerId: number, share = 0) =>
    plot.dispatchEvent(
      new PointerEvent(type, {
        ...{ pointerId, pointerType: 'touch', bubbles: true, isPrimary: pointerId === 1 },
        clientX: from + 250 * share,
      }),
    );
  touch('pointerdown', 1, 0.5);
  expect(useChartView.getState()).toMatchObject({ crosshairUpdate: 50, visibleRange: null });
  touch('pointermove', 1, 0.4);
  expect(useChartView.getState().crosshairUpdate).toBe(40);
  touch('pointerdown', 2, 0.6);
  touch('pointermove', 1, 0);
  touch('pointermove', 2, 1);
  const { visibleRange } = useChartView.getState();
  expect(visibleRange?.from).toBeCloseTo(40, 3);
  expect(visibleRange?.to).toBeCloseTo(60, 3);
  touch('pointerup', 1);
  touch('pointerup', 2);
  useChartView.setState(useChartView.getInitialState());
});
