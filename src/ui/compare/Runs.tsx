import { type PointerEvent, useEffect, useState, type ChangeEvent, useRef } from 'react';
import { useLive } from '../../page/view/liveStore.ts';
import { Header } from '../frame/Header.tsx';
import { Icon } from '../parts/Icon.tsx';
import { StatusLine } from '../frame/StatusLine.tsx';
import { run as startTraining } from '../../page/training/transport.ts';
import { chooseFile } from '../../page/files/importFolder.ts';
import { RunCurves } from './RunCurves.tsx';
import { RunRow } from './RunRow.tsx';
import { ResumeCard } from '../run/ResumeCard.tsx';
import { MAX_RUNS, undelete, useRuns } from '../../page/runs/runStore.ts';
import { chosenFiles } from '../../page/browser/filesWithPaths.ts';
import { openFiles, useOpenedFiles } from '../../page/files/openFiles.ts';
import { environmentTitle } from '../../domain/serverAddress.ts';
import { presetLabel } from '../../page/knobs/algorithm.ts';
import type { Run } from '../../runs/run.ts';
import { knobLabel } from '../../config/fields.ts';
import { valuesFile } from '../../page/experiments/ownExperiment.ts';
import { fileHash } from '../../page/experiments/planAddress.ts';
import { knobDifferences, nearestPreset, presetConfig } from '../../page/knobs/configStore.ts';
import { knobValueText } from '../../config/imitationRecipe.ts';
import './runs.css';

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
            <span className="faint">
              The list drops a run when {MAX_RUNS} later ones have trained at least as long.
            </span>
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
          <ResumeCard />
          <UndoDelete />
          {runs.length === 0 ? <Empty /> : runs.map((run) => <RunRow key={run.id} run={run} />)}
          {runs.length === 1 && runs[0] && runs[0].program === undefined && <SingleRun run={runs[0]} />}
        </section>
        <RunCurves />
      </main>
      <StatusLine />
    </>
  );
}

function Empty() {
  const hasRun = useLive((s) => s.session === 'ready' || s.session === 'starting');
  if (hasRun) {
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

const UNDO_MS = 8000; // time in which a deleted run can be brought back

/** Offers for eight seconds to bring back the run that was deleted last; longer while the pointer or the focus is on it. */
function UndoDelete() {
  const deleted = useRuns((s) => s.deleted);
  const [paused, setPaused] = useState(false);
  useEffect(() => {
    if (!deleted || paused) return;
    const timer = setTimeout(() => useRuns.setState({ deleted: null }), UNDO_MS);
    return () => clearTimeout(timer);
  }, [deleted, paused]);
  const onPointer = (event: PointerEvent) => setPaused(event.type === 'pointerenter');
  return (
    <div role="status" className="line note good" onPointerEnter={onPointer} onPointerLeave={onPointer}>
      {deleted && (
        <>
          Deleted run {deleted.id}.{' '}
          <button type="button" onFocus={() => setPaused(true)} onBlur={() => setPaused(false)} onClick={undelete}>
            Undo
          </button>
        </>
      )}
    </div>
  );
}

/** Opens runs of the command line (logs, saved folders, folders of sweeps) and logs of other programs. */
function OpenRuns() {
  const { words, problems } = useOpenedFiles();
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const folderRef = (input: HTMLInputElement | null) => {
    folder.current = input;
    if (input) input.webkitdirectory = true; // React doesn't support this attribute
  };
  const onChoose = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    const chosen = chosenFiles(currentTarget.files);
    if (chosen.length > 0) void openFiles(chosen);
    currentTarget.value = ''; // so that the same file can be chosen again
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
          Opens runs trained with this project’s command line (<code translate="no">npm run train</code>,{' '}
          <code translate="no">npm run sweep</code>, <code translate="no">npm run experiment</code>), and logs of TRL,
          verl, wandb, trackio and TensorBoard. You can also drop them here.
        </span>
      </p>
      <input ref={files} type="file" multiple hidden aria-label="Files of runs" onChange={onChoose} />
      <input ref={folderRef} type="file" hidden aria-label="Folder of runs" onChange={onChoose} />
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

function SingleRun({ run }: { readonly run: Run }) {
  const preset = nearestPreset(run.begun);
  const presetKnobs = presetConfig(preset);
  const label = presetLabel(preset, run.environment && environmentTitle(run.environment));
  const changed = knobDifferences(presetKnobs, run.begun);
  const { seed } = run.begun;
  return (
    <>
      <section className="only-run" aria-labelledby="only-run-knobs">
        <h3 id="only-run-knobs">Configuration</h3>
        {changed.length === 0 ? (
          <p className="soft">
            {label}, unchanged, seed {seed}.
          </p>
        ) : (
          <table className="ruled">
            <thead>
              <tr>
                <th scope="col">Knob</th>
                <th scope="col">{label}</th>
                <th scope="col">#{run.id}</th>
              </tr>
            </thead>
            <tbody>
              {changed.map((name) => (
                <tr key={name}>
                  <th scope="row">{knobLabel(name)}</th>
                  <td>{knobValueText(name, presetKnobs)}</td>
                  <td>{knobValueText(name, run.begun)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      <section className="only-run" aria-labelledby="only-run-next">
        <h3 id="only-run-next">Next</h3>
        <ul className="ways">
          <li>
            <a href={fileHash(valuesFile(run.begun, null, [])) ?? '#/experiments'}>The same with several seeds</a>: how
            much was luck? An experiment of your own, to which you can add values of a knob.
          </li>
          <li>
            <a href="#/learn">An exercise</a> explains one idea and trains the run that shows it.
          </li>
          <li>
            <a href="#/experiments">Experiments</a> train several configurations on several seeds each, and show
            intervals.
          </li>
        </ul>
      </section>
    </>
  );
}
