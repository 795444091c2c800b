import { type ContextType, useEffect, useState, useId, useRef } from 'react';
import { Header } from '../frame/Header.tsx';
import { StatusLine } from '../frame/StatusLine.tsx';
import { routeOf } from '../../page/address/hash.ts';
import { readRolloutsHash, rolloutsHash } from '../../page/files/rolloutsAddress.ts';
import { openSample, openPicked, openRun, placedFiles } from '../../page/files/openRollouts.ts';
import { OpenFiles } from './OpenFiles.tsx';
import { PageActions } from './pageActions.ts';
import { closeFiles, table, useRollouts } from '../../page/files/rolloutFileStore.ts';
import { togglePause, useWatch } from '../../page/files/watchedFolder.ts';
import { visible } from '../../base/visible.ts';
import { duration, wholeNumber } from '../../page/words/numberText.ts';
import { ownFormat } from '../../rollouts/ownFormat.ts';
import { FORMATS } from '../../rollouts/rolloutFormats.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { type RolloutFile, ROLLOUT_FILES, saveRollouts } from '../../page/files/saveRollouts.ts';
import './rollouts.css';

const PAGE_ACTIONS: ContextType<typeof PageActions> = {
  tryHere: (record) => void import('../../page/files/tryHere.ts').then(({ tryHere }) => tryHere(record, placedFiles)),
  close: closeFiles,
};

export function Rollouts() {
  const open = useRollouts((s) => s.files.length > 0 || s.reading !== null);
  const corrections = useAddress();
  return (
    <>
      <Header />
      <main className="rollout-files screen pane" data-pane="watch" data-open={open}>
        {corrections.map((text) => (
          <p key={text} className="note" role="alert">
            {text}
          </p>
        ))}
        <WatchLine />
        {open ? (
          <PageActions value={PAGE_ACTIONS}>
            <OpenFiles />
          </PageActions>
        ) : (
          <Welcome />
        )}
      </main>
      <StatusLine />
    </>
  );
}

/**
 * Keeps the address and the view in step: the address is updated when the view changes, and a typed address or the Back
 * button changes the view. Returns messages about parts of the address that could not be used.
 */
function useAddress(): readonly string[] {
  const [corrections, setCorrections] = useState<readonly string[]>([]);
  useEffect(() => {
    const isShown = () => routeOf(location.hash) === 'rollouts';
    const read = (typed: boolean) => {
      if (!isShown()) return;
      const { row, beside, look, sample, corrections: addressCorrections } = readRolloutsHash(location.hash);
      const { files, reading } = useRollouts.getState();
      const noFiles = files.length === 0 && reading === null;
      if (typed && sample && noFiles) void openSample({ row, beside, look });
      else if (!noFiles) useRollouts.setState({ look, beside, ...(row !== null && { row }) });
      const missingFiles =
        noFiles && row !== null && !sample
          ? ['This link needs files that are no longer open. Drop them here again.']
          : [];
      setCorrections([...addressCorrections, ...missingFiles]);
    };
    const write = (addToHistory: boolean) => {
      if (!isShown()) return;
      const { row, beside, look, files, sample } = useRollouts.getState();
      const hash = rolloutsHash(
        files.length > 0
          ? { row, beside: look === 'pair' ? beside : null, look, sample }
          : { row: null, beside: null, look: 'rollout', sample: false },
      );
      if (hash === location.hash) return;
      if (addToHistory) history.pushState(history.state, '', hash);
      else history.replaceState(history.state, '', hash);
    };
    read(true);
    const stop = useRollouts.subscribe((state, before) => {
      const parts = ['row', 'beside', 'look', 'files'] as const;
      if (parts.every((part) => state[part] === before[part])) return;
      // a change of the view gets its own entry in the history; choosing another rollout does not
      write(state.look !== before.look && before.row !== null);
    });
    const onPop = () => read(false);
    addEventListener('popstate', onPop);
    return () => {
      stop();
      removeEventListener('popstate', onPop);
    };
  }, []);
  return corrections;
}

/** The RL libraries whose files are read: the label of a format begins with the name of its library. */
const LIBRARIES = [
  ...new Set(FORMATS.filter((each) => each !== ownFormat).map(({ label }) => label.split(' ')[0])),
].join(', ');

function Welcome() {
  const failed = useRollouts((s) => s.failed);
  return (
    <div className="rollouts-welcome">
      <section className="drop-here" aria-labelledby="drop-title">
        <h2 id="drop-title">Drop files of rollouts here</h2>
        <p className="soft">
          Written by this page, or by one of these libraries: {LIBRARIES}. Files are JSON Lines or Parquet, and the
          format is recognised from the content. Choose several files at once, or a whole folder.
        </p>
        <Pickers />
        <p className="soft">
          Nothing leaves this tab. Files are read here piece by piece, so even a file of a gigabyte opens.
        </p>
        {failed && (
          <p className="note bad" role="alert">
            {failed}
          </p>
        )}
      </section>
      <section className="panel stack" aria-labelledby="own-title">
        <h2 id="own-title">Rollouts of your run</h2>
        <p className="soft">
          Open or save the rollouts of your run in the lab. If you haven’t trained yet, you get those of the recorded
          run.
        </p>
        <div className="row">
          <button type="button" onClick={() => void openRun()}>
            Open here
          </button>
          <SaveRollouts />
        </div>
      </section>
    </div>
  );
}

function Pickers() {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const id = useId();
  return (
    <div className="row">
      <button type="button" className="primary" onClick={() => files.current?.click()}>
        Open files…
      </button>
      <button type="button" onClick={() => folder.current?.click()}>
        Open a folder…
      </button>
      <button type="button" onClick={() => void openSample()}>
        Look at a sample
      </button>
      <label className="visually-hidden" htmlFor={id}>
        Files of rollouts
      </label>
      <input
        {...{ id, ref: files, type: 'file', multiple: true, hidden: true }}
        accept=".jsonl,.ndjson,.json,.parquet,.zst,.gz"
        onChange={({ target }) => openPicked(target.files ?? [])}
      />
      <input
        {...{ ref: folder, type: 'file', hidden: true, webkitdirectory: '' }}
        aria-label="A folder of rollouts"
        onChange={({ target }) => openPicked(target.files ?? [])}
      />
    </div>
  );
}

function SaveRollouts() {
  const [format, setFormat] = useState<RolloutFile>('own');
  const [which, setWhich] = useState<'view' | 'all'>('all');
  const [status, setStatus] = useState('');
  const updates = useLive((s) => s.update);
  return (
    <>
      <select
        aria-label="Which rollouts"
        value={which}
        onChange={(event) => setWhich(event.target.value === 'all' ? 'all' : 'view')}
      >
        <option value="all">{updates > 0 ? 'all kept batches' : 'the recording'}</option>
        {updates > 0 && <option value="view">the batch in view</option>}
      </select>
      <select
        aria-label="Format"
        value={format}
        onChange={(event) => setFormat(event.target.value === 'own' ? 'own' : 'traces')}
      >
        {Object.entries(ROLLOUT_FILES).map(([name, { label, hint }]) => (
          <option key={name} value={name}>
            {label}: {hint}
          </option>
        ))}
      </select>
      <button
        type="button"
        onClick={() =>
          void saveRollouts(which, format).then(setStatus, (error: unknown) => setStatus(`Not saved: ${String(error)}`))
        }
      >
        Save
      </button>
      <span className="faint" role="status">
        {status}
      </span>
    </>
  );
}

/** The folder that is watched, how far its job is, and when it last wrote. */
function WatchLine() {
  const { folder, paused, problem, refused, age, logs } = useWatch();
  const version = useRollouts((s) => s.version);
  if (folder === null) return null;
  const step = version > 0 ? table.columns.step[table.rows - 1] : undefined;
  return (
    <section className="panel stack watch-line" aria-label="Watched folder">
      <div className="row">
        <span className="soft" data-testid="watching">
          {paused ? 'paused:' : 'watching'} <b>{visible(folder, 60)}</b>
          {step !== undefined && !Number.isNaN(step) && ` · step ${wholeNumber(step)}`}
          {version === 0 ? ' · no rollouts yet' : age !== null && ` · ${duration(age)} ago`}
        </span>
        {logs > 0 && <a href="#/runs">{logs === 1 ? 'Its log, as curves' : `Its ${logs} logs, as curves`}</a>}
        <button type="button" className="small end" onClick={togglePause}>
          {paused ? 'Go on' : 'Pause'}
        </button>
      </div>
      {[...(problem ? [problem] : []), ...refused.slice(0, 3)].map((text) => (
        <p key={text} className="small soft">
          {visible(text, 200)}
        </p>
      ))}
    </section>
  );
}
