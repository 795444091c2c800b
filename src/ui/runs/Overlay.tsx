import { useRef, useState, type RefObject } from 'react';
import { metricWords } from '../../domain/evaluationSet.ts';
import { axisEnd } from '../curves/axes.ts';
import { ChartSurface } from '../curves/ChartSurface.tsx';
import { Crosshair } from '../curves/Crosshair.tsx';
import { endLabels, roomForNames } from '../curves/endLabels.ts';
import type { Ends } from '../curves/gestures.ts';
import { type Chart, LineChart } from '../curves/LineChart.tsx';
import { across, down, edgesOf, labelHeights, type Plot, ticksOf } from '../curves/plot.ts';
import { readAt } from '../curves/traces.ts';
import { useView } from '../curves/view.ts';
import { ViewControls } from '../curves/ViewControls.tsx';
import { short } from '../parts/numberText.ts';
import { useSize } from '../parts/useSize.ts';
import { shownText } from '../run/metricText.ts';
import { bandOf, courseOf, newestOf, scaleOf, seedGroups } from './courses.ts';
import { colourOf, type Line, linesOf, nameOf, DASHES } from './line.ts';
import type { Run } from '../../runs/run.ts';
import { lastOf, type KeptMetric, metricLabel } from './keptRun.ts';
import { comparable, useRuns } from './runStore.ts';
import { csvOfCurves, headOf } from '../export/curvesCsv.ts';
import { presetText, smoothingText } from '../export/caption.ts';
import { PictureButtons } from '../export/PictureButtons.tsx';
import '../styles/export.css';

interface Props {
  readonly metric: KeptMetric;
  readonly lines: readonly Line[];
  readonly all: readonly Run[]; // the axes cover all runs, so they stay the same when one is shown or hidden
}

const LAST_UPDATES: Ends = {
  axis: () => axisEnd(newestOf(comparable(useRuns.getState()))),
  curves: () => newestOf(comparable(useRuns.getState())),
};
const HEIGHT = 300; // px
const LABEL_GAP = 13; // px between two names
const MARGINS = { left: 46, right: 44, top: 18, bottom: 26 }; // px

/**
 * A chart of one metric of several runs, with the crosshair and zoom of the lab's charts. Runs that differ only in
 * their seed can be drawn as one band.
 */
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
      <ChartSurface className="" label="the compared runs" words={words} ends={LAST_UPDATES}>
        {width > 100 && <ComparisonChart {...{ metric, lines, all, width }} bands={banded ? groups : []} />}
      </ChartSurface>
      <Readout {...{ metric, lines }} text={`${label}${unit === '' ? '' : `, ${unit}`}`} />
      <OverlayExport chart={box} metric={metric} lines={lines} />
    </div>
  );
}

interface ComparedProps extends Props {
  readonly width: number; // px
  readonly bands: ReturnType<typeof seedGroups>;
}

function ComparisonChart({ metric, lines, all, width, bands }: ComparedProps) {
  const range = useView((s) => s.range);
  const smoothing = useView((s) => s.smoothing);
  const log = useView((s) => s.log);
  const x = range ?? { from: 0, to: axisEnd(newestOf(all)) };
  const { axis, note } = scaleOf(metric, all, log);
  const hasArms = lines.some(({ run }) => run.arm !== undefined);
  const names = lines.map(({ run }) => nameOf(run));
  const right = hasArms ? roomForNames(names, width) : MARGINS.right;
  const plot: Plot = { ...MARGINS, right, width, height: HEIGHT, x, y: axis };
  const drawn = lines.flatMap((line) => {
    const course = courseOf(line.run, metric, smoothing);
    return course ? [{ line, course, end: readAt(course, x.to) }] : [];
  });
  const inBand = new Set(bands.flatMap(({ lines: groupLines }) => groupLines.map(({ run }) => run)));
  const seeds = bands.map(({ slot, lines: groupLines }) => {
    const band = bandOf(groupLines.flatMap(({ run }) => courseOf(run, metric, smoothing) ?? []));
    return {
      x: band.map(({ update }) => update),
      low: band.map(({ low }) => low),
      mean: band.map(({ mean }) => mean),
      high: band.map(({ high }) => high),
      colour: colourOf(slot),
    };
  });
  const updates = ticksOf(x);
  const chart: Chart = {
    plot,
    values: axis.ticks.map((value) => ({ at: value, text: short(value) })),
    updates: updates.map((at, i) => ({ at, text: i === updates.length - 1 ? `update ${at}` : `${at}` })),
    rules: axis.ticks,
    bands: seeds,
    lines: [
      ...seeds.map((band) => ({ name: 'run-line seed-mean', x: band.x, y: band.mean, colour: band.colour })),
      ...drawn.flatMap(({ line, course }) => linesOf(line, course, inBand.has(line.run))),
    ],
  };
  const ends = drawn.map(({ line: { run }, end }) => ({
    name: nameOf(run),
    x: Math.max(plot.left, across(plot, Math.min(end?.update ?? 0, x.to))),
    y: down(plot, end?.smooth ?? axis.domain[0]),
  }));
  const ids = drawn.map(({ line }) => line.run.id);
  const colours = drawn.map(({ line }) => colourOf(line.slot));
  const heights = labelHeights(
    ends.map(({ y }) => y),
    LABEL_GAP,
    0,
    HEIGHT - MARGINS.bottom,
  );
  const description = lines.map(({ run }) => sentence(run, metric)).join(' ');
  return (
    <div
      className="plot"
      style={{ height: HEIGHT }}
      {...edgesOf(plot)}
      role="img"
      aria-label={`${metricWords(metric, ...lines.map(({ run }) => run.begun)).label}. ${description}`}
    >
      <LineChart chart={chart}>
        {hasArms
          ? endLabels(ends, plot).map(({ text, lead, ...place }, i) => (
              <g key={ids[i]}>
                <path className="run-lead" d={lead} style={{ stroke: colours[i] }} />
                <text className="run-end" {...place} style={{ fill: colours[i] }}>
                  {text}
                  {text !== ends[i]?.name && <title>{ends[i]?.name}</title>}
                </text>
              </g>
            ))
          : ends.map(({ name, x: end }, i) => (
              <text key={ids[i]} className="run-end" x={end + 6} y={(heights[i] ?? 0) + 4} style={{ fill: colours[i] }}>
                {name}
              </text>
            ))}
      </LineChart>
      <Crosshair plot={plot} traces={drawn.map(({ course }) => course)} colours={colours} />
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

/** Sentence on a metric's course in a run, for screen readers. */
function sentence(run: Run, metric: KeptMetric): string {
  const smooth = run.series.get(metric)?.drawn.smooth;
  return `Run ${nameOf(run)}: ${smooth ? `from ${shownText(metric, smooth[0])} to ${shownText(metric, lastOf(run, metric))} in ${run.update} updates` : 'not measured'}.`;
}

interface OverlayExportProps {
  readonly chart: RefObject<HTMLElement | null>;
  readonly metric: KeptMetric;
  readonly lines: readonly Line[];
}

/** Buttons that export the curves of the compared runs as a picture or as CSV. */
function OverlayExport({ chart, metric, lines }: OverlayExportProps) {
  const caption = () => ({
    title: metricLabel(
      metric,
      lines.map(({ run }) => run),
    ),
    notes: [
      ...lines.map(({ run }) => `${nameOf(run)}: ${presetText(run.begun)}; seed ${run.begun.seed}`),
      `metric ${metric}; ${smoothingText(useView.getState().smoothing)}`,
      'x: update',
    ],
    keys: lines.map(({ run, slot }) => ({
      label: `${nameOf({ id: run.id })} ${run.name}`,
      stroke: colourOf(slot),
      width: 2,
      dash: DASHES[slot] ?? '',
    })),
  });
  const csv = () =>
    csvOfCurves(
      lines.flatMap(({ run }) => {
        const curve = run.series.get(metric)?.drawn;
        return curve ? [{ title: `#${run.id} ${headOf(metric, run.begun)}`, x: curve.x, y: curve.mean }] : [];
      }),
    );
  return <PictureButtons chart={chart} caption={caption} csv={csv} />;
}
