import { useMemo } from 'react';
import type { MetricName } from '../../domain/metrics.ts';
import { type Bucket, bucketsInRange, type SmoothedCurve } from '../../runs/buckets.ts';
import { MAX_BUCKETS } from '../../runs/series.ts';
import { useLive } from './liveStore.ts';
import { type Axis, axisFor } from '../curves/axes.ts';
import { updateAxis } from './chartClock.ts';
import { CHART_LINES } from '../curves/curves.ts';
import {
  type Chart,
  type Flag,
  labelHeights,
  LINE_END_GAP,
  type PlacedBaseline,
  type Plot,
  updateTicks,
  VALUE_GAP,
  yPixel,
} from '../curves/plot.ts';
import { shortNumber } from '../words/numberText.ts';
import { textWidth } from '../browser/textWidth.ts';
import { traceOf, type Baseline, baselinesOf } from './traces.ts';
import { useChartView } from '../curves/view.ts';
import type { XRange } from '../curves/xRange.ts';

type ChartSettings = Pick<ReturnType<typeof useChartView.getState>, 'visibleRange' | 'smoothing' | 'log'>;

/** Everything that a chart of the live run shows. The crosshair reads the same numbers, so both always agree. */
export interface ChartFrame extends Chart {
  readonly viewSettings: ChartSettings;
  readonly thinned: boolean; // some positions hold several updates
  readonly zoomed: boolean;
  readonly note: string; // why the scale isn't the chosen one; '' if it is
  readonly traces: readonly SmoothedCurve[]; // every point of each line
}

/** Space above the plot, px: half a line of text, for the highest value. */
export const TOP_MARGIN = 7;
/** Space to the right of the plot, px, unless something needs more. */
export const RIGHT_MARGIN = 6;
/** Height of the axis of updates below the plot, px: one line of text. */
export const X_AXIS_HEIGHT = 20;
/** Width of the axis of values, px, unless a value is wider. */
export const Y_AXIS_WIDTH = 42;
/** Largest font size of values and names, px: `--type-1`. */
const FONT_PX = 10.5;
const LABEL_GAP = 11; // line height of the baselines' names, px
const NAME_GAP = 8; // distance between the plot and the baselines' names, px
const MIN_WIDTH = 40; // px; a narrower chart isn't shown
const MIN_POSITIONS = 60; // positions that even a narrow chart has
const POSITION_WIDTH = 1.5; // px
const MIN_MARK_GAP = 16; // smallest distance between two marks, px

interface ChartRequest {
  readonly metric: MetricName;
  readonly width: number; // px
  readonly height: number; // px
}

/** Charts with two lines show shares; the second line isn't smoothed. */
export function frameOf({ metric, width, height }: ChartRequest, settings: ChartSettings): ChartFrame {
  const names = CHART_LINES[metric] ?? [metric];
  const { visibleRange, smoothing, log } = settings;
  const maxPositions = Math.min(MAX_BUCKETS, Math.max(MIN_POSITIONS, width / POSITION_WIDTH));
  const x = visibleRange ?? updateAxis();
  const traces = names.map((name, line) => traceOf(name, line === 0 ? smoothing : 0));
  const [main = [], second = []] = traces.map((trace) => bucketsInRange(trace, x.from, x.to, maxPositions));
  const thinned = main.some(({ count }) => count > 1);
  const baselines = baselinesOf(metric);
  const visibleBuckets = main.filter(({ first, last }) => last >= x.from && first <= x.to);
  const { axis, note } = axisFor(visibleBuckets, { shares: names.length > 1 || baselines.length > 0, log });
  const right = Math.max(baselineNamesWidth(baselines), lastTickOverhang(x)) + LINE_END_GAP;
  const plot: Plot = {
    width,
    height,
    left: valueAxisWidth(axis),
    right,
    top: TOP_MARGIN,
    bottom: X_AXIS_HEIGHT,
    x,
    y: axis,
  };
  const markGap = ((x.to - x.from) * MIN_MARK_GAP) / Math.max(1, width - plot.left - right);
  const updates = main.map(({ last }) => last);
  const means = meansOf(main);
  return {
    ...{ viewSettings: settings, plot, traces, thinned, note },
    zoomed: visibleRange !== null,
    valueTicks: axis.ticks.map((value) => ({ value, text: shortNumber(value) })),
    updateTicks: updateTicks(x).map((update) => ({ value: update, text: `${update}` })),
    gridLines: [axis.domain[0]],
    flags: marksOf(useLive.getState().flags, [x.from, x.to], markGap),
    bands: thinned ? [{ x: updates, low: main.map(({ min }) => min), high: main.map(({ max }) => max) }] : [],
    lines: [
      { cssClass: 'raw', x: updates, y: means },
      // without smoothing, a position would show only its last value
      { cssClass: 'smooth', x: updates, y: smoothing > 0 ? main.map(({ smooth }) => smooth) : means },
      ...(second.length > 0 ? [{ cssClass: 'held', x: second.map(({ last }) => last), y: meansOf(second) }] : []),
    ],
    baselines: placeBaselines(baselines, plot),
  };
}

/** `width` × `height` in px, data up to `version`, with the reader's settings. Null if there is nothing to show yet. */
export function useFrame(metric: MetricName, version: number, width: number, height: number): ChartFrame | null {
  const visibleRange = useChartView((s) => s.visibleRange);
  const smoothing = useChartView((s) => s.smoothing);
  const log = useChartView((s) => s.log);
  const frame = useMemo(() => {
    // the series grow in place, so only the version shows that they changed
    if (version === 0 || width <= MIN_WIDTH) return null;
    return frameOf({ metric, width, height }, { visibleRange, smoothing, log });
  }, [metric, version, width, height, visibleRange, smoothing, log]);
  return useLive.getState().series.has(metric) ? frame : null;
}

const meansOf = (buckets: readonly Bucket[]) => buckets.map(({ sum, count }) => sum / count);

/** Width that the values of an axis need, px. */
function valueAxisWidth({ ticks }: Axis): number {
  return Math.max(Y_AXIS_WIDTH, ...ticks.map((tick) => VALUE_GAP + Math.ceil(textWidth(shortNumber(tick), FONT_PX))));
}

/** Space for the half of the last update's number that sticks out to the right of the plot, px. */
function lastTickOverhang(x: XRange): number {
  return Math.ceil(textWidth(`${updateTicks(x).at(-1) ?? ''}`, FONT_PX) / 2) - LINE_END_GAP;
}

/** Space for the names of baselines beside a plot, px; the plot's margin if there are none. */
function baselineNamesWidth(baselines: readonly Baseline[]): number {
  const widest = Math.max(0, ...baselines.map(({ label }) => Math.ceil(textWidth(label, FONT_PX))));
  return RIGHT_MARGIN + (widest > 0 ? NAME_GAP + widest : 0);
}

/** Each name is at the height of its line if possible, and far enough from the next. */
function placeBaselines(baselines: readonly Baseline[], plot: Plot): readonly PlacedBaseline[] {
  const lines = baselines.map(({ share }) => yPixel(plot, share));
  const middle = LABEL_GAP / 3; // from the baseline of a name to its middle, px
  const heights = labelHeights(
    lines.map((line) => line + middle),
    LABEL_GAP,
    plot.top + 2 * middle,
    plot.height - plot.bottom + middle,
  );
  const x = plot.width - plot.right + LINE_END_GAP + NAME_GAP;
  return baselines.map(({ label }, i) => ({ text: label, x, y: heights[i] ?? 0, line: lines[i] ?? 0 }));
}

/**
 * Marks for the changes in view. The changes are in the order of their updates. Changes less than `gap` updates after a
 * mark share that mark. The text of a mark has their numbers in the list of changes, counted from 1: "3", "3–5".
 */
export function marksOf(
  changes: readonly { readonly update: number }[],
  [from, to]: readonly [number, number],
  gap: number,
): readonly Flag[] {
  const marks: { update: number; first: number; last: number }[] = [];
  changes.forEach(({ update }, i) => {
    if (update < from || update > to) return;
    const lastMark = marks.at(-1);
    if (lastMark && update - lastMark.update < gap) lastMark.last = i + 1;
    else marks.push({ update, first: i + 1, last: i + 1 });
  });
  return marks.map(({ update, first, last }) => ({ update, text: first === last ? `${first}` : `${first}–${last}` }));
}
