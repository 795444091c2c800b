import { expect, test } from 'vitest';
import { endLabels, LINE_HEIGHT, nameMarginWidth } from '../../src/page/curves/endLabels.ts';
import {
  xPixel,
  bandPath,
  yPixel,
  labelHeights,
  linePath,
  type Plot,
  updateTicks,
  updateAt,
} from '../../src/page/curves/plot.ts';

/** Updates 0 to 2 and values 0 to 4 in a plot of 20 × 100 px. */
const PLOT: Plot = {
  ...{ width: 40, height: 110, left: 10, right: 10, top: 0, bottom: 10 },
  x: { from: 0, to: 2 },
  y: { domain: [0, 4], log: false },
};

test('a line is drawn over the whole width, from the lowest value at the bottom to the highest at the top; what is no number is left out', () => {
  expect(linePath(PLOT, [0, 1, 2], [4, 2, 1])).toBe('M10.0 0.0L20.0 50.0L30.0 75.0');
  expect(linePath(PLOT, [0, 1, 2], [4, NaN, 1])).toBe('M10.0 0.0L30.0 75.0');
  expect(linePath(PLOT, [], [])).toBe('');
});

test('a band goes along its highest values and back along its lowest', () => {
  expect(bandPath(PLOT, [0, 2], [0, 1], [2, 4])).toBe('M10.0 50.0L30.0 0.0L30.0 75.0L10.0 100.0Z');
  expect(bandPath(PLOT, [], [], [])).toBe('');
});

test('each power of ten takes as much room on a logarithmic scale, and 0 lies far under the plot, but at a place', () => {
  const log: Plot = { ...PLOT, y: { domain: [0.01, 1], log: true } };
  expect(yPixel(log, 1)).toBeCloseTo(0, 9);
  expect(yPixel(log, 0.1)).toBeCloseTo(50, 9);
  expect(yPixel(log, 0.01)).toBeCloseTo(100, 9);
  expect(yPixel(log, 0)).toBeGreaterThan(10_000);
  expect(Number.isFinite(yPixel(log, -1))).toBe(true);
});

test('the update at a place is the one that is drawn there', () => {
  for (const update of [0, 0.5, 1.25, 2]) expect(updateAt(PLOT, xPixel(PLOT, update))).toBeCloseTo(update, 12);
});

test('an axis names whole updates at both ends and in the middle, each once', () => {
  expect(updateTicks({ from: 1.5, to: 7.2 })).toEqual([2, 4, 7]);
  expect(updateTicks({ from: 0, to: 1 })).toEqual([0, 1]);
});

test('names of lines move apart in whatever order they come, and up where there is no room below', () => {
  expect(labelHeights([40, 10, 12], 10, 0, 100)).toEqual([40, 10, 20]);
  expect(labelHeights([98, 99, 20], 10, 0, 100)).toEqual([90, 100, 20]);
});

test('names of curves that end at one height stand a line apart beside the plot, each led to from its own curve', () => {
  const plot = { ...PLOT, width: 400, height: 200, left: 40, right: 120, top: 10, bottom: 20 };
  const ends = ['A (on)', 'B (off)', 'C (off)'].map((name) => ({ name, x: 280, y: 100 }));
  const labels = endLabels(ends, plot);
  expect(labels.map(({ lines }) => lines)).toEqual([['A (on)'], ['B (off)'], ['C (off)']]);
  const heights = labels.map(({ y }) => y).toSorted((a, b) => a - b);
  for (const [i, y] of heights.slice(1).entries()) expect(y - heights[i]!).toBeGreaterThanOrEqual(12);
  for (const { x, leaderPath } of labels) {
    expect(x).toBeGreaterThan(plot.width - plot.right);
    expect(leaderPath).toMatch(/^M280\.0 100\.0L/);
  }
});

test('the room for names grows with the longest and never takes more than 36 % of a chart; a longer name takes two lines', () => {
  const names = ['A', 'B (Learning rate 0.003)', 'A_(single_word_without_end)'];
  expect(nameMarginWidth(names, 2000)).toBeGreaterThan(nameMarginWidth(['A', 'B'], 2000));
  expect(nameMarginWidth(names, 300)).toBe(108);
  const labels = endLabels(
    names.map((name) => ({ name, x: 100, y: 50 })),
    { ...PLOT, width: 300, right: 108 },
  );
  expect(labels.map(({ lines }) => lines)).toEqual([['A'], ['B (Learning', 'rate 0.003)'], ['A_(single_wo…']]);
  // a name of two lines stands beside the place that its curve leads to, and off its neighbours
  const middles = labels.map(({ lines, y }) => y + ((lines.length - 1) * LINE_HEIGHT) / 2).toSorted((a, b) => a - b);
  for (const [i, y] of middles.slice(1).entries()) expect(y - middles[i]!).toBeGreaterThanOrEqual(2 * LINE_HEIGHT);
});
