import { describe, expect, test } from 'vitest';
import { bucketsInRange, firstIndexFrom, type SmoothedCurve } from '../../src/runs/buckets.ts';
import { Series } from '../../src/runs/series.ts';
import { smoothCurve } from '../../src/runs/smoothing.ts';
import { linearAxis, logAxis } from '../../src/page/curves/axes.ts';
import { marksOf } from '../../src/page/view/frame.ts';
import { readChartSettings } from '../../src/page/curves/view.ts';
import { pointNear } from '../../src/page/view/traces.ts';
import { rangeBetween, pinchRange, shiftedRange, zoomedRange } from '../../src/page/curves/xRange.ts';

/** A curve of values at updates from 1. */
const traceOf = (y: readonly number[], weight = 0.8): SmoothedCurve => ({
  x: y.map((_, i) => i + 1),
  y,
  smooth: smoothCurve(y, weight),
});
const waves = (n: number) => Array.from({ length: n }, (_, i) => Math.sin(i / 50) + 0.2 * Math.sin(i * 1.7));

test('charts are drawn as the last visit drew them; what is no such word, or smooths more than can be, counts for nothing', () => {
  expect(readChartSettings('0.35 log')).toEqual({ smoothing: 0.35, log: true });
  expect(readChartSettings('0 linear')).toEqual({ smoothing: 0, log: false });
  const usual = { smoothing: 0.8, log: false };
  for (const odd of [null, '', '0.8', '1 log', '-0.2 log', 'NaN linear', '0.5 logs'])
    expect(readChartSettings(odd)).toEqual(usual);
  expect(readChartSettings('0.995 log')).toEqual({ smoothing: 0.8, log: true });
});

describe('smoothing', () => {
  test('it is the debiased moving average, worked out by hand', () => {
    // 2 · (1 − .5) / (1 − .5) = 2; (.5 · 1 + .5 · 4) / .75 = 10/3; (.5 · 2.5 + .5 · 0) / .875 = 10/7
    const [a, b, c] = smoothCurve([2, 4, 0], 0.5);
    expect(a).toBeCloseTo(2, 12);
    expect(b).toBeCloseTo(10 / 3, 12);
    expect(c).toBeCloseTo(10 / 7, 12);
  });

  test('weight 0 leaves every value as it is, and a constant stays one under any weight', () => {
    expect([...smoothCurve([3, -1, 7], 0)]).toEqual([3, -1, 7]);
    for (const weight of [0, 0.5, 0.9, 0.99]) {
      for (const value of smoothCurve(
        Array.from({ length: 500 }, () => 0.3),
        weight,
      ))
        expect(value).toBeCloseTo(0.3, 12);
    }
  });

  test('at the weight curves have unless told otherwise it is the course that a series tells, bit for bit', () => {
    const series = new Series();
    waves(200).forEach((y, i) => series.push(i + 1, y));
    expect(Array.from(smoothCurve(waves(200), 0.8))).toEqual(series.buckets.map(({ smooth }) => smooth));
  });
});

describe('drawn positions', () => {
  const spiked = waves(10_000);
  spiked[4321] = 9;
  spiked[8765] = -7;
  const trace = traceOf(spiked);

  test.each([10, 60, 140, 300])(
    'of 10,000 updates at most %i positions and one are drawn, and both extremes are kept',
    (most) => {
      const buckets = bucketsInRange(trace, 0, 10_000, most);
      expect(buckets.length).toBeLessThanOrEqual(most + 1);
      expect(buckets.length).toBeGreaterThan(most / 2 - 1);
      expect(Math.max(...buckets.map(({ max }) => max))).toBe(9);
      expect(Math.min(...buckets.map(({ min }) => min))).toBe(-7);
      expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(10_000);
    },
  );

  test('each position holds the extremes of exactly its own updates', () => {
    for (const { first, last, min, max, sum, count } of bucketsInRange(trace, 3000, 7000, 100)) {
      const own = spiked.slice(first - 1, last);
      expect(count).toBe(own.length);
      expect(min).toBe(Math.min(...own));
      expect(max).toBe(Math.max(...own));
      expect(sum).toBeCloseTo(
        own.reduce((a, b) => a + b, 0),
        9,
      );
    }
  });

  test('moving what is in view moves no position: those that both views have are the same', () => {
    const key = ({ first, last }: { first: number; last: number }) => `${first} ${last}`;
    const [a, b] = [bucketsInRange(trace, 2000, 4000, 100), bucketsInRange(trace, 2777, 4777, 100)];
    const known = new Map(a.map((bucket) => [key(bucket), bucket]));
    const shared = b.filter((bucket) => known.has(key(bucket)));
    expect(shared.length).toBeGreaterThan(30);
    for (const bucket of shared) expect(bucket).toEqual(known.get(key(bucket)));
  });

  test('close enough every update is a position of its own, with one more on either side', () => {
    const buckets = bucketsInRange(trace, 4300, 4340, 100);
    expect(buckets.map(({ first }) => first)).toEqual(Array.from({ length: 43 }, (_, i) => 4299 + i));
    expect(buckets.every(({ count, min, max }) => count === 1 && min === max)).toBe(true);
  });

  test('they are those that a series thins itself to', () => {
    const series = new Series();
    spiked.forEach((y, i) => series.push(i + 1, y));
    expect(bucketsInRange(trace, 0, 10_000, 300).map(({ first, last, min, max }) => [first, last, min, max])).toEqual(
      series.buckets.map(({ first, last, min, max }) => [first, last, min, max]),
    );
  });

  test('a curve without points, or with none in view, is no curve', () => {
    expect(bucketsInRange(traceOf([]), 0, 10, 50)).toEqual([]);
    expect(bucketsInRange(traceOf([1, 2, 3]), 40, 50, 50).filter(({ last }) => last >= 40)).toEqual([]);
  });
});

describe('what is read off', () => {
  test('the value measured closest to an update, and the smoothed curve there', () => {
    const trace: SmoothedCurve = { x: [10, 20, 40], y: [1, 2, 3], smooth: [1, 1.5, 2.5] };
    expect(pointNear(trace, 20)).toEqual({ update: 20, value: 2, smooth: 1.5 });
    expect(pointNear(trace, 1)?.update).toBe(10);
    expect(pointNear(trace, 29)?.update).toBe(20);
    expect(pointNear(trace, 30)?.update).toBe(20); // as far from 40: the earlier
    expect(pointNear(trace, 31)?.update).toBe(40);
    expect(pointNear(trace, 999)?.update).toBe(40);
    expect(pointNear({ x: [], y: [], smooth: [] }, 3)).toBeUndefined();
  });

  test('the first point from an update on is found among many', () => {
    const x = Array.from({ length: 999 }, (_, i) => 3 * i);
    for (const update of [-5, 0, 1, 3, 1500, 1501, 2994, 2995]) {
      const found = x.findIndex((each) => each >= update);
      expect(firstIndexFrom(x, update)).toBe(found < 0 ? x.length : found);
    }
  });
});

describe('scales', () => {
  const at = (y: readonly number[]) => bucketsInRange(traceOf(y, 0), 0, y.length, 100);

  test('a linear axis holds 0 and every value, between round numbers', () => {
    expect(linearAxis(at([0.2, 0.43])).domain).toEqual([0, 0.5]);
    expect(linearAxis(at([-0.003, 0.011])).domain).toEqual([-0.005, 0.02]);
    expect(linearAxis(at([0, 0])).domain).toEqual([0, 1]);
  });

  test('a logarithmic axis holds every value between steps of 1, 2 and 5, and names powers of ten', () => {
    const axis = logAxis(at([0.0031, 0.4, 27]));
    expect(axis).toMatchObject({ log: true });
    if (typeof axis === 'string') throw new Error(axis);
    expect(axis.domain[0]).toBeCloseTo(0.002, 12);
    expect(axis.domain[1]).toBe(50);
    expect(axis.ticks.map((tick) => Math.round(Math.log10(tick)))).toEqual([-2, -1, 0, 1]);
  });

  test('within one power of ten the ends are named', () => {
    const axis = logAxis(at([0.22, 0.43]));
    expect(axis).toMatchObject({ domain: [0.2, 0.5], ticks: [0.2, 0.5] });
  });

  test('0 and what is below have no logarithm: it says which, and where', () => {
    expect(logAxis(at([0.5, 0, 0.2]))).toBe('linear: 0 at update 2');
    expect(logAxis(at([0.5, 0.2, -0.1]))).toBe('linear: below 0 at update 3');
    expect(logAxis([])).toBe('linear: nothing in view');
  });
});

describe('what is in view', () => {
  const WHOLE = { from: 0, to: 1000 };
  const view = { from: 100, to: 200 };

  test('zooming leaves the update that is pointed at where it was', () => {
    const zoomed = zoomedRange(view, 0.5, 125, WHOLE);
    expect(zoomed).toEqual({ from: 112.5, to: 162.5 });
    const share = ({ from, to }: { from: number; to: number }) => (125 - from) / (to - from);
    expect(share(zoomed ?? view)).toBeCloseTo(share(view), 12);
  });

  test('no further in than four updates, no further out than the whole run, which is nothing in particular', () => {
    expect(zoomedRange(view, 1e-6, 150, WHOLE)).toEqual({ from: 148, to: 152 });
    expect(zoomedRange(view, 1e6, 150, WHOLE)).toBeNull();
    expect(rangeBetween(1, 7, { from: 0, to: 6 })).toBeNull();
  });

  test('moving stops at both ends and keeps the width', () => {
    expect(shiftedRange(view, 50, WHOLE)).toEqual({ from: 150, to: 250 });
    expect(shiftedRange(view, -500, WHOLE)).toEqual({ from: 0, to: 100 });
    expect(shiftedRange(view, 5000, WHOLE)).toEqual({ from: 900, to: 1000 });
  });

  test('what is chosen from right to left is the same', () => {
    expect(rangeBetween(300, 120, WHOLE)).toEqual({ from: 120, to: 300 });
  });

  test('two fingers keep the updates that they hold', () => {
    expect(pinchRange([120, 180], [0.2, 0.8], WHOLE)).toEqual({ from: 100, to: 200 });
    expect(pinchRange([120, 180], [0.4, 0.6], WHOLE)).toEqual({ from: 0, to: 300 });
    expect(pinchRange([180, 120], [0.8, 0.2], WHOLE)).toEqual({ from: 100, to: 200 });
    expect(pinchRange([120, 180], [0.5, 0.5], WHOLE)).toBeNull(); // on one place: as far out as there is
  });
});

test('changes of knobs that lie close share a mark, numbered as in the list; those out of view have none', () => {
  const changes = [5, 40, 44, 48, 90, 300].map((update) => ({ update }));
  expect(marksOf(changes, [10, 200], 10)).toEqual([
    { update: 40, text: '2–4' },
    { update: 90, text: '5' },
  ]);
});
