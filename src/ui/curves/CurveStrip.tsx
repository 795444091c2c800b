import { useEffect, useReducer } from 'react';
import { metricWords } from '../../domain/evaluationSet.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { useConfig } from '../knobs/configStore.ts';
import { Icon } from '../parts/Icon.tsx';
import { live, useLive } from '../run/liveStore.ts';
import { shownText, shownValue } from '../run/metricText.ts';
import { fold } from '../shell/folds.ts';
import { chartVersion, lastUpdate, watchChart } from './chartClock.ts';
import { metricsOf } from './curves.ts';
import { readAt } from './curveValue.ts';
import { useMarkedUpdate, useRecorded } from './markedUpdate.ts';
import { traceOf } from './traces.ts';
import '../styles/curve-strip.css';

const WIDTH = 60;
const HEIGHT = 20;

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
  const [, draw] = useReducer((n: number) => n + 1, 0);
  useLive((s) => s.curvesVersion);
  const env = useConfig((s) => (s.applied ?? s.wanted).env);
  useEffect(() => watchChart(() => chartVersion([metric]), draw), [metric]);
  const { label, doc } = metricWords(metric, { env });
  const recorded = useRecorded();
  const marked = useMarkedUpdate();
  const at = recorded ? marked : null;
  const series = live.series.get(metric);
  const value = at === null ? shownValue(metric, series) : readAt(traceOf(metric, null), at)?.value;
  const { x, smooth } = series?.drawn ?? { x: [], smooth: [] };
  const [low, high] = [Math.min(0, ...smooth), Math.max(0, ...smooth)];
  const end = lastUpdate();
  const points = x.map((update, i) => {
    const share = ((smooth[i] ?? 0) - low) / (high - low || 1);
    return `${((WIDTH * update) / end).toFixed(1)} ${(HEIGHT - 1.5 - share * (HEIGHT - 3)).toFixed(1)}`;
  });
  return (
    <li title={doc}>
      <span className="soft">{label}</span>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
        <path className="floor" d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
        {points.length > 0 && <path className="smooth" d={`M${points.join('L')}`} />}
        {at !== null && <path className="marked" d={`M${((WIDTH * at) / end).toFixed(1)} 0V${HEIGHT}`} />}
      </svg>
      <b>{series ? shownText(metric, value) : '–'}</b>
    </li>
  );
}
