import { useEffect, useRef, useState, lazy, Suspense } from 'react';
import { ENGINE_METRICS } from '../../domain/engineMetrics.ts';
import { metricWords } from '../../domain/evaluationSet.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { baselineSentence } from './baselineLines.ts';
import { chartVersion, watchChart } from './chartClock.ts';
import { chartSentence } from './chartText.ts';
import { type Frame, MARGIN, SIDE } from './frame.ts';
import { useMarkedUpdate, useRecorded } from './markedUpdate.ts';
import { readAt } from './curveValue.ts';
import { useSize } from '../parts/useSize.ts';
import { useConfig } from '../knobs/configStore.ts';
import { LINES } from './curves.ts';
import { live, useLive } from '../run/liveStore.ts';
import { shownText, shownValue } from '../run/metricText.ts';
import { SMOOTHING } from '../../runs/smoothing.ts';
import { useFrame, type Frames } from './useFrame.ts';
import { useView } from './view.ts';
import { Crosshair } from './Crosshair.tsx';
import { Sketch } from './Sketch.tsx';

interface Props {
  readonly metric: MetricName;
  readonly enlarge?: (metric: MetricName) => void; // absent: nothing to press
}

/** One curve with its name and newest value; draws when its turn comes. */
export function ChartCard({ metric, enlarge }: Props) {
  // its words hang on the environment alone: a knob that is dragged must not draw all charts again
  const env = useConfig((s) => (s.applied ?? s.wanted).env);
  const { label, unit, doc } = metricWords(metric, { env });
  const names = LINES[metric] ?? [metric];
  const box = useRef<HTMLDivElement>(null);
  const version = useVersion(metric);
  const size = useSize(box);
  const missing = useMissing(metric);
  const series = live.series.get(metric);
  const frames = useFrame(metric, version, size.width, size.height);
  const drawn = frames !== null && series !== undefined && size.width > 40 ? frames : null;
  const frame = drawn && (drawn.sketch ?? drawn.drawn);
  const told = [...names.map((name) => chartSentence(name, live.series.get(name), { env })), baselineSentence(metric)];
  return (
    <figure className="card chart" title={`${metric}${unit && ` (${unit})`}: ${doc}`} data-metric={metric}>
      <figcaption>
        <span className="cut soft">{label}</span>
        <Reading metric={metric} frame={frame} />
        {enlarge && (
          <button
            type="button"
            className="quiet icon-button enlarge"
            aria-label={`Enlarge or export ${label}`}
            title="Enlarge, export"
            onClick={() => enlarge(metric)}
          >
            <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
              <path d="M14 5h5v5M10 19H5v-5M19 5l-6 6M5 19l6-6" />
            </svg>
          </button>
        )}
      </figcaption>
      <div
        className="plot"
        ref={box}
        role="img"
        aria-label={told.join(' ').trim()}
        data-before={frame ? frame.side - SIDE : 0}
        data-beside={frame ? frame.right - MARGIN.right : 0}
      >
        {drawn && frame ? (
          <LazyChart frames={drawn} frame={frame} />
        ) : (
          <div className="plot-empty">{series ? '' : missing}</div>
        )}
      </div>
    </figure>
  );
}

/** Why there is no curve of a metric. */
function useMissing(metric: MetricName): string {
  const updated = useLive((s) => s.update > 0);
  const recorded = useRecorded();
  if (recorded) return metric in ENGINE_METRICS ? 'not recorded: it depends on the machine' : 'not in the recording';
  return updated ? 'not measured in this run' : 'after the first update';
}

/** Counts up whenever it is the chart's turn to draw what has come; 0 before there is anything to draw. */
function useVersion(metric: MetricName): number {
  const [version, setVersion] = useState(0);
  const started = useLive((s) => s.session !== 'none');
  const recorded = useRecorded() !== null;
  useEffect(() => {
    if (!started && !recorded) return;
    const lines = LINES[metric] ?? [metric];
    let stop: (() => void) | undefined;
    let gone = false;
    // the library comes first, or all charts would wait for it and then mount in one long task
    void (recorded ? Promise.resolve() : loadChart()).then(() => {
      if (gone) return;
      stop = watchChart(
        () => chartVersion(lines),
        () => setVersion(chartVersion(lines)),
      );
    });
    return () => {
      gone = true;
      stop?.();
    };
  }, [metric, started, recorded]);
  return version;
}

/** The number of a chart's second line, with its name: two rates never stand beside each other without. */
const secondText = (metric: MetricName, value: number) =>
  `${metric === 'eval/success' ? 'eval' : 'chance'} ${shownText(metric, value)}`;

interface ReadingProps {
  readonly metric: MetricName;
  readonly frame: Frame | null;
}

/** The numbers under the crosshair, as measured and smoothed; without one, on a recording those of the update in view, else the newest. */
function Reading({ metric, frame }: ReadingProps) {
  useLive((s) => s.metricsVersion);
  const marked = useMarkedUpdate();
  const recorded = useRecorded();
  const at = useView((s) => s.at) ?? (recorded && marked);
  const smoothing = useView((s) => s.smoothing);
  const [, second = metric] = LINES[metric] ?? [];
  if (at !== null && frame) {
    const [main, held] = frame.traces.map((trace) => readAt(trace, at));
    const smooth = main && shownText(metric, main.smooth);
    return (
      <span className="end" data-testid="read">
        <b>{main ? shownText(metric, main.value) : '–'}</b>
        {smooth !== undefined && !held && <span className="faint smooth"> {smooth}</span>}
        {held && <span className="held"> {secondText(second, held.value)}</span>}
      </span>
    );
  }
  const drawn = smoothing === SMOOTHING || metric.startsWith('eval/') ? undefined : frame?.traces[0];
  const value = drawn ? readAt(drawn, Infinity)?.smooth : shownValue(metric, live.series.get(metric));
  const held = second === metric ? undefined : shownValue(second, live.series.get(second));
  if (value === undefined) return null;
  return (
    <span className="end strong">
      {shownText(metric, value)}
      {held !== undefined && <span className="held"> {secondText(second, held)}</span>}
    </span>
  );
}

/** Fetches the library that draws charts. */
const loadChart = () => import('./Chart.tsx').then((m) => ({ default: m.Chart }));
const Chart = lazy(loadChart);

interface LazyChartProps {
  readonly frames: Frames;
  readonly frame: Frame; // what is to be seen of them
}

/** A curve with what lies over it. A recording is sketched: a first visit does without the library. */
function LazyChart({ frames: { drawn, sketch }, frame }: LazyChartProps) {
  const recorded = useRecorded() !== null;
  return (
    <>
      {recorded ? (
        <Sketch frame={frame} />
      ) : (
        <Suspense fallback={<div className="plot-empty" />}>
          <Chart frame={drawn} />
          {sketch && <Sketch frame={sketch} />}
        </Suspense>
      )}
      {frame.note && (
        <span className="cut chart-note" title={frame.note}>
          {frame.note}
        </span>
      )}
      <Crosshair frame={frame} />
    </>
  );
}
