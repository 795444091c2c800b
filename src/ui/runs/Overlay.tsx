import { useRef, useState } from 'react';
import { metricWords } from '../../domain/evaluated.ts';
import { short } from '../parts/format.ts';
import { useSize } from '../parts/useSize.ts';
import { shownText } from '../run/shown.ts';
import { DASHES, type Line } from './line.ts';
import { OverlayExport } from './OverlayExport.tsx';
import type { Run } from '../../runs/run.ts';
import { lastOf, type KeptMetric } from './keptRun.ts';

interface Props {
  readonly metric: KeptMetric;
  readonly lines: readonly Line[];
  readonly all: readonly Run[]; // the axes hold for all runs: drawing one never bends another
}

const HEIGHT = 300;
const PAD = { left: 46, right: 44, top: 12, bottom: 26 };

/** One metric of several runs: each update faint, the smoothed course over it, told apart by hue, dash and a label at the end. */
export function Overlay({ metric, lines, all }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const [at, setAt] = useState<number | null>(null);
  const { low, high, end } = axesOf(metric, all);
  const x = (update: number) => PAD.left + (update / end) * (width - PAD.left - PAD.right);
  const y = (value: number) => PAD.top + ((high - value) / (high - low)) * (HEIGHT - PAD.top - PAD.bottom);
  const ends = labelPlaces(lines.map(({ run }) => y(run.series.get(metric)?.smooth ?? low)));
  const { label, unit } = metricWords(metric, ...lines.map(({ run }) => run.begun));
  return (
    <div className="overlay" ref={box}>
      {width > 100 && (
        <svg
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={`${label}. ${lines.map(({ run }) => sentence(run, metric)).join(' ')}`}
          onPointerMove={(event) => {
            const share = (event.nativeEvent.offsetX - PAD.left) / (width - PAD.left - PAD.right);
            setAt(share >= 0 && share <= 1 ? Math.round(share * end) : null);
          }}
          onPointerLeave={() => setAt(null)}
        >
          {[low, (low + high) / 2, high].map((value) => (
            <g key={value} className="tick">
              <path d={`M${PAD.left} ${y(value)}H${width - PAD.right}`} />
              <text x={PAD.left - 6} y={y(value) + 4} textAnchor="end">
                {short(value)}
              </text>
            </g>
          ))}
          {[0, end / 2, end].map((update) => (
            <text key={update} className="tick-x" x={x(update)} y={HEIGHT - 8} textAnchor="middle">
              {update === end ? `update ${end}` : update}
            </text>
          ))}
          {lines.map((line, i) => (
            <Course key={line.run.id} {...{ ...line, metric, x, y }} label={ends[i] ?? 0} />
          ))}
          {at !== null && <path className="crosshair" d={`M${x(at)} ${PAD.top}V${HEIGHT - PAD.bottom}`} />}
        </svg>
      )}
      <p className="overlay-readout faint">
        {at === null
          ? `${label}${unit === '' ? '' : `, ${unit}`}: each update faint, smoothed over it.`
          : `update ${at}: ${lines.map(({ run }) => `#${run.id} ${shownText(metric, valueAt(run, metric, at))}`).join(' · ')}`}
      </p>
      <OverlayExport chart={box} metric={metric} lines={lines} />
    </div>
  );
}

interface CourseProps extends Line {
  readonly metric: KeptMetric;
  readonly x: (update: number) => number;
  readonly y: (value: number) => number;
  readonly label: number; // height of its name
}

/** One run: each update faint, its smoothed course, its number at the end. */
function Course({ run, slot, metric, x, y, label }: CourseProps) {
  const curve = run.series.get(metric)?.drawn;
  if (!curve) return null;
  const path = (ys: readonly number[]) =>
    curve.x.map((u, i) => `${i === 0 ? 'M' : 'L'}${x(u).toFixed(1)} ${y(ys[i] ?? 0).toFixed(1)}`).join('');
  const stroke = { stroke: `var(--run-${slot})` };
  return (
    <g data-run={run.id}>
      <path className="run-raw" d={path(curve.mean)} style={stroke} />
      <path className="run-line" d={path(curve.smooth)} style={stroke} strokeDasharray={DASHES[slot]} />
      <text className="run-end" x={x(curve.x.at(-1) ?? 0) + 6} y={label + 4} style={{ fill: `var(--run-${slot})` }}>
        #{run.id}
      </text>
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

/** Round axes that hold every kept run. */
function axesOf(metric: KeptMetric, runs: readonly Run[]) {
  const values = runs.flatMap(({ series }) => series.get(metric)?.drawn.mean ?? []);
  const share = metric === 'rollout/success' || metric === 'eval/success';
  const low = share ? 0 : Math.min(0, ...values);
  const high = share ? 1 : Math.max(...values, low + 1e-9);
  const last = Math.max(10, ...runs.map(({ update }) => update));
  const decade = 10 ** Math.floor(Math.log10(last));
  const end = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].map((step) => step * decade).find((step) => step >= last) ?? last;
  return { low, high: share ? 1 : high + 0.05 * (high - low), end };
}

/** Moves labels that would lie on each other apart, downwards. */
function labelPlaces(wanted: readonly number[]): readonly number[] {
  const order = wanted.map((y, i) => ({ y, i })).sort((a, b) => a.y - b.y);
  const places = [...wanted];
  let last = -Infinity;
  for (const { y, i } of order) places[i] = last = Math.max(y, last + 13);
  return places;
}

function valueAt({ series }: Run, metric: KeptMetric, update: number): number | undefined {
  const curve = series.get(metric)?.drawn;
  const i = curve?.x.findIndex((x) => x >= update) ?? -1;
  return curve?.smooth[i];
}

function sentence(run: Run, metric: KeptMetric): string {
  const smooth = run.series.get(metric)?.drawn.smooth;
  return `Run ${run.id}: ${smooth ? `from ${shownText(metric, smooth[0])} to ${shownText(metric, lastOf(run, metric))} in ${run.update} updates` : 'not measured'}.`;
}
