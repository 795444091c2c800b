import { type ReactNode, useMemo } from 'react';
import type { KeptBatch } from '../../domain/batch.ts';
import type { RolloutRecord } from '../../rollouts/rolloutRecord.ts';
import { ChannelBar } from '../rollout/ChannelBar.tsx';
import { channelLooks } from '../rollout/channelLooks.ts';
import type { Channel, ChannelView } from '../rollout/channels.ts';
import { readWords, type Rollout } from '../rollout/readRollout.ts';
import { rowAnnotations } from '../rollout/rowAnnotations.tsx';
import { LongTokens } from './LongTokens.tsx';
import { table, useRollouts } from './rolloutFileStore.ts';
import { stopWords } from './stopWords.ts';
import { useRead } from './useRead.ts';

interface Props {
  readonly record: RolloutRecord;
  readonly row: number;
  readonly kept: KeptBatch; // the record's
  readonly channel: Channel | null; // null: something else is shown, and only the choice is drawn
  readonly choose: (channel: Channel) => void;
  readonly children: ReactNode; // between the channels and the tokens
}

/** A rollout that this page wrote, token by token as the lab showed it: the same channels, masks and numbers. */
export function OwnTokens({ record, row, kept, channel, choose, children }: Props) {
  const rollout = useMemo(() => ownRollout(record, kept), [record, kept]);
  const view = useMemo(() => viewOf(kept), [kept]);
  const beside = useBatchMates(row);
  const looks = useMemo(() => channelLooks(rollout, view, beside), [rollout, view, beside]);
  const around = useMemo(() => {
    const stop = record.stop === null ? null : stopWords(record.stop);
    return rowAnnotations({ batch: kept.batch, row: 0, length: rollout.words.length, stop });
  }, [record, kept, rollout]);
  return (
    <>
      <div className="own-channels">
        <ChannelBar {...{ view, channel, choose }} scale={channel ? looks.scale(channel) : 0} preview={null} />
      </div>
      {children}
      {channel !== null && (
        <LongTokens
          key={row}
          {...{ channel, around, looks: looks.of, turns: rollout.turns, setting: rollout.writing }}
        />
      )}
    </>
  );
}

/** A rollout that the page itself wrote, ready to read as in the lab. */
export function ownRollout({ tokens }: RolloutRecord, { batch }: KeptBatch): Omit<Rollout, 'row'> {
  return readWords(tokens?.words ?? [], tokens?.writing ?? 'words', batch);
}

const viewOf = ({ batch, config }: KeptBatch): ChannelView => ({ batch, config, row: 0, moved: null, opened: true });

/** So many rollouts of a batch are read for the strength of its colours. */
const MOST_MATES = 64; // as many as are kept once they were read
const NOBODY: readonly ChannelView[] = [];

/** The other rollouts of the batch that a row is of: colours are as strong as in the lab once they have been read. */
function useBatchMates(row: number): readonly ChannelView[] {
  const version = useRollouts((s) => s.version);
  const rows = useMemo(() => (version < 0 ? [] : matesOf(row)), [row, version]);
  const read = useRead(rows);
  return useMemo(() => {
    const others = new Set(rows.filter((each) => each !== row));
    const views = read.flatMap((each) =>
      others.has(each.row) && 'record' in each && each.record.batch ? [viewOf(each.record.batch)] : [],
    );
    return views.length === 0 ? NOBODY : views;
  }, [read, rows, row]);
}

function matesOf(row: number): number[] {
  const { step, file } = table.columns;
  const mates: number[] = [];
  for (let each = 0; each < table.rows && mates.length < MOST_MATES; each++) {
    if (file[each] === file[row] && step[each] === step[row]) mates.push(each);
  }
  return mates;
}
