import { useEffect } from 'react';
import type { Run } from '../../runs/run.ts';
import { useReplay } from '../replay/player.ts';
import { listRun } from '../run/liveRun.ts';
import { useLive } from '../run/liveStore.ts';
import { ComparisonTable } from './ComparisonTable.tsx';
import { EveryCurve } from './EveryCurve.tsx';
import { KEPT_METRICS, type KeptMetric, metricLabel } from './keptRun.ts';
import type { Line } from './line.ts';
import { Overlay } from './Overlay.tsx';
import { useRuns } from './runStore.ts';

/** The chosen runs drawn over each other, and what they differ in. */
export function RunCurves() {
  const runs = useRuns((s) => s.runs);
  const metric = useRuns((s) => s.metric);
  const pinned = useRuns((s) => s.baseline);
  const growing = useRuns((s) => s.growing);
  const lines = useLines();
  useFreshRecord();
  const baseline = runs.find(({ id }) => id === pinned) ?? null;
  const recorded = useReplay((s) => (s.away || s.over ? null : s.recording));
  const example = runs.length === 0 && !growing ? recorded : null;
  const all = example ? [example] : growing ? [...runs, growing] : runs;
  const [first] = lines;
  const alone = lines.length === 1 && (!baseline || baseline === first?.run) ? first : undefined;
  return (
    <section className="run-compare panel" aria-label="Comparison">
      <div className="panel-head">
        <h2>Curves</h2>
        <select
          className="small end"
          aria-label="Metric"
          value={metric}
          onChange={(event) => useRuns.setState({ metric: event.target.value as KeptMetric })}
        >
          {KEPT_METRICS.map((name) => (
            <option key={name} value={name}>
              {metricLabel(name, runs)}
            </option>
          ))}
        </select>
      </div>
      {lines.length > 0 ? (
        <>
          <Overlay metric={metric} lines={lines} all={all} />
          {alone ? (
            <>
              <EveryCurve line={alone} all={all} />
              {runs.length > 1 && <p className="soft">Tick a second run to compare their knobs.</p>}
            </>
          ) : (
            <ComparisonTable lines={lines} baseline={baseline} />
          )}
        </>
      ) : (
        <>
          <p className="empty">
            {runs.length === 0
              ? 'The curves of your runs appear here on one chart, with the knobs that differ.'
              : 'Tick a run to draw its curves; tick two to compare their knobs.'}
          </p>
          {example && <Recorded example={example} />}
        </>
      )}
    </section>
  );
}

/** The recorded run of what is chosen, where runs will stand. */
function Recorded({ example }: { readonly example: Run }) {
  const metric = useRuns((s) => s.metric);
  const line: Line = { run: { ...example, arm: 'recorded' }, slot: 0 };
  return (
    <>
      <p>
        <span className="chip example">recording</span> {example.name}
      </p>
      <Overlay metric={metric} lines={[line]} all={[example]} />
      <EveryCurve line={line} all={[example]} />
    </>
  );
}

/** The runs that are drawn, with the one that grows beside the lab. */
function useLines(): readonly Line[] {
  const runs = useRuns((s) => s.runs);
  const slots = useRuns((s) => s.slots);
  const growing = useRuns((s) => s.growing);
  const lines = slots.flatMap((id, slot): Line[] => {
    const run = runs.find((each) => each.id === id);
    return run ? [{ run, slot }] : [];
  });
  const free = slots.indexOf(null);
  return growing && free >= 0 ? [...lines, { run: growing, slot: free }] : lines;
}

/** The run under way is saved now and then; while it is looked at, more often. */
function useFreshRecord(): void {
  const running = useLive((s) => s.running);
  useEffect(() => {
    listRun();
    if (!running) return;
    const timer = setInterval(listRun, 1000);
    return () => clearInterval(timer);
  }, [running]);
}
