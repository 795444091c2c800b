import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { addMetrics } from '../../src/runs/runLog.ts';
import { frameOf } from '../../src/page/view/frame.ts';
import { LineChart } from '../../src/ui/charts/LineChart.tsx';
import type { Chart, Plot } from '../../src/page/curves/plot.ts';
import { useLive } from '../../src/page/view/liveStore.ts';

const PLOT: Plot = {
  ...{ width: 120, height: 60, left: 10, right: 10, top: 5, bottom: 15 },
  x: { from: 0, to: 2 },
  y: { domain: [0, 1], log: false },
};
const markup = (chart: Chart, label?: string) =>
  renderToStaticMarkup(createElement(LineChart, { chart, ...(label !== undefined && { label }) }));
const paths = (svg: string, name: string) => [...svg.matchAll(new RegExp(`<path class="${name}" d="([^"]+)"`, 'g'))];

test('each line is one path, whose run and colour it names; a line without a number is none', () => {
  const [x, y] = [
    [0, 1, 2],
    [0, 1, 0.5],
  ];
  const svg = markup({
    plot: PLOT,
    lines: [
      { cssClass: 'course', x, y, colour: 'red', dash: '1 2', run: 7 },
      { cssClass: 'nothing', x, y: [NaN, NaN, NaN] },
    ],
  });
  expect(paths(svg, 'course').map(([, d]) => d)).toEqual(['M10.0 45.0L60.0 5.0L110.0 25.0']);
  expect(svg).toContain('style="stroke:red" stroke-dasharray="1 2" data-run="7"');
  expect(paths(svg, 'nothing')).toEqual([]);
});

test('a chart with words is an image of them; one without is hidden from who listens', () => {
  expect(markup({ plot: PLOT, lines: [] }, 'Reward rose')).toMatch(/^<svg [^>]*role="img" aria-label="Reward rose"/);
  expect(markup({ plot: PLOT, lines: [] })).toMatch(/^<svg [^>]*aria-hidden="true"/);
});

test('a curve with a value of 0 just out of view has a logarithmic chart, and every place on it is a number', () => {
  useLive.setState({ series: new Map() });
  for (let update = 1; update <= 40; update++)
    addMetrics(useLive.getState().series, update, { 'actor/grad_norm': update < 20 ? 0 : 1 + update / 100 });
  useLive.setState({ flags: [{ update: 25, text: 'Gradient clip 1 → 2' }] });
  const frame = frameOf(
    { metric: 'actor/grad_norm', width: 300, height: 100 },
    { visibleRange: { from: 20, to: 40 }, smoothing: 0, log: true },
  );
  const svg = markup(frame);
  expect(frame.plot.y.log).toBe(true);
  expect(paths(svg, 'raw')).toHaveLength(1);
  expect(paths(svg, 'flag')).toHaveLength(1);
  expect(svg).not.toMatch(/NaN|Infinity/);
  useLive.setState({ flags: [] });
});
