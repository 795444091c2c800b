import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { METRICS, type MetricName } from '../../metrics.ts';
import { chartVersion, HEADLINES, OTHERS, watchChart } from '../chart-clock.ts';
import { percent, short } from '../format.ts';
import { live, useLive } from '../live-store.ts';
import { useSelection } from '../selection-store.ts';
import { chartSentence } from '../chart-text.ts';

const loadChart = () => import('./Chart.tsx').then((m) => ({ default: m.Chart }));
const Chart = lazy(loadChart);

const KEYS = [
  ['raw', 'each update'],
  ['smooth', 'smoothed'],
  ['held', 'held-out'],
  ['flag', 'knob changed'],
] as const;

/** The curves of the run as small multiples. */
export function Dock() {
  const more = useSelection((s) => s.moreMetrics);
  return (
    <section className="dock pane" aria-label="Curves" data-pane="curves" data-more={more}>
      <div className="dock-bar">
        <h2>Curves</h2>
        <span className="legend curve-legend">
          {KEYS.map(([key, text]) => (
            <span key={key}>
              <span className={`key ${key}`} /> {text}
            </span>
          ))}
        </span>
        <LastFlag />
        <button
          type="button"
          className="quiet"
          aria-expanded={more}
          onClick={() => useSelection.setState({ moreMetrics: !more })}
        >
          {more ? 'Fewer metrics' : 'More metrics'}
        </button>
      </div>
      <div className="charts">
        {(more ? [...HEADLINES, ...OTHERS] : HEADLINES).map((metric) => (
          <ChartCard key={metric} metric={metric} />
        ))}
      </div>
    </section>
  );
}

function LastFlag() {
  useLive((s) => s.flagsVersion);
  const flag = live.flags.at(-1);
  return (
    <span className="last-flag faint" data-testid="last-flag">
      {flag && `update ${flag.update}: ${flag.text}`}
    </span>
  );
}

const LINES: Partial<Record<MetricName, readonly MetricName[]>> = {
  'rollout/success': ['rollout/success', 'eval/success'],
};

function ChartCard({ metric }: { readonly metric: MetricName }) {
  const { label, unit, doc } = METRICS[metric];
  const names = LINES[metric] ?? [metric];
  const box = useRef<HTMLDivElement>(null);
  const [version, setVersion] = useState(0);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const started = useLive((s) => s.session !== 'none');
  useEffect(() => {
    if (!started) return;
    const lines = LINES[metric] ?? [metric];
    let stop: (() => void) | undefined;
    let gone = false;
    // the library comes first, or all charts would wait for it and then mount in one long task
    void loadChart().then(() => {
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
  }, [metric, started]);
  useEffect(() => {
    if (!box.current) return;
    const observer = new ResizeObserver(([entry]) => {
      const { width = 0, height = 0 } = entry?.contentRect ?? {};
      setSize({ width: Math.floor(width), height: Math.floor(height) });
    });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const series = live.series.get(metric);
  const drawn = version > 0 && series !== undefined && size.width > 40;
  return (
    <figure className="chart" title={`${metric}${unit && ` (${unit})`}: ${doc}`} data-metric={metric}>
      <figcaption>
        <span className="chart-label">{label}</span>
        <Reading metric={metric} />
      </figcaption>
      <div
        className="plot"
        ref={box}
        role="img"
        aria-label={names.map((name) => chartSentence(name, live.series.get(name))).join(' ')}
      >
        {drawn ? (
          <Suspense fallback={<div className="plot-empty" />}>
            <Chart metric={metric} names={names} version={version} {...size} />
          </Suspense>
        ) : (
          <div className="plot-empty">{series ? '' : 'after the first update'}</div>
        )}
      </div>
    </figure>
  );
}

const SHARES: readonly MetricName[] = ['rollout/success', 'eval/success'];

function Reading({ metric }: { readonly metric: MetricName }) {
  useLive((s) => s.metricsVersion);
  const share = SHARES.includes(metric);
  const value = live.metrics[metric];
  const held = metric === 'rollout/success' ? live.metrics['eval/success'] : undefined;
  if (value === undefined) return null;
  return (
    <span className="reading">
      {share ? percent(value) : short(value)}
      {held !== undefined && <span className="held"> {percent(held)}</span>}
    </span>
  );
}
