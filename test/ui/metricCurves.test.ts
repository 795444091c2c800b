import { expect, test } from 'vitest';
import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import { runWithDefaults } from '../../src/runs/run.ts';
import { Series } from '../../src/runs/series.ts';
import { bandOf, curveOf, seedGroups, updatesAxis } from '../../src/page/runs/metricCurves.ts';

const curve = (y: readonly number[], first = 1) =>
  Series.of({ x: Uint32Array.from(y, (_, i) => first + i), y: Float64Array.from(y) });
const runOf = (id: number, config: Partial<RunConfig>, y: readonly number[] = []) => {
  const begun = parseConfig(config);
  const series = new Map([['critic/score/mean', curve(y)] as const]);
  return runWithDefaults({ id, name: `run ${id}`, started: '', begun, update: y.length, series });
};
const traceOf = (x: readonly number[], smooth: readonly number[]) => ({ x, y: smooth, smooth });

test('runs that differ in their seed alone are a group in the colour of the first; another knob or another fork is none', () => {
  const runs = [
    runOf(1, { seed: 1 }),
    runOf(2, { seed: 2, learningRate: 0.004 }),
    runOf(3, { seed: 3 }),
    { ...runOf(4, { seed: 4 }), fork: { run: 1, update: 10 } },
  ];
  const groups = seedGroups(runs.map((run, slot) => ({ run, slot })));
  expect(groups.map(({ slot, lines }) => [slot, lines.map(({ run }) => run.id)])).toEqual([[0, [1, 3]]]);
});

test('a band is the lowest, the mean and the highest where every run was measured, between positions on a straight line', () => {
  const band = bandOf([traceOf([1, 2, 3, 4], [0, 0.2, 0.4, 0.6]), traceOf([2, 4], [0.4, 1])]);
  expect(band.map(({ update }) => update)).toEqual([2, 3, 4]);
  expect(band[0]).toMatchObject({ low: 0.2, high: 0.4 });
  expect(band[1]?.low).toBeCloseTo(0.4, 12);
  expect(band[1]?.high).toBeCloseTo(0.7, 12); // halfway from .4 to 1
  expect(band[1]?.mean).toBeCloseTo(0.55, 12);
  expect(bandOf([])).toEqual([]);
});

test('at the usual weight a curve is the one that was kept; at 0 it is what was measured', () => {
  const y = [0, 1, 0, 1, 0, 1];
  const run = runOf(1, {}, y);
  expect(curveOf(run, 'critic/score/mean', 0.8)?.smooth).toEqual(run.series.get('critic/score/mean')?.plotted.smooth);
  expect(Array.from(curveOf(run, 'critic/score/mean', 0)?.smooth ?? [])).toEqual(y);
  expect(curveOf(run, 'actor/entropy', 0.8)).toBeNull();
});

test('a curve of which every hundredth position is left is smoothed as its updates would have been, not a hundred times as much', () => {
  const run = runOf(
    1,
    {},
    Array.from({ length: 30_000 }, (_, i) => (i < 15_000 ? 0 : 1)),
  );
  const curve = curveOf(run, 'critic/score/mean', 0.9);
  // a weight of .9 has forgotten all but 3e-5 of the past after a position of 100 updates
  expect(curve?.x.length).toBeLessThanOrEqual(300);
  const step = Array.from(curve?.smooth ?? []).filter((value) => value > 0.001 && value < 0.999);
  expect(step.length).toBeLessThanOrEqual(1);
});

test('curves take most of the axis of updates, of whatever length they are and wherever they began', () => {
  const ones = (n: number) => Array.from({ length: n }, () => 1);
  expect(updatesAxis([runOf(1, {}, ones(210))])).toEqual({ from: 0, to: 220 });
  const forked = (first: number, last: number) => ({
    ...runOf(2, {}),
    update: last,
    series: new Map([['critic/score/mean', curve(ones(last - first + 1), first)] as const]),
  });
  expect(updatesAxis([forked(170, 210), forked(170, 210)])).toEqual({ from: 170, to: 210 });
  expect(updatesAxis([runOf(1, {}, ones(170)), forked(170, 210)])).toEqual({ from: 0, to: 220 });
  expect(updatesAxis([])).toEqual({ from: 0, to: 10 });
  for (let last = 10; last < 3000; last += 7)
    for (const first of [1, 3, Math.floor(last / 2)]) {
      const { from, to } = updatesAxis([forked(first, last)]);
      expect((last - first) / (to - from), `${first} to ${last}`).toBeGreaterThan(last - first < 9 ? 0 : 0.72);
      expect((to - from) % 2, 'the middle has a whole number').toBe(0);
    }
});
