import { useRef } from 'react';
import { ENGINE_METRICS } from '../../domain/engineMetrics.ts';
import { metricWords } from '../../domain/evaluationSet.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { useChartVersion } from '../../page/view/chartClock.ts';
import { chartSentence } from '../../page/view/chartText.ts';
import { type ChartFrame, useFrame } from '../../page/view/frame.ts';
import { LineChart } from './LineChart.tsx';
import { edgeAttributes } from '../../page/curves/plot.ts';
import { useMarkedUpdate, useRecording } from '../../page/view/markedUpdate.ts';
import { pointNear, baselineSentence } from '../../page/view/traces.ts';
import { useSize } from '../../page/browser/useSize.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { CHART_LINES } from '../../page/curves/curves.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { shownText, shownValue } from '../../page/words/metricText.ts';
import { SMOOTHING } from '../../runs/smoothing.ts';
import { useChartView } from '../../page/curves/view.ts';
import { Crosshair } from './Crosshair.tsx';

interface Props {
  readonly metric: MetricName;
  readonly enlarge?: (metric: MetricName) => void; // absent: no button to enlarge the chart
}

/** One curve with its name and newest value. Redrawn when `chartClock.ts` gives it a turn. */
export function ChartCard({ metric, enlarge }: Props) {
  // the texts depend on the environment only: dragging a knob must not redraw all charts
  const env = useConfig((s) => (s.applied ?? s.wanted).env);
  const { label, unit, doc } = metricWords(metric, { env });
  const names = CHART_LINES[metric] ?? [metric];
  const secondLineDocs = names
    .slice(1)
    .map((name) => `${metricWords(name, { env }).label}: ${metricWords(name, { env }).doc}`);
  const plotBox = useRef<HTMLDivElement>(null);
  const started = useLive((s) => s.session !== 'none');
  const recorded = useRecording() !== null;
  const version = useChartVersion(metric, started || recorded);
  const size = useSize(plotBox);
  const missingReason = useMissingReason(metric);
  const series = useLive.getState().series.get(metric);
  const frame = useFrame(metric, version, size.width, size.height);
  const sentences = [
    ...names.map((name) => chartSentence(name, useLive.getState().series.get(name), { env })),
    baselineSentence(metric),
  ];
  return (
    <figure
      className="card chart"
      title={[doc, ...secondLineDocs, unit && `Unit: ${unit}.`, `In logs: ${metric}`].filter(Boolean).join(' ')}
      data-metric={metric}
    >
      <figcaption>
        <span className="cut soft">{label}</span>
        <ChartValue metric={metric} frame={frame} />
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
        ref={plotBox}
        role="img"
        aria-label={sentences.join(' ').trim()}
        {...(frame && edgeAttributes(frame.plot))}
      >
        {frame ? <LiveChart frame={frame} /> : <div className="plot-empty">{series ? '' : missingReason}</div>}
        {frame?.note && (
          <span className="cut chart-note" title={frame.note}>
            {frame.note}
          </span>
        )}
      </div>
    </figure>
  );
}

function useMissingReason(metric: MetricName): string {
  const updated = useLive((s) => s.update > 0);
  const recorded = useRecording();
  if (recorded) return metric in ENGINE_METRICS ? 'not recorded: it depends on the machine' : 'not in the recording';
  return updated ? 'not measured in this run' : 'after the first update';
}

/** The value of a chart's second line, with a name, so that two rates side by side can be told apart. */
const secondText = (metric: MetricName, value: number) =>
  `${metric === 'eval/success' ? 'greedy' : 'chance'} ${shownText(metric, value)}`;

interface ChartValueProps {
  readonly metric: MetricName;
  readonly frame: ChartFrame | null;
}

/** Without a crosshair, shows the values of the update shown on a recording, otherwise the newest. */
function ChartValue({ metric, frame }: ChartValueProps) {
  useLive((s) => s.metricsVersion);
  const marked = useMarkedUpdate();
  const recorded = useRecording();
  const update = useChartView((s) => s.crosshairUpdate) ?? (recorded && marked);
  const smoothing = useChartView((s) => s.smoothing);
  const [, second = metric] = CHART_LINES[metric] ?? [];
  if (update !== null && frame) {
    const [main, secondPoint] = frame.traces.map((trace) => pointNear(trace, update));
    const smooth = main && shownText(metric, main.smooth);
    return (
      <span className="end" data-testid="read">
        <b>{main ? shownText(metric, main.value) : '–'}</b>
        {smooth !== undefined && !secondPoint && <span className="faint smooth"> {smooth}</span>}
        {secondPoint && <span className="held"> {secondText(second, secondPoint.value)}</span>}
      </span>
    );
  }
  const smoothedTrace = smoothing === SMOOTHING || metric.startsWith('eval/') ? undefined : frame?.traces[0];
  const value = smoothedTrace
    ? pointNear(smoothedTrace, Infinity)?.smooth
    : shownValue(metric, useLive.getState().series.get(metric));
  const secondValue = second === metric ? undefined : shownValue(second, useLive.getState().series.get(second));
  if (value === undefined) return null;
  return (
    <span className="end strong">
      {shownText(metric, value)}
      {secondValue !== undefined && <span className="held"> {secondText(second, secondValue)}</span>}
    </span>
  );
}

export function LiveChart({ frame }: { readonly frame: ChartFrame }) {
  const marked = useMarkedUpdate();
  return (
    <>
      <LineChart chart={frame} />
      <Crosshair plot={frame.plot} traces={frame.traces} marked={marked} />
    </>
  );
}
