import { Profiler } from 'react';
import { expect, test } from 'vitest';
import { render } from 'vitest-browser-react';
import { parseConfig } from '../../src/config/config.ts';
import { useConfig } from '../../src/ui/knobs/configStore.ts';
import { live } from '../../src/ui/run/liveStore.ts';
import { measure } from '../../src/runs/runLog.ts';
import { Chart } from '../../src/ui/curves/Chart.tsx';
import { ChartCard } from '../../src/ui/curves/ChartCard.tsx';

const POINTS = 5000;
const SPIKE = 90;

test('5,000 points become at most 300 positions, few nodes, and the one-point spike still shows', async () => {
  for (let update = 1; update <= POINTS; update++) {
    measure(live.series, update, { 'actor/grad_norm': update === 1234 ? SPIKE : 1 + Math.sin(update / 40) });
  }
  const version = live.series.get('actor/grad_norm')?.version ?? 0;
  const names = ['actor/grad_norm'] as const;
  await render(<Chart metric="actor/grad_norm" names={names} version={version} width={400} height={200} />);
  await expect.poll(() => document.querySelectorAll('.recharts-line-curve').length).toBe(2);
  expect(document.querySelectorAll('svg *').length).toBeLessThan(1000);
  const line = document.querySelector('.recharts-line-curve')?.getAttribute('d') ?? '';
  expect(line.split(/[ML]/).length - 1).toBeLessThanOrEqual(300);
  // the band reaches up to the spike: near the top of a plot whose axis ends at 100
  const band = document.querySelector('.recharts-area-area')?.getAttribute('d') ?? '';
  const heights = [...band.matchAll(/[\d.]+,([\d.]+)/g)].map((match) => Number(match[1]));
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
  let before = -1;
  await expect.poll(() => before === (before = drawn), { interval: 200 }).toBe(true);
  for (const maxGradNorm of [0.9, 0.8, 0.7]) {
    useConfig.setState({ applied: parseConfig({ maxGradNorm }) });
    await new Promise(requestAnimationFrame);
  }
  expect(drawn).toBe(before);
  useConfig.setState({ applied: parseConfig({ env: 'multi-hop' }) });
  await expect.poll(() => drawn).toBe(before + 1);
});
