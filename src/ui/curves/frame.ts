import { useMemo } from 'react';
import type { MetricName } from '../../domain/metrics.ts';
import { type Bucket, bucketsBetween, type Trace } from '../../runs/buckets.ts';
import { MAX_BUCKETS } from '../../runs/series.ts';
import { live } from '../run/liveStore.ts';
import { type Axis, axisFor } from './axes.ts';
import { type Baseline, baselinesOf } from './baselineLines.ts';
import { lastUpdate } from './chartClock.ts';
import { LINES } from './curves.ts';
import { LINE_END_GAP, type Chart, type Flag, type Level, VALUE_GAP } from './LineChart.tsx';
import { down, labelHeights, type Plot, ticksOf } from './plot.ts';
import { short } from '../parts/numberText.ts';
import { textWidth } from '../parts/textWidth.ts';
import { traceOf } from './traces.ts';
import { useView } from './view.ts';
import type { XRange } from './xRange.ts';

/** The reader's settings of a chart: range, smoothing, scale. */
type Looked = Pick<ReturnType<typeof useView.getState>, 'range' | 'smoothing' | 'log'>;

/** Everything that a chart of the live run draws. The crosshair reads the same numbers, so both always agree. */
export interface Frame extends Chart {
  readonly looked: Looked;
  readonly positions: number; // number of positions drawn, over all lines
  readonly thinned: boolean; // some positions hold several updates
  readonly zoomed: boolean;
  readonly note: string; // why the scale isn't the chosen one; '' if it is
  readonly traces: readonly Trace[]; // every point of each line
}

/** Room above the plot, px: half a line of the highest value. */
export const TOP = 7;
/** Space to the right of the plot, px, unless something needs more. */
export const RIGHT = 6;
/** Height of the axis of updates below the plot, px: one line of text. */
export const AXIS = 20;
/** Width of the axis of values, px, unless a value is wider. */
export const SIDE = 42;
/** Largest font size of values and names, px: `--type-1`. */
const TYPE = 10.5;
const LABEL_GAP = 11; // line height of the baselines' names, px
const LEAD = 8; // distance between the plot and these names, px
const LEAST_WIDTH = 40; // px of a chart
const FEWEST = 60; // positions in a chart that is too narrow for more
const PX = 1.5; // width of a position, px
const MARK_PX = 16; // least distance between two marks, px

interface Asked {
  readonly metric: MetricName;
  readonly width: number; // px
  readonly height: number; // px
}

/** The frame of a metric's chart for the live run now. Charts with two lines show shares; the second line isn't smoothed. */
export function frameOf({ metric, width, height }: Asked, looked: Looked): Frame {
  const names = LINES[metric] ?? [metric];
  const { range, smoothing, log } = looked;
  const most = Math.min(MAX_BUCKETS, Math.max(FEWEST, width / PX));
  const x = range ?? { from: 0, to: lastUpdate() };
  const traces = names.map((name, line) => traceOf(name, line === 0 ? smoothing : 0));
  const [main = [], held = []] = traces.map((trace) => bucketsBetween(trace, x.from, x.to, most));
  const thinned = main.some(({ count }) => count > 1);
  const baselines = baselinesOf(metric);
  const inView = main.filter(({ first, last }) => last >= x.from && first <= x.to);
  const { axis, note } = axisFor(inView, { shares: names.length > 1 || baselines.length > 0, log });
  const right = Math.max(roomFor(baselines), roomForUpdates(x)) + LINE_END_GAP;
  const plot: Plot = { width, height, left: roomForValues(axis), right, top: TOP, bottom: AXIS, x, y: axis };
  const gap = ((x.to - x.from) * MARK_PX) / Math.max(1, width - plot.left - right);
  const at = main.map(({ last }) => last);
  const means = meansOf(main);
  return {
    ...{ looked, plot, traces, thinned, note },
    positions: main.length + held.length,
    zoomed: range !== null,
    values: axis.ticks.map((value) => ({ at: value, text: short(value) })),
    updates: ticksOf(x).map((update) => ({ at: update, text: `${update}` })),
    rules: [axis.domain[0]],
    flags: marksOf(live.flags, [x.from, x.to], gap),
    bands: thinned ? [{ x: at, low: main.map(({ min }) => min), high: main.map(({ max }) => max) }] : [],
    lines: [
      { name: 'raw', x: at, y: means },
      // without smoothing, a position would show only its last value
      { name: 'smooth', x: at, y: smoothing > 0 ? main.map(({ smooth }) => smooth) : means },
      ...(held.length > 0 ? [{ name: 'held', x: held.map(({ last }) => last), y: meansOf(held) }] : []),
    ],
    levels: levelsOf(baselines, plot),
  };
}

/** The frame of a chart of `width` × `height` px for the data up to `version`, with the reader's settings; null if there is nothing to draw yet. */
export function useFrame(metric: MetricName, version: number, width: number, height: number): Frame | null {
  const range = useView((s) => s.range);
  const smoothing = useView((s) => s.smoothing);
  const log = useView((s) => s.log);
  const frame = useMemo(() => {
    // the series grow in place, so only the version shows that they changed
    if (version === 0 || width <= LEAST_WIDTH) return null;
    return frameOf({ metric, width, height }, { range, smoothing, log });
  }, [metric, version, width, height, range, smoothing, log]);
  return live.series.has(metric) ? frame : null;
}

const meansOf = (buckets: readonly Bucket[]) => buckets.map(({ sum, count }) => sum / count);

/** Room for the values of an axis, px. */
function roomForValues({ ticks }: Axis): number {
  return Math.max(SIDE, ...ticks.map((tick) => VALUE_GAP + Math.ceil(textWidth(short(tick), TYPE))));
}

/** Space for the half of the last update's number that sticks out to the right of the plot, px. */
function roomForUpdates(x: XRange): number {
  return Math.ceil(textWidth(`${ticksOf(x).at(-1) ?? ''}`, TYPE) / 2) - LINE_END_GAP;
}

/** Space for the names of baselines beside a plot, px; the plot's margin if there are none. */
function roomFor(baselines: readonly Baseline[]): number {
  const widest = Math.max(0, ...baselines.map(({ label }) => Math.ceil(textWidth(label, TYPE))));
  return RIGHT + (widest > 0 ? LEAD + widest : 0);
}

/** Baselines (between 0 and 1) and the places of their names beside the plot. Each name is at the height of its line if possible, and far enough from the next. */
function levelsOf(baselines: readonly Baseline[], plot: Plot): readonly Level[] {
  const lines = baselines.map(({ share }) => down(plot, share));
  const middle = LABEL_GAP / 3; // of its letters
  const heights = labelHeights(
    lines.map((line) => line + middle),
    LABEL_GAP,
    plot.top + 2 * middle,
    plot.height - plot.bottom + middle,
  );
  const x = plot.width - plot.right + LINE_END_GAP + LEAD;
  return baselines.map(({ label }, i) => ({ text: label, x, y: heights[i] ?? 0, line: lines[i] ?? 0 }));
}

/**
 * Marks for the changes in view. `updates` is ascending. Changes less than `gap` updates after a mark share that mark. The text of a mark
 * has their numbers in the list of changes, counted from 1: "3", "3–5".
 */
export function marksOf(
  changes: readonly { readonly update: number }[],
  [from, to]: readonly [number, number],
  gap: number,
): readonly Flag[] {
  const marks: { update: number; first: number; last: number }[] = [];
  changes.forEach(({ update }, i) => {
    if (update < from || update > to) return;
    const open = marks.at(-1);
    if (open && update - open.update < gap) open.last = i + 1;
    else marks.push({ update, first: i + 1, last: i + 1 });
  });
  return marks.map(({ update, first, last }) => ({ update, text: first === last ? `${first}` : `${first}–${last}` }));
}
