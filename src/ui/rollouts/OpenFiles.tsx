import { lazy, Suspense, useMemo } from 'react';
import { meansByStep, filteredRows, sortedRows, type MeansByStep } from '../../rollouts/select.ts';
import { FileBar } from './FileBar.tsx';
import { Filters } from './Filters.tsx';
import { List } from './List.tsx';
import { StepCurves } from './StepCurves.tsx';
import { table, useRollouts, type RolloutsView } from '../../page/files/rolloutFileStore.ts';
import { RecordView, RecordHead } from './RecordView.tsx';
import { StepsComparison } from './StepsComparison.tsx';
import { useReadRollouts } from '../../page/files/useRead.ts';
import { shortNumber } from '../../page/words/numberText.ts';
import { groupStats } from '../../page/rollout/readRollout.ts';
import { RecordTokens } from './RecordTokens.tsx';
import './rollouts.css';

/** The open files of rollouts: what was read, the list, curves by step, and the chosen rollout. */
export function OpenFiles() {
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
