import { useMemo } from 'react';
import type { EpisodeView } from '../../domain/episode.ts';
import { Role } from '../../domain/tokens.ts';
import { table, useRollouts } from '../../page/files/rolloutFileStore.ts';
import { useReadRollouts } from '../../page/files/useRead.ts';
import { type ComparedRollout, comparedRecord, comparedRow } from '../../page/rollout/parting.ts';
import type { Rollout } from '../../page/rollout/readRollout.ts';
import type { RolloutSource } from '../../page/training/inspect.ts';
import { useShownRollout } from '../../page/view/currentRollout.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { exactNumber } from '../../page/words/numberText.ts';
import { NumberInput } from '../parts/NumberInput.tsx';
import { PartingView } from '../tokens/PartingView.tsx';
import { RunDistribution } from '../tokens/RunDistribution.tsx';

const FILE = 'file-';

interface Props {
  readonly members: readonly { readonly episode: EpisodeView; readonly rollout: Rollout }[]; // of the group
}

/** The chosen rollout beside another one of its group or of an opened file, and the choice of that one. */
export function Beside({ members }: Props) {
  const { rollout } = useShownRollout();
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
            <option value="">choose a rollout</option>
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
      {beside !== '' && <Compared row={at} {...{ isFile, opened, nameOf }} />}
    </>
  );
}

function choose(beside: string, row = 0): void {
  useSelection.setState({ beside: beside === FILE ? `${FILE}${row}` : beside });
}

interface ComparedProps {
  readonly row: number; // of the batch, or of the opened files
  readonly isFile: boolean;
  readonly opened: number; // rollouts of the opened files
  readonly nameOf: (row: number) => string;
}

function Compared({ row, isFile, opened, nameOf }: ComparedProps) {
  const { batch, rollout } = useShownRollout();
  const config = useLive((s) => s.batchConfig);
  const isThere = isFile ? row < opened : row < batch.rows && row !== rollout.row;
  const fileRows = useMemo(() => (isFile && isThere ? [row] : []), [isFile, isThere, row]);
  const read = useReadRollouts(fileRows).find((each) => each.row === row); // while it reads, the previous one stays
  const record = read && 'record' in read ? read.record : null;
  const [chosenName, otherName] = [nameOf(rollout.row), isFile ? `rollout ${row} of the file` : nameOf(row)];
  const { vocabulary } = useLive.getState();
  const a = useMemo(() => comparedRow(chosenName, batch, vocabulary, rollout.row), [chosenName, batch, vocabulary, rollout]); // prettier-ignore
  const b = useMemo(() => {
    if (!isThere) return null;
    return isFile ? record && comparedRecord(otherName, record) : comparedRow(otherName, batch, vocabulary, row);
  }, [isThere, isFile, record, otherName, batch, vocabulary, row]);
  const sources = useMemo(
    () => config && ([{ batch, row: rollout.row, config }, isFile ? null : { batch, row, config }] as const),
    [batch, rollout, row, config, isFile],
  );
  if (b) {
    return <PartingView {...{ a, b }}>{(t) => sources && <DistributionThere {...{ a, b, sources, t }} />}</PartingView>;
  }
  if (isThere) return <p className="empty">Reading…</p>;
  return (
    <p className="empty">
      {isFile
        ? 'This link needs a file that isn’t open. Open it in Rollouts.'
        : 'Choose another rollout: this one isn’t in the batch, or it’s the chosen one.'}
    </p>
  );
}

interface DistributionProps {
  readonly a: ComparedRollout;
  readonly b: ComparedRollout;
  readonly sources: readonly [a: RolloutSource | null, b: RolloutSource | null]; // null: the run can't be asked about this rollout
  readonly t: number;
}

/** Both have the same words before the token at `t`, so one policy has one distribution there. */
function DistributionThere({ a, b, sources, t }: DistributionProps) {
  const vocabulary = useLive((s) => s.vocabulary);
  const source = sources.find((each) => each?.batch.roles[each.row * each.batch.length + t] === Role.action);
  const owners = useMemo(() => {
    const entries = [a, b].map(({ text }, side): [number, string] => {
      const own = sources[side];
      const id = own ? own.batch.tokens[own.row * own.batch.length + t] : vocabulary.indexOf(text.words[t] ?? '');
      return [t < text.words.length ? (id ?? -1) : -1, side === 0 ? 'A' : 'B'];
    });
    return new Map(entries.filter(([id]) => id >= 0));
  }, [a, b, sources, t, vocabulary]);
  return source ? <RunDistribution {...{ source, t, owners }} /> : null;
}
