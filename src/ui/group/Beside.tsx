import { useMemo } from 'react';
import type { EpisodeView } from '../../domain/episode.ts';
import { table, useRollouts } from '../../page/files/rolloutFileStore.ts';
import { useReadRollouts } from '../../page/files/useRead.ts';
import { type ComparedRollout, comparedRecord, comparedRow } from '../../page/rollout/parting.ts';
import type { Rollout } from '../../page/rollout/readRollout.ts';
import { useShownRollout } from '../../page/view/currentRollout.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { exactNumber } from '../../page/words/numberText.ts';
import { NumberInput } from '../parts/NumberInput.tsx';
import { PartingView } from '../tokens/PartingView.tsx';

const FILE = 'file-';
const NO_ROWS: readonly number[] = [];

interface Props {
  readonly members: readonly { readonly episode: EpisodeView; readonly rollout: Rollout }[]; // of the group
}

/** The chosen rollout beside another one of its group or of an opened file, and the choice of that one. */
export function Beside({ members }: Props) {
  const { batch, rollout } = useShownRollout();
  const beside = useSelection((s) => s.beside);
  const opened = useRollouts((s) => s.version > 0) ? table.rows : 0;
  const isFile = beside.startsWith(FILE);
  const at = Number(isFile ? beside.slice(FILE.length) : beside);
  const nameOf = (row: number) => {
    const index = members.findIndex(({ episode }) => episode.row === row);
    return index < 0 ? `rollout ${row + 1} of the batch` : `rollout ${index + 1}`;
  };
  const others = members.filter(({ episode }) => episode.row !== rollout.row);
  const isListed = isFile || beside === '' || others.some(({ episode }) => episode.row === at);
  return (
    <>
      <div className="row">
        <label className="row">
          Compare {nameOf(rollout.row)} with
          <select value={isFile ? FILE : beside} onChange={({ target: { value } }) => choose(value)}>
            <option value="">…</option>
            {others.map(({ episode }) => (
              <option key={episode.row} value={episode.row}>
                {nameOf(episode.row)} (score {exactNumber(episode.reward)})
              </option>
            ))}
            {!isListed && <option value={beside}>{nameOf(at)}</option>}
            <option value={FILE} disabled={opened === 0 && !isFile}>
              {opened > 0 ? 'one of an opened file' : 'one of a file: open it in Rollouts'}
            </option>
          </select>
        </label>
        {isFile && opened > 0 && (
          <NumberInput label="Number" value={at} min={0} max={opened - 1} onChange={(row) => choose(FILE, row)} />
        )}
        {beside !== '' && (
          <button type="button" className="quiet small" onClick={() => choose('')}>
            End comparison
          </button>
        )}
      </div>
      {isFile ? (
        <BesideRecord row={at} isOpen={at < opened} name={nameOf(rollout.row)} />
      ) : beside === '' ? null : at >= batch.rows || at === rollout.row ? (
        <p className="empty">Choose another rollout: this batch has no second rollout {at + 1}.</p>
      ) : (
        <BesideRow row={at} names={[nameOf(rollout.row), nameOf(at)]} />
      )}
    </>
  );
}

function choose(beside: string, row = 0): void {
  useSelection.setState({ beside: beside === FILE ? `${FILE}${row}` : beside });
}

function useChosen(name: string): ComparedRollout {
  const { batch, rollout } = useShownRollout();
  return useMemo(() => comparedRow(name, batch, useLive.getState().vocabulary, rollout.row), [name, batch, rollout]);
}

function BesideRow({ row, names: [name, other] }: { readonly row: number; readonly names: readonly [string, string] }) {
  const { batch, rollout } = useShownRollout();
  const config = useLive((s) => s.batchConfig);
  const a = useChosen(name);
  const b = useMemo(() => comparedRow(other, batch, useLive.getState().vocabulary, row), [other, batch, row]);
  const sources = useMemo(
    () => config && ([{ batch, row: rollout.row, config }, { batch, row, config }] as const), // prettier-ignore
    [batch, rollout, row, config],
  );
  return <PartingView {...{ a, b, sources }} />;
}

interface BesideRecordProps {
  readonly row: number;
  readonly isOpen: boolean;
  readonly name: string;
}

function BesideRecord({ row, isOpen, name }: BesideRecordProps) {
  const { batch, rollout } = useShownRollout();
  const config = useLive((s) => s.batchConfig);
  const a = useChosen(name);
  const rows = useMemo(() => (isOpen ? [row] : NO_ROWS), [row, isOpen]);
  const [read] = useReadRollouts(rows);
  const record = read && 'record' in read ? read.record : null;
  const b = useMemo(() => record && comparedRecord(`rollout ${row} of the file`, record), [record, row]);
  const sources = useMemo(
    () => config && ([{ batch, row: rollout.row, config }, null] as const),
    [batch, rollout, config],
  );
  if (!isOpen) return <p className="empty">This link needs a file that isn’t open. Open it in Rollouts.</p>;
  return b ? <PartingView {...{ a, b, sources }} /> : <p className="empty">Reading…</p>;
}
