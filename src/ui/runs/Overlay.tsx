import { useId, useRef, useState } from 'react';
import { metricWords } from '../../domain/evaluationSet.ts';
import { ChartSurface } from '../curves/ChartSurface.tsx';
import { ticksOf } from '../curves/frame.ts';
import type { Ground } from '../curves/gestures.ts';
import { readAt } from '../curves/curveValue.ts';
import { useView } from '../curves/view.ts';
import { ViewControls } from '../curves/ViewControls.tsx';
import { short } from '../parts/numberText.ts';
import { useSize } from '../parts/useSize.ts';
import { shownText } from '../run/metricText.ts';
import { Band, Course, nameOf } from './Course.tsx';
import { courseOf, seedGroups } from './courses.ts';
import type { Line } from './line.ts';
import { OverlayExport } from './OverlayExport.tsx';
import { endOf, HEIGHT, labelPlaces, newestOf, PAD, placeOf, scaleOf } from './curvePlacement.ts';
import type { Run } from '../../runs/run.ts';
import { lastOf, type KeptMetric } from './keptRun.ts';
import { comparable, useRuns } from './runStore.ts';

interface Props {
  readonly metric: KeptMetric;
  readonly lines: readonly Line[];
  readonly all: readonly Run[]; // the axes cover all runs, so they stay the same when one is shown or hidden
}

const GROUND: Ground = {
  plot: '.overlay-plot',
  end: () => endOf(comparable(useRuns.getState())),
  newest: () => newestOf(comparable(useRuns.getState())),
  pad: { left: PAD.left, right: PAD.right, bottom: PAD.bottom },
};

/** A chart of one metric of several runs, with the crosshair and zoom of the lab's charts. Runs that differ only in their seed can be drawn as one band. */
export function Overlay({ metric, lines, all }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const [banded, setBanded] = useState(false);
  const smoothing = useView((s) => s.smoothing);
  const groups = seedGroups(lines);
  const { label, unit } = metricWords(metric, ...lines.map(({ run }) => run.begun));
  const words = (update: number) => readings(lines, metric, smoothing, update).join(', ');
  return (
    <div className="overlay" ref={box}>
      <div className="row">
        <ViewControls />
        {groups.length > 0 && (
          <label className="line small">
            <input type="checkbox" checked={banded} onChange={(event) => setBanded(event.target.checked)} />
            Band over seeds: mean, lowest to highest
          </label>
        )}
      </div>
      <ChartSurface className="" label="the compared runs" words={words} ground={GROUND}>
        {width > 100 && <Plot {...{ metric, lines, all, width }} bands={banded ? groups : []} />}
      </ChartSurface>
      <Readout {...{ metric, lines }} text={`${label}${unit === '' ? '' : `, ${unit}`}`} />
      <OverlayExport chart={box} metric={metric} lines={lines} />
    </div>
  );
}

interface PlotProps extends Props {
  readonly width: number; // px
  readonly bands: ReturnType<typeof seedGroups>;
}

function Plot({ metric, lines, all, width, bands }: PlotProps) {
  const id = useId();
  const { range, chosen, at, smoothing, log } = useView();
  const inView = range ?? { from: 0, to: endOf(all) };
  const { axis, note } = scaleOf(metric, all, log);
  const place = placeOf(width, inView, axis);
  const { x, y } = place;
  const drawn = lines.flatMap((line) => {
    const course = courseOf(line.run, metric, smoothing);
    return course ? [{ ...line, course, end: readAt(course, inView.to) }] : [];
  });
  const inBand = new Set(bands.flatMap(({ lines: own }) => own.map(({ run }) => run)));
  const ends = labelPlaces(drawn.map(({ end }) => y(end?.smooth ?? axis.domain[0])));
  const description = lines.map(({ run }) => sentence(run, metric)).join(' ');
  const floor = HEIGHT - PAD.bottom;
  return (
    <div
      className="overlay-plot"
      role="img"
      aria-label={`${metricWords(metric, ...lines.map(({ run }) => run.begun)).label}. ${description}`}
    >
      <svg width={width} height={HEIGHT}>
        <clipPath id={id}>
          <rect x={PAD.left} y={0} width={Math.max(0, place.right - PAD.left)} height={HEIGHT} />
        </clipPath>
        {axis.ticks.map((value) => (
          <g key={value} className="tick">
            <path d={`M${PAD.left} ${y(value)}H${place.right}`} />
            <text x={PAD.left - 6} y={y(value) + 4} textAnchor="end">
              {short(value)}
            </text>
          </g>
        ))}
        {ticksOf(inView).map((update, i, ticks) => (
          <text key={update} className="tick-x" x={x(update)} y={HEIGHT - 8} textAnchor="middle">
            {i === ticks.length - 1 ? `update ${update}` : update}
          </text>
        ))}
        {bands.map((group) => (
          <Band key={group.slot} {...{ group, metric, place }} clip={id} />
        ))}
        {drawn.map(({ run, slot, course, end }, i) => (
          <Course
            key={run.id}
            {...{ run, slot, course, place, end }}
            clip={id}
            label={ends[i] ?? 0}
            inBand={inBand.has(run)}
          />
        ))}
        {chosen && (
          <rect
            className="chosen"
            x={x(chosen.from)}
            y={PAD.top}
            width={x(chosen.to) - x(chosen.from)}
            height={floor - PAD.top}
          />
        )}
        {at !== null && at >= inView.from && at <= inView.to && (
          <path className="crosshair" data-at={at} d={`M${x(at)} ${PAD.top}V${floor}`} />
        )}
      </svg>
      {note && <span className="cut chart-note">{note}</span>}
    </div>
  );
}

function Readout({ metric, lines, text }: Omit<Props, 'all'> & { readonly text: string }) {
  const at = useView((s) => s.at);
  const smoothing = useView((s) => s.smoothing);
  return (
    <p className="overlay-readout faint">
      {at === null
        ? `${text}. Faint line: each update. Bold line: smoothed.`
        : `update ${at}: ${readings(lines, metric, smoothing, at).join(' · ')}`}
    </p>
  );
}

/** The name of each run and its smoothed value at an update. */
function readings(lines: readonly Line[], metric: KeptMetric, weight: number, update: number): readonly string[] {
  return lines.map(({ run }) => {
    const course = courseOf(run, metric, weight);
    return `${nameOf(run)} ${shownText(metric, course ? readAt(course, update)?.smooth : undefined)}`;
  });
}

function sentence(run: Run, metric: KeptMetric): string {
  const smooth = run.series.get(metric)?.drawn.smooth;
  return `Run ${nameOf(run)}: ${smooth ? `from ${shownText(metric, smooth[0])} to ${shownText(metric, lastOf(run, metric))} in ${run.update} updates` : 'not measured'}.`;
}
