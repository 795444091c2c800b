import { type PointerEvent, useEffect, useState, type ChangeEvent, useRef } from 'react';
import { useLive } from '../run/liveStore.ts';
import { Header } from '../shell/Header.tsx';
import { Icon } from '../parts/Icon.tsx';
import { StatusLine } from '../shell/StatusLine.tsx';
import { run as startTraining } from '../run/transport.ts';
import '../styles/runs.css';
import { chooseFile } from '../checkpoints/importFolder.ts';
import { SingleRun } from './SingleRun.tsx';
import { RunCurves } from './RunCurves.tsx';
import { RunRow } from './RunRow.tsx';
import { undelete, useRuns } from './runStore.ts';
import { chosenFiles } from '../parts/placedFiles.ts';
import { openFiles, useOpened } from './openFiles.ts';

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
            <span className="faint">This browser keeps the newest 24 runs.</span>
            <button
              type="button"
              className="small end"
              onClick={chooseFile}
              title="Continues a run from a checkpoint that this page or the command line saved. You can also drop it anywhere on the page."
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
      <p>No runs yet. A first run of number hunt takes about a minute.</p>
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

/** Opens runs of the command line: logs, saved folders, folders of sweeps; says what came of it. */
function OpenRuns() {
  const { words, problems } = useOpened();
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const asFolder = (input: HTMLInputElement | null) => {
    folder.current = input;
    if (input) input.webkitdirectory = true; // no attribute that React knows
  };
  const take = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    const chosen = chosenFiles(currentTarget.files);
    if (chosen.length > 0) void openFiles(chosen);
    currentTarget.value = ''; // the same can be chosen again
  };
  return (
    <div className="run-open">
      <p className="line small">
        <button type="button" className="small" onClick={() => folder.current?.click()}>
          Open folder…
        </button>
        <button type="button" className="small" onClick={() => files.current?.click()}>
          Open files…
        </button>
        <span className="faint">
          Opens runs trained with this project’s command line (<code>npm run train</code>, <code>npm run sweep</code>,{' '}
          <code>npm run experiment</code>). You can also drop them here.
        </span>
      </p>
      <input ref={files} type="file" multiple hidden accept=".jsonl,.json" aria-label="Files of runs" onChange={take} />
      <input ref={asFolder} type="file" hidden aria-label="Folder of runs" onChange={take} />
      <div role="status" className="small">
        {words !== '' && problems.length === 0 && <p className="faint">{words}</p>}
        {problems.length > 0 && (
          <ul className="note run-problems">
            {[words, ...problems].map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}
