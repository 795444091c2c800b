import { useContext, useState, type ReactNode, useMemo } from 'react';
import { RewardChip } from '../parts/RewardChip.tsx';
import { visible } from '../../base/visible.ts';
import {
  missingValues,
  type RolloutRecord,
  TOKEN_CHANNEL_NAMES,
  TOKEN_CHANNELS,
  type TokenChannel,
} from '../../rollouts/rolloutRecord.ts';
import type { ReadRollout } from '../../wire/readerMessages.ts';
import { shortNumber, signedNumber } from '../../page/words/numberText.ts';
import type { Channel, ChannelView } from '../../page/rollout/channels.ts';
import { RecordTokens } from './RecordTokens.tsx';
import type { KeptBatch } from '../../domain/batch.ts';
import { ChannelBar } from '../tokens/ChannelBar.tsx';
import { channelLooks } from '../../page/rollout/channelLooks.ts';
import { readWords, type Rollout } from '../../page/rollout/readRollout.ts';
import { rowAnnotations } from '../tokens/rowAnnotations.tsx';
import { LongTokens } from './LongTokens.tsx';
import { table, useRollouts } from '../../page/files/rolloutFileStore.ts';
import { PageActions } from './pageActions.ts';
import { useReadRollouts } from '../../page/files/useRead.ts';
import { STOP_TEXTS } from '../../page/rollout/kinds.ts';

/** What colours the tokens of a rollout: a channel as in the lab or a list of numbers from the file; or plain text. */
type RecordChannel =
  | { readonly of: 'lab'; readonly channel: Channel }
  | { readonly of: 'file'; readonly channel: TokenChannel }
  | { readonly of: 'text' };

/** Lists of the file that are shown as lab channels, if this page wrote the rollout. */
const LAB_CHANNEL_LISTS: ReadonlySet<TokenChannel> = new Set([
  'loss',
  'advantage',
  'push',
  'entropy',
  'value',
  'reward',
]);

/** What to show: the chosen view, or a replacement if this rollout doesn't have it. */
function availableView({ batch, tokens }: RolloutRecord, chosen: RecordChannel): RecordChannel {
  if (chosen.of === 'lab' && !batch) return { of: 'text' };
  if (chosen.of !== 'file' || (tokens?.channels[chosen.channel] && !(batch && LAB_CHANNEL_LISTS.has(chosen.channel))))
    return chosen;
  return batch ? { of: 'lab', channel: 'mask' } : { of: 'text' };
}

export function RecordView({ read }: { readonly read: ReadRollout }) {
  const [view, setView] = useState<RecordChannel>({ of: 'lab', channel: 'mask' });
  if ('problem' in read) {
    return (
      <p className="note bad" role="alert">
        Rollout {read.row}: {read.problem}.
      </p>
    );
  }
  const { record, row } = read;
  const isOwn = record.batch !== undefined;
  const shown = availableView(record, view);
  const lists = TOKEN_CHANNEL_NAMES.filter(
    (name) => record.tokens?.channels[name] && !(isOwn && LAB_CHANNEL_LISTS.has(name)),
  );
  const fileChannels = (
    <div className="segments channels" role="group" aria-label="Numbers of tokens">
      <button type="button" aria-pressed={shown.of === 'text'} onClick={() => setView({ of: 'text' })}>
        Text
      </button>
      {lists.map((name) => (
        <button
          key={name}
          type="button"
          title={TOKEN_CHANNELS[name].doc}
          aria-pressed={shown.of === 'file' && shown.channel === name}
          onClick={() => setView({ of: 'file', channel: name })}
        >
          {TOKEN_CHANNELS[name].label}
        </button>
      ))}
    </div>
  );
  return (
    <article className="panel record col gap-4 thin" aria-label="Rollout" data-testid="record">
      <RecordHead record={record} row={row} />
      {record.batch ? (
        <OwnTokens
          {...{ record, row, kept: record.batch }}
          channel={shown.of === 'lab' ? shown.channel : null}
          choose={(channel) => setView({ of: 'lab', channel })}
        >
          {fileChannels}
        </OwnTokens>
      ) : (
        lists.length > 0 && fileChannels
      )}
      {shown.of === 'file' && <p className="small soft">{TOKEN_CHANNELS[shown.channel].doc}</p>}
      {shown.of !== 'lab' && (
        <RecordTokens key={row} record={record} channel={shown.of === 'file' ? shown.channel : null} />
      )}
      <RecordFacts record={record} />
    </article>
  );
}

interface HeadProps {
  readonly record: RolloutRecord;
  readonly row: number;
  readonly brief?: boolean; // one of several side by side: leaves out step and group
}

export function RecordHead({ record, row, brief = false }: HeadProps) {
  const { reward, success, turns, toolCalls, stop, guessed } = record;
  const [step, group] = brief ? [null, null] : [record.step, record.group];
  return (
    <header className="stack">
      <div className="row">
        <h2 className="cut">{record.id === null ? `Rollout ${row}` : visible(record.id, 48)}</h2>
        {reward !== null && <RewardChip amount={reward}>reward {signedNumber(reward)}</RewardChip>}
        {success !== null && <span className="chip">{success ? 'solved' : 'not solved'}</span>}
        {step !== null && <span className="chip">step {shortNumber(step)}</span>}
        {group !== null && <span className="chip">group {visible(group, 24)}</span>}
        {turns !== null && <span className="chip">{countText(turns, 'turn')}</span>}
        {toolCalls !== null && <span className="chip">{countText(toolCalls, 'call')}</span>}
        {stop !== null && <span className="chip">{stopWords(stop)}</span>}
        {guessed.length > 0 && (
          <span className="chip warn" title="The file doesn’t say this: it was computed.">
            guessed: {guessed.join(', ')}
          </span>
        )}
        {!brief && !record.batch && <TryHere record={record} />}
      </div>
    </header>
  );
}

function TryHere({ record }: { readonly record: RolloutRecord }) {
  const actions = useContext(PageActions);
  return (
    actions && (
      <button
        type="button"
        className="small end"
        title="Opens the lab with the nearest task, and with this run’s settings if its config.yaml was opened with it"
        onClick={() => actions.tryHere(record)}
      >
        Try this here
      </button>
    )
  );
}

function countText(count: number, what: string): string {
  return `${shortNumber(count)} ${what}${count === 1 ? '' : 's'}`;
}

function RecordFacts({ record }: { readonly record: RolloutRecord }) {
  const absent = missingValues(record);
  return (
    <>
      {record.rewardParts.length > 0 && (
        <p className="small soft">
          Reward:{' '}
          {record.rewardParts.map(([name, amount]) => `${visible(name, 40)} ${signedNumber(amount)}`).join(' · ')}
          {record.advantage !== null && ` · advantage ${signedNumber(record.advantage)}`}
        </p>
      )}
      {absent.length > 0 && (
        <p className="small soft" data-testid="absent">
          Not in this file: {absent.join(', ')}.
        </p>
      )}
      {record.extras.length > 0 && (
        <details className="extras">
          <summary className="small soft">Other fields of this line ({record.extras.length})</summary>
          <dl className="facts">
            {record.extras.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  );
}

interface Props {
  readonly record: RolloutRecord;
  readonly row: number;
  readonly kept: KeptBatch; // batch of the record, with only this rollout
  readonly channel: Channel | null; // null: draws only the choice of channels, because something else is shown
  readonly choose: (channel: Channel) => void;
  readonly children: ReactNode; // between the channels and the tokens
}

function OwnTokens({ record, row, kept, channel, choose, children }: Props) {
  const rollout = useMemo(() => ownRollout(record, kept), [record, kept]);
  const view = useMemo(() => viewOf(kept), [kept]);
  const otherRows = useOtherRows(row);
  const looks = useMemo(() => channelLooks(rollout, view, otherRows), [rollout, view, otherRows]);
  const annotations = useMemo(() => {
    const stop = record.stop === null ? null : stopWords(record.stop);
    return rowAnnotations({ ...kept, row: 0, length: rollout.words.length, stopText: stop });
  }, [record, kept, rollout]);
  return (
    <>
      <div className="own-channels flex wrap">
        <ChannelBar {...{ view, channel, choose }} scale={channel ? looks.scale(channel) : 0} preview={null} />
      </div>
      {children}
      {channel !== null && (
        <LongTokens
          key={row}
          {...{ channel, annotations, looks: looks.lookOf, turns: rollout.turns, layout: rollout.writing }}
        />
      )}
    </>
  );
}

/** A rollout that this page wrote, read into turns and spans as in the lab. */
export function ownRollout({ tokens }: RolloutRecord, { batch }: KeptBatch): Omit<Rollout, 'row'> {
  return readWords(tokens?.words ?? [], tokens?.writing ?? 'words', batch);
}

const viewOf = ({ batch, config }: KeptBatch): ChannelView => ({
  batch,
  config,
  row: 0,
  logprobsAroundUpdate: null,
  isFromFile: true,
});

/** Rollouts of a batch that are read to scale its colours. The store keeps as many rollouts that were read. */
const MAX_BATCH_ROWS = 64;
const NO_ROWS: readonly ChannelView[] = [];

/** The other rollouts of a row's batch. Once they have been read, colours are as strong as in the lab. */
function useOtherRows(row: number): readonly ChannelView[] {
  const version = useRollouts((s) => s.version);
  const rows = useMemo(() => (version < 0 ? [] : batchRowsOf(row)), [row, version]);
  const read = useReadRollouts(rows);
  return useMemo(() => {
    const others = new Set(rows.filter((each) => each !== row));
    const views = read.flatMap((each) =>
      others.has(each.row) && 'record' in each && each.record.batch ? [viewOf(each.record.batch)] : [],
    );
    return views.length === 0 ? NO_ROWS : views;
  }, [read, rows, row]);
}

/** Rows of the same file and step, the given row included; at most `MAX_BATCH_ROWS`. */
function batchRowsOf(row: number): number[] {
  const { step, file } = table.columns;
  const rows: number[] = [];
  for (let each = 0; each < table.rows && rows.length < MAX_BATCH_ROWS; each++) {
    if (file[each] === file[row] && step[each] === step[row]) rows.push(each);
  }
  return rows;
}

/** Text for how a rollout of a file ended: the page's text for a known reason, otherwise the file's. */
function stopWords(stop: string): string {
  return Object.entries(STOP_TEXTS).find(([name]) => name === stop)?.[1] ?? visible(stop, 24);
}
