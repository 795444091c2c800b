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
  readonly text: string; // the name, cut where the margin is too narrow
  readonly x: number; // px
  readonly y: number; // of the baseline of its letters, px
  readonly lead: string; // path of an SVG
}

const TYPE = 10.5; // px of `--type-1`
const BOLD = 1.08; // bold letters are wider than those that textWidth measures
const LINE = 15; // from one name to the next, px
const LEAD = 16; // from the plot to a name, px
const MOST = 0.36; // of a chart's width at most

/** Room beside the plot for the names of curves, px. */
export function roomForNames(names: readonly string[], width: number): number {
  const widest = Math.max(0, ...names.map((name) => widthOf(name)));
  return Math.min(Math.ceil(LEAD + widest + 4), Math.floor(width * MOST));
}

/** Names of curves beside a plot, a line or more apart, each as near to its curve's end as that allows. */
export function endLabels(ends: readonly CurveEnd[], plot: Plot): readonly EndLabel[] {
  const x = plot.width - plot.right + LEAD;
  const heights = labelHeights(
    ends.map(({ y }) => y),
    LINE,
    LINE / 2,
    plot.height - plot.bottom,
  );
  return ends.map((end, i) => {
    const y = heights[i] ?? end.y;
    return {
      text: cutTo(end.name, plot.right - LEAD),
      x,
      y: y + TYPE / 3,
      lead: `M${end.x.toFixed(1)} ${end.y.toFixed(1)}L${x - 3} ${y.toFixed(1)}`,
    };
  });
}

function widthOf(name: string): number {
  return textWidth(name, TYPE) * BOLD;
}

function cutTo(name: string, room: number): string {
  if (widthOf(name) <= room) return name;
  let letters = name.length - 1;
  while (letters > 1 && widthOf(`${name.slice(0, letters)}…`) > room) letters--;
  return `${name.slice(0, letters).trimEnd()}…`;
}
