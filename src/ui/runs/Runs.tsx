import { type PointerEvent, useEffect, useState } from 'react';
import { useLive } from '../run/liveStore.ts';
import { Header } from '../shell/Header.tsx';
import { Icon } from '../parts/Icon.tsx';
import { StatusLine } from '../shell/StatusLine.tsx';
import { run as startTraining } from '../run/transport.ts';
import '../styles/runs.css';
import { chooseFile } from '../checkpoints/importFolder.ts';
import { SingleRun } from './SingleRun.tsx';
import { OpenRuns } from './OpenRuns.tsx';
import { RunCurves } from './RunCurves.tsx';
import { RunRow } from './RunRow.tsx';
import { undelete, useRuns } from './runStore.ts';

/** The runs of this browser: drawn over each other, set against a baseline, told apart by what they differ in. */
export function Runs() {
  const runs = useRuns((s) => s.runs);
  const problem = useRuns((s) => s.problem);
  return (
    <>
      <Header />
      <main className="runs screen pane" data-pane="watch">
        <section className="run-list panel" aria-labelledby="runs-title">
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
          {runs.length === 0 ? <Empty /> : runs.map((run) => <RunRow key={run.id} run={run} />)}
          {runs.length === 1 && runs[0] && <SingleRun run={runs[0]} />}
        </section>
        <RunCurves />
      </main>
      <StatusLine />
    </>
  );
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
