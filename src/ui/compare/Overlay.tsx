import { useRef, useState, type RefObject } from 'react';
import type { CurveName } from '../../domain/metrics.ts';
import { metricWords } from '../../domain/evaluationSet.ts';
import { ChartSurface } from '../charts/ChartSurface.tsx';
import { Crosshair } from '../charts/Crosshair.tsx';
import { endLabels, LINE_HEIGHT, nameMarginWidth } from '../../page/curves/endLabels.ts';
import type { UpdateEnds } from '../../page/curves/gestures.ts';
import { LineChart } from '../charts/LineChart.tsx';
import {
  type Chart,
  xPixel,
  yPixel,
  edgeAttributes,
  type Flag,
  labelHeights,
  type Plot,
  updateTicks,
} from '../../page/curves/plot.ts';
import { pointNear } from '../../page/view/traces.ts';
import { useChartView } from '../../page/curves/view.ts';
import { ViewControls } from '../charts/ViewControls.tsx';
import { shortNumber } from '../../page/words/numberText.ts';
import { useSize } from '../../page/browser/useSize.ts';
import { shownText } from '../../page/words/metricText.ts';
import { bandOf, curveOf, lastUpdateOf, updatesAxis, valueAxis, seedGroups } from '../../page/runs/metricCurves.ts';
import { colourOf, type RunLine, chartLines, chartName, DASHES } from '../../page/runs/line.ts';
import { type Run, seriesOf } from '../../runs/run.ts';
import { useReplay } from '../../page/view/player.ts';
import { drawnLines, useRuns } from '../../page/runs/runStore.ts';
import { lastMetricValue, metricLabel } from '../../page/runs/keptRun.ts';
import { csvOfCurves, columnTitle } from '../../page/curves/curvesCsv.ts';
import { presetText, smoothingText } from '../../page/files/caption.ts';
import { PictureButtons } from '../parts/PictureButtons.tsx';
import '../export/export.css';

interface Props {
  readonly metric: CurveName;
  readonly lines: readonly RunLine[];
  readonly all: readonly Run[]; // the axis of values covers all runs, so it stays the same when one is shown or hidden
  readonly flags?: readonly Flag[]; // marks at updates
}

const DRAWN_ENDS: UpdateEnds = {
  axis: () => updatesAxis(drawnRuns()),
  newestUpdate: () => lastUpdateOf(drawnRuns()),
};
const HEIGHT = 300; // px
const LABEL_GAP = 13; // px between two names
const MARGINS = { left: 46, right: 44, top: 18, bottom: 26 }; // px

/** Has the crosshair and zoom of the lab's charts. Runs that differ only in their seed can be drawn as one band. */
export function Overlay({ metric, lines, all, flags = [] }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const [banded, setBanded] = useState(false);
  const smoothing = useChartView((s) => s.smoothing);
  const groups = seedGroups(lines);
  const { label, unit } = metricWords(metric, ...lines.map(({ run }) => run.begun));
  const textAt = (update: number) => valueTexts(lines, metric, smoothing, update).join(', ');
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
      <ChartSurface className="" label="the compared runs" valueText={textAt} updateEnds={DRAWN_ENDS}>
        {width > 100 && <ComparisonChart {...{ metric, lines, all, flags, width }} bands={banded ? groups : []} />}
      </ChartSurface>
      <Readout {...{ metric, lines }} text={`${label}${unit === '' ? '' : `, ${unit}`}`} />
      <OverlayExport chart={box} metric={metric} lines={lines} />
    </div>
  );
}

/** The runs drawn now: the chosen ones, or the recording while there are none. */
function drawnRuns(): readonly Run[] {
  const { recording } = useReplay.getState();
  const runs = drawnLines(useRuns.getState()).map(({ run }) => run);
  return runs.length > 0 || !recording ? runs : [recording];
}

interface ComparisonChartProps extends Props {
  readonly width: number; // px
  readonly bands: ReturnType<typeof seedGroups>;
}

function ComparisonChart({ metric, lines, all, flags = [], width, bands }: ComparisonChartProps) {
  const range = useChartView((s) => s.visibleRange);
  const smoothing = useChartView((s) => s.smoothing);
  const log = useChartView((s) => s.log);
  const x = range ?? updatesAxis(lines.map(({ run }) => run));
  const { axis, note } = valueAxis(metric, all, log);
  const hasArmNames = lines.some(({ run }) => run.arm !== undefined);
  const names = lines.map(({ run }) => chartName(run));
  const right = hasArmNames ? nameMarginWidth(names, width) : MARGINS.right;
  const plot: Plot = { ...MARGINS, right, width, height: HEIGHT, x, y: axis };
  const plotted = lines.flatMap((line) => {
    const curve = curveOf(line.run, metric, smoothing);
    return curve ? [{ line, curve, end: pointNear(curve, x.to) }] : [];
  });
  const bandedRuns = new Set(bands.flatMap(({ lines: groupLines }) => groupLines.map(({ run }) => run)));
  const bandCurves = bands.map(({ slot, lines: groupLines }) => {
    const band = bandOf(groupLines.flatMap(({ run }) => curveOf(run, metric, smoothing) ?? []));
    return {
      x: band.map(({ update }) => update),
      low: band.map(({ low }) => low),
      mean: band.map(({ mean }) => mean),
      high: band.map(({ high }) => high),
      colour: colourOf(slot),
    };
  });
  const updates = updateTicks(x);
  const chart: Chart = {
    plot,
    valueTicks: axis.ticks.map((value) => ({ value, text: shortNumber(value) })),
    updateTicks: updates.map((value, i) => ({
      value,
      text: i === updates.length - 1 ? `update ${value}` : `${value}`,
    })),
    gridLines: axis.ticks,
    flags: flags.filter(({ update }) => update >= x.from && update <= x.to),
    bands: bandCurves,
    lines: [
      ...bandCurves.map((band) => ({ cssClass: 'run-line seed-mean', x: band.x, y: band.mean, colour: band.colour })),
      ...plotted.flatMap(({ line, curve }) => chartLines(line, curve, bandedRuns.has(line.run))),
    ],
  };
  const lineLabels = plotted.map(({ line: { run }, end }) => ({
    name: chartName(run),
    x: Math.max(plot.left, xPixel(plot, Math.min(end?.update ?? 0, x.to))),
    y: yPixel(plot, end?.smooth ?? axis.domain[0]),
  }));
  const ids = plotted.map(({ line }) => line.run.id);
  const colours = plotted.map(({ line }) => colourOf(line.slot));
  const heights = labelHeights(
    lineLabels.map(({ y }) => y),
    LABEL_GAP,
    0,
    HEIGHT - MARGINS.bottom,
  );
  const description = lines.map(({ run }) => curveSentence(run, metric)).join(' ');
  return (
    <div
      className="plot"
      style={{ height: HEIGHT }}
      {...edgeAttributes(plot)}
      role="img"
      aria-label={`${metricWords(metric, ...lines.map(({ run }) => run.begun)).label}. ${description}`}
    >
      <LineChart chart={chart}>
        {hasArmNames
          ? endLabels(lineLabels, plot).map(({ lines: words, leaderPath, x: left, y: baseline }, i) => (
              <g key={ids[i]}>
                <path className="run-lead" d={leaderPath} style={{ stroke: colours[i] }} />
                <text className="run-end" y={baseline} style={{ fill: colours[i] }}>
                  {words.map((line, k) => (
                    <tspan key={line} x={left} dy={k === 0 ? 0 : LINE_HEIGHT}>
                      {line}
                    </tspan>
                  ))}
                  {words.join(' ') !== lineLabels[i]?.name && <title>{lineLabels[i]?.name}</title>}
                </text>
              </g>
            ))
          : lineLabels.map(({ name, x: end }, i) => (
              <text key={ids[i]} className="run-end" x={end + 6} y={(heights[i] ?? 0) + 4} style={{ fill: colours[i] }}>
                {name}
              </text>
            ))}
      </LineChart>
      <Crosshair plot={plot} traces={plotted.map(({ curve }) => curve)} colours={colours} />
      {note && <span className="cut chart-note">{note}</span>}
    </div>
  );
}

function Readout({ metric, lines, text }: Omit<Props, 'all' | 'flags'> & { readonly text: string }) {
  const crosshairUpdate = useChartView((s) => s.crosshairUpdate);
  const smoothing = useChartView((s) => s.smoothing);
  return (
    <p className="overlay-readout faint">
      {crosshairUpdate === null
        ? `${text}. Faint line: each update. Bold line: smoothed.`
        : `update ${crosshairUpdate}: ${valueTexts(lines, metric, smoothing, crosshairUpdate).join(' · ')}`}
    </p>
  );
}

function valueTexts(lines: readonly RunLine[], metric: CurveName, weight: number, update: number): readonly string[] {
  return lines.map(({ run }) => {
    const curve = curveOf(run, metric, weight);
    return `${chartName(run)} ${shownText(metric, curve ? pointNear(curve, update)?.smooth : undefined)}`;
  });
}

function curveSentence(run: Run, metric: CurveName): string {
  const smooth = seriesOf(run, metric)?.plotted.smooth;
  return `Run ${chartName(run)}: ${smooth ? `from ${shownText(metric, smooth[0])} to ${shownText(metric, lastMetricValue(run, metric))} in ${run.update} updates` : 'not measured'}.`;
}

interface OverlayExportProps {
  readonly chart: RefObject<HTMLElement | null>;
  readonly metric: CurveName;
  readonly lines: readonly RunLine[];
}

function OverlayExport({ chart, metric, lines }: OverlayExportProps) {
  const caption = () => ({
    title: metricLabel(
      metric,
      lines.map(({ run }) => run),
    ),
    notes: [
      ...lines.map(({ run }) =>
        run.program === undefined
          ? `${chartName(run)}: ${presetText(run.begun)}; seed ${run.begun.seed}`
          : `${chartName(run)}: ${run.name}`,
      ),
      `metric ${metric}; ${smoothingText(useChartView.getState().smoothing)}`,
      'x: update',
    ],
    legend: lines.map(({ run, slot }) => ({
      label: `${chartName({ id: run.id })} ${run.name}`,
      stroke: colourOf(slot),
      width: 2,
      dash: DASHES[slot] ?? '',
    })),
  });
  const csv = () =>
    csvOfCurves(
      lines.flatMap(({ run }) => {
        const curve = seriesOf(run, metric)?.plotted;
        return curve ? [{ title: `#${run.id} ${columnTitle(metric, run.begun)}`, x: curve.x, y: curve.mean }] : [];
      }),
    );
  return <PictureButtons chart={chart} caption={caption} csv={csv} />;
}
