import type { Trace } from '../../runs/buckets.ts';
import type { Run } from '../../runs/run.ts';
import type { ReadAt } from '../curves/curveValue.ts';
import { useView } from '../curves/view.ts';
import type { KeptMetric } from './keptRun.ts';
import { bandOf, courseOf, type SeedGroup } from './courses.ts';
import { DASHES, type Line } from './line.ts';
import { PAD, type Place } from './curvePlacement.ts';

interface CourseProps extends Line {
  readonly course: Trace;
  readonly place: Place;
  readonly end: ReadAt | undefined; // the last that is in view
  readonly label: number; // height of its name
  readonly clip: string; // id of what is in view
  readonly inBand: boolean; // its group is drawn: it stands back
}

/** One run: each update faint, its smoothed course, its name at the end. */
export function Course({ run, slot, course, place: { x, y, right }, end, label, clip, inBand }: CourseProps) {
  const path = (ys: ArrayLike<number>) =>
    Array.from(course.x, (u, i) => `${i === 0 ? 'M' : 'L'}${x(u).toFixed(1)} ${y(ys[i] ?? 0).toFixed(1)}`).join('');
  const stroke = { stroke: `var(--run-${slot})` };
  return (
    <g data-run={run.id} data-in-band={inBand}>
      <g clipPath={`url(#${clip})`}>
        {!inBand && <path className="run-raw" d={path(course.y)} style={stroke} />}
        <path className="run-line" d={path(course.smooth)} style={stroke} strokeDasharray={DASHES[slot]} />
      </g>
      <text
        className="run-end"
        // a label is longer than the margin: it ends at the picture's edge, above its curve's end
        {...(run.arm === undefined
          ? { x: Math.min(right, x(end?.update ?? 0)) + 6, y: label + 4 }
          : { x: right + PAD.right - 2, y: label - 6, textAnchor: 'end' })}
        style={{ fill: `var(--run-${slot})` }}
      >
        {nameOf(run)}
      </text>
    </g>
  );
}

/** A run among others: its label as an arm of a comparison, else its number, or that it is not finished. */
export function nameOf({ id, arm }: Pick<Run, 'id' | 'arm'>): string {
  return arm ?? (id === 0 ? '…' : `#${id}`);
}

interface BandProps {
  readonly group: SeedGroup;
  readonly metric: KeptMetric;
  readonly place: Place;
  readonly clip: string;
}

/** Runs that differ in their seed alone: their mean, and the room from the lowest to the highest. */
export function Band({ group: { slot, lines }, metric, place: { x, y }, clip }: BandProps) {
  const smoothing = useView((s) => s.smoothing);
  const band = bandOf(lines.flatMap(({ run }) => courseOf(run, metric, smoothing) ?? []));
  if (band.length === 0) return null;
  const at = (update: number, value: number) => `${x(update).toFixed(1)} ${y(value).toFixed(1)}`;
  const upper = band.map(({ update, high }) => at(update, high));
  const lower = band.toReversed().map(({ update, low }) => at(update, low));
  const colour = `var(--run-${slot})`;
  return (
    <g className="seed-band" clipPath={`url(#${clip})`} data-seeds={lines.length}>
      <path d={`M${[...upper, ...lower].join('L')}Z`} style={{ fill: colour }} fillOpacity={0.18} />
      <path
        className="run-line"
        d={`M${band.map(({ update, mean }) => at(update, mean)).join('L')}`}
        style={{ stroke: colour }}
        strokeWidth={3}
      />
    </g>
  );
}

/** The swatch of a line: its hue and dash. */
export function Swatch({ slot }: { readonly slot: number }) {
  return (
    <svg className="run-swatch" width="26" height="10" aria-hidden="true">
      <path className="run-line" d="M1 5H25" style={{ stroke: `var(--run-${slot})` }} strokeDasharray={DASHES[slot]} />
    </svg>
  );
}
