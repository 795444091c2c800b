import { useRef } from 'react';
import { ENGINE_METRICS } from '../../domain/engineMetrics.ts';
import { metricWords } from '../../domain/evaluationSet.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { baselineSentence } from './baselineLines.ts';
import { useTurn } from './chartClock.ts';
import { chartSentence } from './chartText.ts';
import { type Frame, useFrame } from './frame.ts';
import { LineChart } from './LineChart.tsx';
import { edgesOf } from './plot.ts';
import { useMarkedUpdate, useRecorded } from './markedUpdate.ts';
import { readAt } from './traces.ts';
import { useSize } from '../parts/useSize.ts';
import { useConfig } from '../knobs/configStore.ts';
import { LINES } from './curves.ts';
import { live, useLive } from '../run/liveStore.ts';
import { shownText, shownValue } from '../run/metricText.ts';
import { SMOOTHING } from '../../runs/smoothing.ts';
import { useView } from './view.ts';
import { Crosshair } from './Crosshair.tsx';

interface Props {
  readonly metric: MetricName;
  readonly enlarge?: (metric: MetricName) => void; // absent: no button to enlarge the chart
}

/** One curve with its name and newest value. Drawn when `chartClock.ts` gives it a turn. */
export function ChartCard({ metric, enlarge }: Props) {
  // the texts depend on the environment only: dragging a knob must not redraw all charts
  const env = useConfig((s) => (s.applied ?? s.wanted).env);
  const { label, unit, doc } = metricWords(metric, { env });
  const names = LINES[metric] ?? [metric];
  const others = names.slice(1).map((name) => `${metricWords(name, { env }).label}: ${metricWords(name, { env }).doc}`);
  const box = useRef<HTMLDivElement>(null);
  const started = useLive((s) => s.session !== 'none');
  const recorded = useRecorded() !== null;
  const version = useTurn(metric, started || recorded);
  const size = useSize(box);
  const missing = useMissing(metric);
  const series = live.series.get(metric);
  const frame = useFrame(metric, version, size.width, size.height);
  const sentences = [
    ...names.map((name) => chartSentence(name, live.series.get(name), { env })),
    baselineSentence(metric),
  ];
  return (
    <figure
      className="card chart"
      title={[doc, ...others, unit && `Unit: ${unit}.`, `In logs: ${metric}`].filter(Boolean).join(' ')}
      data-metric={metric}
    >
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
        aria-label={sentences.join(' ').trim()}
        {...(frame && edgesOf(frame.plot))}
      >
        {frame ? <LiveChart frame={frame} /> : <div className="plot-empty">{series ? '' : missing}</div>}
        {frame?.note && (
          <span className="cut chart-note" title={frame.note}>
            {frame.note}
          </span>
        )}
      </div>
    </figure>
  );
}

/** Says why a metric has no curve. */
function useMissing(metric: MetricName): string {
  const updated = useLive((s) => s.update > 0);
  const recorded = useRecorded();
  if (recorded) return metric in ENGINE_METRICS ? 'not recorded: it depends on the machine' : 'not in the recording';
  return updated ? 'not measured in this run' : 'after the first update';
}

/** The value of a chart's second line, with a name, so that two rates side by side can be told apart. */
const secondText = (metric: MetricName, value: number) =>
  `${metric === 'eval/success' ? 'evaluated' : 'chance'} ${shownText(metric, value)}`;

interface ReadingProps {
  readonly metric: MetricName;
  readonly frame: Frame | null;
}

/**
 * The values under the crosshair, measured and smoothed. Without a crosshair: those of the update shown on a recording,
 * otherwise the newest.
 */
function Reading({ metric, frame }: ReadingProps) {
  useLive((s) => s.metricsVersion);
  const marked = useMarkedUpdate();
  const recorded = useRecorded();
  const at = useView((s) => s.at) ?? (recorded && marked);
  const smoothing = useView((s) => s.smoothing);
  const [, second = metric] = LINES[metric] ?? [];
  if (at !== null && frame) {
    const [main, secondPoint] = frame.traces.map((trace) => readAt(trace, at));
    const smooth = main && shownText(metric, main.smooth);
    return (
      <span className="end" data-testid="read">
        <b>{main ? shownText(metric, main.value) : '–'}</b>
        {smooth !== undefined && !secondPoint && <span className="faint smooth"> {smooth}</span>}
        {secondPoint && <span className="held"> {secondText(second, secondPoint.value)}</span>}
      </span>
    );
  }
  const drawn = smoothing === SMOOTHING || metric.startsWith('eval/') ? undefined : frame?.traces[0];
  const value = drawn ? readAt(drawn, Infinity)?.smooth : shownValue(metric, live.series.get(metric));
  const secondPoint = second === metric ? undefined : shownValue(second, live.series.get(second));
  if (value === undefined) return null;
  return (
    <span className="end strong">
      {shownText(metric, value)}
      {secondPoint !== undefined && <span className="held"> {secondText(second, secondPoint)}</span>}
    </span>
  );
}

/** A curve with its crosshair. */
export function LiveChart({ frame }: { readonly frame: Frame }) {
  const marked = useMarkedUpdate();
  return (
    <>
      <LineChart chart={frame} />
      <Crosshair plot={frame.plot} traces={frame.traces} marked={marked} />
    </>
  );
}
