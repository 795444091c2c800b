import type { Axis } from './axes.ts';
import type { XRange } from './xRange.ts';

export interface Plot {
  readonly width: number; // px
  readonly height: number; // px
  readonly left: number; // the four margins around the lines, px
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly x: XRange;
  readonly y: Pick<Axis, 'domain' | 'log'>;
}

/** Horizontal position of an update, px from the chart's left edge. */
export function xPixel({ x, width, left, right }: Plot, update: number): number {
  return left + ((update - x.from) / (x.to - x.from)) * (width - left - right);
}

/** The update at a horizontal position, px from the chart's left edge. */
export function updateAt({ x, width, left, right }: Plot, px: number): number {
  return x.from + ((px - left) / Math.max(1, width - left - right)) * (x.to - x.from);
}

/** Vertical position of a value, px from the chart's top. On a logarithmic scale, values of 0 and below lie far under the plot. */
export function yPixel({ y: { domain, log }, height, top, bottom }: Plot, value: number): number {
  const scaledValue = (rawValue: number) => (log ? Math.log10(Math.max(rawValue, Number.MIN_VALUE)) : rawValue);
  const [low, high] = [scaledValue(domain[0]), scaledValue(domain[1])];
  return top + ((high - scaledValue(value)) / (high - low)) * (height - top - bottom);
}

/** SVG path of points joined by straight lines. Leaves out values that aren't finite. Empty if no point is left. */
export function linePath(plot: Plot, x: ArrayLike<number>, y: ArrayLike<number>): string {
  const points = pointsOf(plot, x, y);
  return points.length > 0 ? `M${points.join('L')}` : '';
}

/** SVG path of the area between two lines; empty if there is none. */
export function bandPath(plot: Plot, x: ArrayLike<number>, low: ArrayLike<number>, high: ArrayLike<number>): string {
  const edge = [...pointsOf(plot, x, high), ...pointsOf(plot, x, low).toReversed()];
  return edge.length > 0 ? `M${edge.join('L')}Z` : '';
}

export function verticalLine(plot: Plot, update: number): string {
  return `M${xPixel(plot, update).toFixed(1)} ${plot.top}V${plot.height - plot.bottom}`;
}

function pointsOf(plot: Plot, x: ArrayLike<number>, y: ArrayLike<number>): readonly string[] {
  const points: string[] = [];
  for (let i = 0; i < x.length; i++) {
    const value = y[i]!;
    if (Number.isFinite(value)) points.push(`${xPixel(plot, x[i]!).toFixed(1)} ${yPixel(plot, value).toFixed(1)}`);
  }
  return points;
}

/** Whole updates at both ends and in the middle. */
export function updateTicks({ from, to }: XRange): number[] {
  return [...new Set([Math.ceil(from), Math.round((from + to) / 2), Math.floor(to)])];
}

/** The edges of a plot as attributes of its element, where gestures read them. */
export function edgeAttributes({ left, right, bottom }: Plot) {
  return { 'data-left': left, 'data-right': right, 'data-bottom': bottom };
}

/** Label positions, px from the top: at the line if possible, `gap` apart at least, and within `top` … `bottom` if all labels fit. */
export function labelHeights(lines: readonly number[], gap: number, top: number, bottom: number): readonly number[] {
  const order = lines.map((line, i) => ({ line, i })).sort((a, b) => a.line - b.line);
  const heights = [...lines];
  let last = top - gap;
  for (const { line, i } of order) heights[i] = last = Math.max(line, last + gap);
  let limit = bottom;
  for (const { i } of order.toReversed()) {
    heights[i] = Math.min(heights[i]!, limit);
    limit -= gap;
  }
  return heights;
}

export interface Tick {
  readonly value: number; // update or value
  readonly text: string;
  readonly anchor?: 'start' | 'end'; // which end of the text is at this place; absent: its middle
}

export interface Line {
  readonly cssClass: string;
  readonly x: ArrayLike<number>; // ascending
  readonly y: ArrayLike<number>;
  readonly colour?: string; // absent: the colour of its CSS class
  readonly dash?: string | undefined;
  readonly run?: number; // index of the run that the curve belongs to
}

export interface Band {
  readonly x: ArrayLike<number>;
  readonly low: ArrayLike<number>;
  readonly high: ArrayLike<number>;
  readonly colour?: string;
}

/** A horizontal line to compare curves with, and its name beside the plot. */
export interface PlacedBaseline {
  readonly text: string;
  readonly x: number; // of the name, px from the left
  readonly y: number; // of the name, px from the top
  readonly line: number; // of the horizontal line, px from the top
}

export interface Flag {
  readonly update: number;
  readonly text: string;
}

export interface Chart {
  readonly plot: Plot;
  readonly valueTicks?: readonly Tick[];
  readonly updateTicks?: readonly Tick[];
  readonly gridLines?: readonly number[]; // values that have a horizontal line
  readonly flags?: readonly Flag[];
  readonly bands?: readonly Band[];
  readonly lines: readonly Line[]; // later ones lie over earlier ones
  readonly baselines?: readonly PlacedBaseline[];
}

/** Length by which horizontal lines stick out to the right of the plot, px. */
export const LINE_END_GAP = 4;
/** Gap between the values of the axis and the plot, px. */
export const VALUE_GAP = 8;
