import { type PointerEvent, useEffect, useState } from 'react';
import { hashOf } from '../address/hash.ts';
import { percent } from '../parts/numberText.ts';
import { listRun } from '../run/liveRun.ts';
import { useLive } from '../run/liveStore.ts';
import { useReplay } from '../replay/player.ts';
import { Header } from '../shell/Header.tsx';
import { Icon } from '../parts/Icon.tsx';
import { StatusLine } from '../shell/StatusLine.tsx';
import { run as startTraining } from '../run/transport.ts';
import '../styles/runs.css';
import { ComparisonPanel } from '../comparisons/ComparisonPanel.tsx';
import { chooseFile } from '../checkpoints/importFolder.ts';
import { ComparisonTable } from './ComparisonTable.tsx';
import { EveryCurve } from './EveryCurve.tsx';
import type { Line } from './line.ts';
import { OnlyRun } from './OnlyRun.tsx';
import { OpenRuns } from './OpenRuns.tsx';
import { Overlay } from './Overlay.tsx';
import { Swatch } from './Course.tsx';
import { backendText, type Run } from '../../runs/run.ts';
import { fullName, KEPT_METRICS, type KeptMetric, lastOf, metricLabel, MOST_NAMED } from './keptRun.ts';
import { RunFiles } from './RunFiles.tsx';
import { SameKernels } from './SameKernels.tsx';
import { deleteRun, MOST_SHOWN, toggleShown, undelete, useRuns } from './runStore.ts';

/** The runs of this browser: drawn over each other, set against a baseline, told apart by what they differ in. */
export function Runs() {
  const runs = useRuns((s) => s.runs);
  const slots = useRuns((s) => s.slots);
  const pinned = useRuns((s) => s.baseline);
  const growing = useRuns((s) => s.growing);
  const problem = useRuns((s) => s.problem);
  useFreshRecord();
  const lines = slots.flatMap((id, slot): Line[] => {
    const run = runs.find((each) => each.id === id);
    return run ? [{ run, slot }] : [];
  });
  const free = slots.indexOf(null);
  if (growing && free >= 0) lines.push({ run: growing, slot: free });
  return (
    <>
      <Header />
      <main className="runs screen pane" data-pane="watch">
        <section className="run-list panel" aria-labelledby="runs-title">
          <ComparisonPanel />
          <div className="panel-head">
            <h2 id="runs-title">Runs</h2>
            <span className="faint">This browser keeps the newest 24.</span>
            <button
              type="button"
              className="quiet small end"
              onClick={chooseFile}
              title="Or drop it anywhere on the page"
            >
              Import a checkpoint
            </button>
          </div>
          {problem && (
            <p className="note" role="alert">
              {problem}
            </p>
          )}
          <OpenRuns />
          <Deleted />
          {runs.length === 0 ? (
            <Empty />
          ) : (
            runs.map((run) => <Row key={run.id} run={run} slots={slots} pinned={pinned} />)
          )}
          {runs.length === 1 && runs[0] && <OnlyRun run={runs[0]} />}
        </section>
        <Comparison runs={runs} lines={lines} />
      </main>
      <StatusLine />
    </>
  );
}

/** The chosen runs drawn over each other, and what they differ in. */
function Comparison({ runs, lines }: { readonly runs: readonly Run[]; readonly lines: readonly Line[] }) {
  const metric = useRuns((s) => s.metric);
  const pinned = useRuns((s) => s.baseline);
  const growing = useRuns((s) => s.growing);
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
  const line: Line = { run: example, slot: 0 };
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

function Empty() {
  const begun = useLive((s) => s.session === 'ready' || s.session === 'starting');
  if (begun) {
    return (
      <div className="empty">
        <p>The current run appears here after its first evaluation.</p>
      </div>
    );
  }
  return (
    <div className="empty">
      <p>No runs yet. The first one takes about a minute.</p>
      <button type="button" className="primary" onClick={startTraining}>
        <Icon name="play" /> Run it
      </button>
    </div>
  );
}

interface RowProps {
  readonly run: Run;
  readonly slots: readonly (number | null)[];
  readonly pinned: number | null;
}

function Row({ run, slots, pinned }: RowProps) {
  const slot = slots.indexOf(run.id);
  const full = slot < 0 && !slots.includes(null);
  return (
    <article className="run-row" aria-label={`Run ${run.id}`} data-shown={slot >= 0}>
      <label className="line run-show" title={full ? `At most ${MOST_SHOWN} runs can be drawn at once` : undefined}>
        <input type="checkbox" checked={slot >= 0} disabled={full} onChange={() => toggleShown(run.id)} />
        <span className="visually-hidden">Draw run {run.id}</span>
        {slot >= 0 ? <Swatch slot={slot} /> : <span className="run-swatch" />}
        <b>#{run.id}</b>
      </label>
      <div className="run-what">
        <p className="strong run-name">{fullName(run)}</p>
        <p className="small faint">
          {run.update} {run.update === 1 ? 'update' : 'updates'} · training success{' '}
          {percent(lastOf(run, 'rollout/success'))} · {backendText(run.backend)} ·{' '}
          <time dateTime={run.started}>{new Date(run.started).toLocaleString()}</time>
        </p>
        {run.changes.length > MOST_NAMED && (
          <p className="small faint">
            on the way: {run.changes.map(({ update, text }) => `${update}: ${text}`).join(' · ')}
          </p>
        )}
        <SameKernels run={run} />
      </div>
      <div className="line run-actions">
        <button
          type="button"
          className="quiet small"
          aria-pressed={pinned === run.id}
          onClick={() => useRuns.setState({ baseline: pinned === run.id ? null : run.id })}
        >
          {pinned === run.id ? '★ baseline' : '☆ baseline'}
        </button>
        <a className="small" href={hashOf(run.begun)} title="Open the lab with these knobs">
          knobs
        </a>
        <RunFiles run={run} />
        <button
          type="button"
          className="quiet icon-button small"
          aria-label={`Delete run ${run.id}`}
          onClick={() => deleteRun(run.id)}
        >
          <Icon name="cross" />
        </button>
      </div>
    </article>
  );
}

const UNDO_MS = 8000;

/** What was deleted last can be brought back for eight seconds; pointing at the offer keeps it. */
function Deleted() {
  const deleted = useRuns((s) => s.deleted);
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (!deleted || held) return;
    const timer = setTimeout(() => useRuns.setState({ deleted: null }), UNDO_MS);
    return () => clearTimeout(timer);
  }, [deleted, held]);
  const hold = (event: PointerEvent) => setHeld(event.type === 'pointerenter');
  return (
    <div role="status" className="line note good" onPointerEnter={hold} onPointerLeave={hold}>
      {deleted && (
        <>
          Deleted run {deleted.id}.{' '}
          <button type="button" onFocus={() => setHeld(true)} onBlur={() => setHeld(false)} onClick={undelete}>
            Undo
          </button>
        </>
      )}
    </div>
  );
}
