import { lazy, Suspense, useEffect, useMemo, useState, useId, useRef } from 'react';
import { meansByStep, filteredRows, sortedRows, type MeansByStep } from '../../rollouts/select.ts';
import { Header } from '../frame/Header.tsx';
import { StatusLine } from '../frame/StatusLine.tsx';
import { routeOf } from '../../page/address/hash.ts';
import { readRolloutsHash, rolloutsHash } from '../../page/files/rolloutsAddress.ts';
import { FileBar } from './FileBar.tsx';
import { Filters } from './Filters.tsx';
import { List } from './List.tsx';
import { openSample, openPicked, openRun } from '../../page/files/openRollouts.ts';
import { WatchLine } from './WatchLine.tsx';
import { StepCurves } from './StepCurves.tsx';
import { table, useRollouts, type RolloutsView } from '../../page/files/rolloutFileStore.ts';
import { RecordView, RecordHead } from './RecordView.tsx';
import { StepsComparison } from './StepsComparison.tsx';
import { useReadRollouts } from '../../page/files/useRead.ts';
import { shortNumber } from '../../page/words/numberText.ts';
import { groupStats } from '../../page/rollout/readRollout.ts';
import { RecordTokens } from './RecordTokens.tsx';
import { ownFormat } from '../../rollouts/ownFormat.ts';
import { FORMATS } from '../../rollouts/rolloutFormats.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { type RolloutFile, ROLLOUT_FILES, saveRollouts } from '../../page/files/saveRollouts.ts';
import './rollouts.css';

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
        {open ? <OpenFiles /> : <Welcome />}
      </main>
      <StatusLine />
    </>
  );
}

function OpenFiles() {
  const list = useListedRows();
  const means = useMemo(() => meansByStep(table.columns, list), [list]);
  const openingId = useRollouts((s) => s.openingId);
  return (
    <>
      <FileBar />
      <div className="rollouts-body">
        <section className="panel rollouts-list col gap-3 low" aria-label="Rollouts">
          <Filters key={openingId} shown={list.length} />
          <List list={list} />
        </section>
        <section className="rollouts-look col gap-4 low scrolls" aria-label="Selected rollouts">
          <StepCurves means={means} />
          <RolloutDetails {...{ list, means }} />
        </section>
      </div>
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

/** The listed rows, in order; computed only when the table, order, filter or search changes. */
function useListedRows(): Int32Array {
  const version = useRollouts((s) => s.version);
  const filter = useRollouts((s) => s.filter);
  const hits = useRollouts((s) => s.hits);
  const order = useRollouts((s) => s.order);
  // depends on `version` because the table grows in place
  const all = useMemo(
    () => (version < 0 ? new Int32Array() : sortedRows(table.columns, table.rows, order)),
    [version, order],
  );
  return useMemo(() => filteredRows(all, table.columns, filter, hits), [all, filter, hits]);
}

const LOOK_LABELS: Readonly<Record<RolloutsView, string>> = {
  rollout: 'One rollout',
  pair: 'Two rollouts',
  group: 'Its group',
  steps: 'Two steps',
};

interface Props {
  readonly list: Int32Array;
  readonly means: MeansByStep; // of `list`
}

export function RolloutDetails({ list, means }: Props) {
  const look = useRollouts((s) => s.look);
  const row = useRollouts((s) => s.row);
  const reading = useRollouts((s) => s.reading !== null);
  return (
    <>
      <div className="segments looks" role="group" aria-label="Look at">
        {Object.entries(LOOK_LABELS).map(([name, label]) => (
          <button
            key={name}
            type="button"
            aria-pressed={look === name}
            onClick={() => useRollouts.setState({ look: name as RolloutsView })}
          >
            {label}
          </button>
        ))}
      </div>
      {look === 'steps' ? (
        <StepsComparison list={list} steps={means.steps} />
      ) : row === null ? (
        <p className="empty">{reading ? 'Reading…' : 'These files hold no rollouts.'}</p>
      ) : look === 'pair' ? (
        <Suspense fallback={<p className="empty">Reading…</p>}>
          <RecordPair key={row} row={row} next={nextOfGroup(row)} />
        </Suspense>
      ) : look === 'group' ? (
        <GroupLook row={row} />
      ) : (
        <RolloutLook row={row} />
      )}
    </>
  );
}

const RecordPair = lazy(() => import('./RecordPair.tsx').then((m) => ({ default: m.RecordPair })));

/** The rollout after this one in its group, or another row if it has no group. */
function nextOfGroup(row: number): number {
  const rows = groupOf(row);
  return rows.length > 1 ? rows[(rows.indexOf(row) + 1) % rows.length]! : row > 0 ? row - 1 : 1;
}

function RolloutLook({ row }: { readonly row: number }) {
  const [read] = useReadRollouts([row]);
  return read ? <RecordView read={read} /> : <p className="empty">Reading…</p>;
}

const MAX_SIDE_BY_SIDE = 16; // rollouts of a group

/** The rollouts of one group side by side, best first. */
function GroupLook({ row }: { readonly row: number }) {
  const version = useRollouts((s) => s.version);
  const rows = useMemo(() => (version < 0 ? [] : groupOf(row)), [row, version]);
  const read = useReadRollouts(rows.slice(0, MAX_SIDE_BY_SIDE));
  const rewards = rows.map((each) => table.columns.reward[each] ?? NaN).filter((reward) => !Number.isNaN(reward));
  const { mean, std } = groupStats(rewards);
  if (rows.length < 2) {
    return <p className="empty">No other rollout of this group is open, or the file has no groups.</p>;
  }
  return (
    <>
      <p className="soft">
        {rows.length} rollouts of one group
        {rows.length > MAX_SIDE_BY_SIDE ? `, the first ${MAX_SIDE_BY_SIDE} of them shown` : ''}: rewards{' '}
        {shortNumber(mean)} ± {shortNumber(std)}
        {std === 0 && rewards.length > 1 && '; all equal, so this group teaches nothing'}.
      </p>
      <div className="beside" data-testid="group-look" role="region" aria-label="Its group, side by side" tabIndex={0}>
        {read.map((each) =>
          'record' in each ? (
            <article key={each.row} className="panel record col gap-4 thin" data-chosen={each.row === row}>
              <RecordHead record={each.record} row={each.row} brief />
              <RecordTokens record={each.record} channel={null} brief />
            </article>
          ) : null,
        )}
      </div>
    </>
  );
}

/** Rows of a rollout's group, by falling reward; only the row itself if it has no group. */
function groupOf(row: number): number[] {
  const { group, reward, file } = table.columns;
  const ownGroup = group[row] ?? -1;
  if (ownGroup < 0) return [row];
  const rows: number[] = [];
  for (let each = 0; each < table.rows; each++) if (group[each] === ownGroup && file[each]! >= 0) rows.push(each);
  const rewardOf = (each: number) => (Number.isNaN(reward[each] ?? NaN) ? -Infinity : reward[each]!);
  return rows.sort((a, b) => rewardOf(b) - rewardOf(a) || a - b);
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
