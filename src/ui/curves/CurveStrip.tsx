import { metricWords } from '../../domain/evaluationSet.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { useConfig } from '../knobs/configStore.ts';
import { Icon } from '../parts/Icon.tsx';
import { live, useLive } from '../run/liveStore.ts';
import { shownText, shownValue } from '../run/metricText.ts';
import { fold } from '../shell/folds.ts';
import { lastUpdate, useTurn } from './chartClock.ts';
import { metricsOf } from './curves.ts';
import { useMarkedUpdate, useRecorded } from './markedUpdate.ts';
import { LineChart } from './LineChart.tsx';
import { type Plot, upright } from './plot.ts';
import { readAt, traceOf } from './traces.ts';
import '../styles/curve-strip.css';

const BOX = { width: 60, height: 20, left: 0, right: 0, top: 1.5, bottom: 1.5 }; // px

/** The curves folded to a line, and a press that opens them. Each has its number: on a recording that of the update in view, else the newest. */
export function CurveStrip() {
  const recorded = useRecorded() !== null;
  return (
    <div className="curve-strip">
      <button
        type="button"
        className="quiet small"
        aria-expanded="false"
        title="Open the curves"
        onClick={() => fold('curves', false)}
      >
        <Icon name="up" /> Curves
      </button>
      {recorded && <span className="chip example">recording</span>}
      <ul>
        {metricsOf('overview').map((metric) => (
          <Small key={metric} metric={metric} />
        ))}
      </ul>
    </div>
  );
}

/** A curve as wide as a word. */
function Small({ metric }: { readonly metric: MetricName }) {
  useTurn(metric);
  useLive((s) => s.curvesVersion);
  const env = useConfig((s) => (s.applied ?? s.wanted).env);
  const { label, doc } = metricWords(metric, { env });
  const recorded = useRecorded();
  const marked = useMarkedUpdate();
  const at = recorded ? marked : null;
  const series = live.series.get(metric);
  const value = at === null ? shownValue(metric, series) : readAt(traceOf(metric, null), at)?.value;
  const { x, smooth } = series?.drawn ?? { x: [], smooth: [] };
  const [low, high] = [Math.min(0, ...smooth), Math.max(0, ...smooth)];
  const plot: Plot = {
    ...BOX,
    x: { from: 0, to: lastUpdate() },
    y: { domain: [low, high > low ? high : low + 1], log: false },
  };
  return (
    <li title={doc}>
      <span className="soft">{label}</span>
      <LineChart chart={{ plot, rules: [low], lines: [{ name: 'smooth', x, y: smooth }] }}>
        {at !== null && <path className="marked" d={upright(plot, at)} />}
      </LineChart>
      <b>{series ? shownText(metric, value) : '–'}</b>
    </li>
  );
}
