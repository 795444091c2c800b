import { textWidth } from '../parts/textWidth.ts';
import { labelHeights, type Plot } from './plot.ts';

/** Where a curve ends, and its name. */
export interface CurveEnd {
  readonly name: string;
  readonly x: number; // px from the left
  readonly y: number; // px from the top
}

/** A curve's name beside the plot, and the line that leads to it from the curve's end. */
export interface EndLabel {
  readonly text: string; // the name, cut if the margin is too narrow
  readonly x: number; // px
  readonly y: number; // baseline of the text, px
  readonly leaderPath: string; // SVG path of the line to the name
}

const FONT_PX = 10.5; // px of `--type-1`
const BOLD_FACTOR = 1.08; // bold text is this much wider than `textWidth` measures
const LINE_HEIGHT = 15; // distance between two names, px
const NAME_GAP = 16; // distance between the plot and a name, px
const MAX_SHARE = 0.36; // largest part of a chart's width that names may take

/** Width of the space beside the plot for the names of curves, px. */
export function nameMarginWidth(names: readonly string[], width: number): number {
  const widest = Math.max(0, ...names.map((name) => widthOf(name)));
  return Math.min(Math.ceil(NAME_GAP + widest + 4), Math.floor(width * MAX_SHARE));
}

/** Places the names of curves beside a plot: each as close to its curve's end as possible, but not overlapping. */
export function endLabels(ends: readonly CurveEnd[], plot: Plot): readonly EndLabel[] {
  const x = plot.width - plot.right + NAME_GAP;
  const heights = labelHeights(
    ends.map(({ y }) => y),
    LINE_HEIGHT,
    LINE_HEIGHT / 2,
    plot.height - plot.bottom,
  );
  return ends.map((end, i) => {
    const y = heights[i] ?? end.y;
    return {
      text: truncated(end.name, plot.right - NAME_GAP),
      x,
      y: y + FONT_PX / 3,
      leaderPath: `M${end.x.toFixed(1)} ${end.y.toFixed(1)}L${x - 3} ${y.toFixed(1)}`,
    };
  });
}

function widthOf(name: string): number {
  return textWidth(name, FONT_PX) * BOLD_FACTOR;
}

function truncated(name: string, width: number): string {
  if (widthOf(name) <= width) return name;
  let length = name.length - 1;
  while (length > 1 && widthOf(`${name.slice(0, length)}…`) > width) length--;
  return `${name.slice(0, length).trimEnd()}…`;
}
