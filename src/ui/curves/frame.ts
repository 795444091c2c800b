import type { MetricName } from '../../domain/metrics.ts';
import { type Bucket, bucketsBetween, type Trace } from '../../runs/buckets.ts';
import { MAX_BUCKETS } from '../../runs/series.ts';
import { live } from '../run/liveStore.ts';
import { type Axis, linearAxis, logAxis, SHARES } from './axes.ts';
import { type Baseline, baselinesOf, labelHeights } from './baselineLines.ts';
import { lastUpdate } from './chartClock.ts';
import { short } from '../parts/numberText.ts';
import { textWidth } from '../parts/textWidth.ts';
import { traceOf } from './traces.ts';
import type { useView } from './view.ts';
import type { XRange } from './xRange.ts';

/** A position of a chart, as Recharts takes it. */
export interface Row {
  readonly x: number;
  readonly raw?: number;
  readonly band?: readonly [number, number];
  readonly smooth?: number;
  readonly held?: number;
}

/** How the reader looks at a chart. */
type Looked = Pick<ReturnType<typeof useView.getState>, 'range' | 'smoothing' | 'log'>;

/** All that a chart shows, and where: what is drawn and what is read off it come from the same numbers. */
export interface Frame {
  readonly id: string; // no other chart's
  readonly looked: Looked;
  readonly width: number; // px
  readonly height: number; // px
  readonly side: number; // room for the values left of the plot, px
  readonly right: number; // room right of the plot, px
  readonly rows: readonly Row[];
  readonly thinned: boolean; // some positions hold several updates
  readonly zoomed: boolean;
  readonly x: XRange;
  readonly y: Axis;
  readonly note: string; // why the scale is not what was asked for; ''
  readonly baselines: readonly Baseline[];
  readonly marks: readonly Mark[];
  readonly traces: readonly Trace[]; // of each line, every point
}

/** Room around the plot, px. */
export const MARGIN = { top: 7, right: 6, bottom: 0, left: 0 }; // at the top half a line of the highest value
/** Height of the updates below the plot, px: a line of any usual font. */
export const AXIS = 20;
/** Width of the values beside it, px, where none is wider. */
export const SIDE = 42;
/** From values to the plot, px. */
export const VALUE_GAP = 8;
/** Size of the type of values and names at most, px: `--type-1`. */
const TYPE = 10.5;
/** Room behind the newest update, px. */
export const BEHIND = 4;
const LABEL_GAP = 11; // a line of the type of baselines' names, px
const LEAD = 8; // from the plot to them, px
const FEWEST = 60; // positions at most, in a chart too narrow for more
const PX = 1.5; // of a position
const MARK_PX = 16; // from one mark to the next, at least

interface Asked {
  readonly id: string;
  readonly metric: MetricName;
  readonly names: readonly MetricName[]; // its lines; the second is drawn as it was measured
  readonly width: number; // px
  readonly height: number; // px
  readonly version: number; // of what is drawn: the series grow in place
}

/** What a chart of a metric shows of the live run now. Charts of two lines are of shares. */
export function frameOf({ id, metric, names, width, height }: Asked, { range, smoothing, log }: Looked): Frame {
  const most = Math.min(MAX_BUCKETS, Math.max(FEWEST, width / PX));
  const x = range ?? { from: 0, to: lastUpdate() };
  const traces = names.map((name, line) => traceOf(name, line === 0 ? smoothing : 0));
  const [main = [], held = []] = traces.map((trace) => bucketsBetween(trace, x.from, x.to, most));
  const thinned = main.some(({ count }) => count > 1);
  const rows: Row[] = main.map((b) => {
    const mean = b.sum / b.count;
    // without smoothing a position's last value would stand for all of its values
    return { x: b.last, raw: mean, smooth: smoothing > 0 ? b.smooth : mean, ...(thinned && { band: [b.min, b.max] }) };
  });
  for (const b of held) rows.push({ x: b.last, held: b.sum / b.count });
  if (held.length > 0) rows.sort((a, b) => a.x - b.x);
  const baselines = baselinesOf(metric);
  const inView = main.filter(({ first, last }) => last >= x.from && first <= x.to);
  const { axis, note } = axisOf(inView, names.length > 1 || baselines.length > 0, log);
  const right = Math.max(roomFor(baselines), roomForUpdates(x));
  const side = roomForValues(axis);
  const gap = ((x.to - x.from) * MARK_PX) / Math.max(1, width - side - right - BEHIND);
  return {
    ...{ id, looked: { range, smoothing, log } },
    ...{ width, height, side, right, rows, thinned, zoomed: range !== null, x, y: axis, note, baselines, traces },
    marks: marksOf(live.flags, [x.from, x.to], gap),
  };
}

function axisOf(inView: readonly Bucket[], shares: boolean, log: boolean): { axis: Axis; note: string } {
  if (shares) return { axis: SHARES, note: log ? 'linear: a share, from 0 to 1' : '' };
  const wanted = log ? logAxis(inView) : linearAxis(inView);
  return typeof wanted === 'string' ? { axis: linearAxis(inView), note: wanted } : { axis: wanted, note: '' };
}

/** Whole updates at both ends and in the middle. */
export function ticksOf({ from, to }: XRange): number[] {
  return [...new Set([Math.ceil(from), Math.round((from + to) / 2), Math.floor(to)])];
}

/** Where an update lies across a chart, px. */
export function across(
  { x, width, side, right }: Pick<Frame, 'x' | 'width' | 'side' | 'right'>,
  update: number,
): number {
  return side + ((update - x.from) / (x.to - x.from)) * (width - side - right - BEHIND);
}

/** Where a value lies down a chart, px from its top. */
export function down({ y: { domain, log }, height }: Pick<Frame, 'y' | 'height'>, value: number): number {
  const scaled = log ? Math.log10 : Number;
  const [low, high] = [scaled(domain[0]), scaled(domain[1])];
  return MARGIN.top + ((high - scaled(value)) / (high - low)) * (height - AXIS - MARGIN.top);
}

/** Room for the values of an axis, px. */
function roomForValues({ ticks }: Axis): number {
  return Math.max(SIDE, ...ticks.map((tick) => VALUE_GAP + Math.ceil(textWidth(short(tick), TYPE))));
}

/** Room for the half of the last update's number that stands right of the plot, px. */
function roomForUpdates(x: XRange): number {
  return Math.ceil(textWidth(`${ticksOf(x).at(-1) ?? ''}`, TYPE) / 2) - BEHIND;
}

/** Room for the names of baselines beside a plot, px; its margin if there are none. */
function roomFor(baselines: readonly Baseline[]): number {
  const widest = Math.max(0, ...baselines.map(({ label }) => Math.ceil(textWidth(label, TYPE))));
  return MARGIN.right + (widest > 0 ? LEAD + widest : 0);
}

/** A baseline's name beside the plot, where it covers no curve. */
export interface BaselineName {
  readonly text: string;
  readonly x: number; // px from the left
  readonly y: number; // px from the top
  readonly line: number; // height of what it names, px from the top
}

/** The names of lines between 0 and 1: each level with its line where it can be, and apart from the next. */
export function baselineNames({ baselines, width, height, right }: Frame): readonly BaselineName[] {
  const plot = height - AXIS - MARGIN.top;
  const lines = baselines.map(({ share }) => MARGIN.top + (1 - share) * plot);
  const middle = LABEL_GAP / 3; // of its letters
  const heights = labelHeights(
    lines.map((line) => line + middle),
    LABEL_GAP,
    MARGIN.top + 2 * middle,
    MARGIN.top + plot + middle,
  );
  const x = width - right + LEAD;
  return baselines.map(({ label }, i) => ({ text: label, x, y: heights[i] ?? 0, line: lines[i] ?? 0 }));
}

/** Changes of knobs that share a mark on a chart, as they lie too close for one each. */
interface Mark {
  readonly update: number; // of the first
  readonly text: string; // which they are in the list of changes, counted from 1: "3", "3–5"
}

/** Marks of changes at these updates, which rise, those in view alone, none closer than `gap` updates to the one before. */
export function marksOf(
  changes: readonly { readonly update: number }[],
  [from, to]: readonly [number, number],
  gap: number,
): readonly Mark[] {
  const marks: { update: number; first: number; last: number }[] = [];
  changes.forEach(({ update }, i) => {
    if (update < from || update > to) return;
    const open = marks.at(-1);
    if (open && update - open.update < gap) open.last = i + 1;
    else marks.push({ update, first: i + 1, last: i + 1 });
  });
  return marks.map(({ update, first, last }) => ({ update, text: first === last ? `${first}` : `${first}–${last}` }));
}
