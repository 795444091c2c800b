import { textWidth } from '../browser/textWidth.ts';
import { labelHeights, type Plot } from './plot.ts';

export interface CurveEnd {
  readonly name: string;
  readonly x: number; // px from the left
  readonly y: number; // px from the top
}

export interface EndLabel {
  readonly lines: readonly string[]; // the name in one line or two; cut if the margin is too narrow even then
  readonly x: number; // px
  readonly y: number; // baseline of the first line, px
  readonly leaderPath: string; // SVG path of the line to the name
}

const FONT_PX = 10.5; // px of `--type-1`
const FONT_WEIGHT = 650; // of `.run-end`
/** Height of a line of a name, px. */
export const LINE_HEIGHT = 13;
const LABEL_GAP = 2; // distance between two names, px
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
  const names = ends.map(({ name }) => linesOf(name, plot.right - NAME_GAP));
  const height = Math.max(1, ...names.map((lines) => lines.length)) * LINE_HEIGHT;
  const middles = labelHeights(
    ends.map(({ y }) => y),
    height + LABEL_GAP,
    (height + LABEL_GAP) / 2,
    plot.height - plot.bottom,
  );
  return ends.map((end, i) => {
    const lines = names[i] ?? [];
    const middle = middles[i] ?? end.y;
    return {
      lines,
      x,
      y: middle + FONT_PX / 3 - ((lines.length - 1) * LINE_HEIGHT) / 2,
      leaderPath: `M${end.x.toFixed(1)} ${end.y.toFixed(1)}L${x - 3} ${middle.toFixed(1)}`,
    };
  });
}

/** A name in one line if it fits `width` px, otherwise in two of which the second may be cut. */
function linesOf(name: string, width: number): readonly string[] {
  const words = name.split(' ');
  let count = words.length;
  while (count > 1 && widthOf(words.slice(0, count).join(' ')) > width) count--;
  const lines = [words.slice(0, count).join(' '), words.slice(count).join(' ')];
  return lines.filter((line) => line !== '').map((line) => truncated(line, width));
}

function widthOf(name: string): number {
  return textWidth(name, FONT_PX, FONT_WEIGHT);
}

function truncated(name: string, width: number): string {
  if (widthOf(name) <= width) return name;
  let length = name.length - 1;
  while (length > 1 && widthOf(`${name.slice(0, length)}…`) > width) length--;
  return `${name.slice(0, length).trimEnd()}…`;
}
