import { useState, type ReactNode, useMemo } from 'react';
import { RewardChip } from '../parts/RewardChip.tsx';
import { visible } from '../../base/visible.ts';
import {
  absentOf,
  type RolloutRecord,
  TOKEN_CHANNEL_NAMES,
  TOKEN_CHANNELS,
  type TokenChannel,
} from '../../rollouts/rolloutRecord.ts';
import type { ReadRollout } from '../../wire/readerMessages.ts';
import { short, signed } from '../parts/numberText.ts';
import type { Channel, ChannelView } from '../rollout/channels.ts';
import { RecordTokens } from './RecordTokens.tsx';
import type { KeptBatch } from '../../domain/batch.ts';
import { ChannelBar } from '../rollout/ChannelBar.tsx';
import { channelLooks } from '../rollout/channelLooks.ts';
import { readWords, type Rollout } from '../rollout/readRollout.ts';
import { rowAnnotations } from '../rollout/rowAnnotations.tsx';
import { LongTokens } from './LongTokens.tsx';
import { table, useRollouts } from './rolloutFileStore.ts';
import { useRead } from './useRead.ts';
import { STOPS } from '../rollout/kinds.ts';

/** What is shown of a rollout: a channel as in the lab, a list as the file has it, or its text. */
type Shown =
  | { readonly of: 'lab'; readonly channel: Channel }
  | { readonly of: 'file'; readonly channel: TokenChannel }
  | { readonly of: 'text' };

/** Lists that the lab's channels show of a rollout of this page. */
const IN_THE_LAB: ReadonlySet<TokenChannel> = new Set(['loss', 'advantage', 'push', 'entropy', 'value', 'reward']);

/** What was chosen, or what this rollout has in its place. */
function shownOf({ batch, tokens }: RolloutRecord, chosen: Shown): Shown {
  if (chosen.of === 'lab' && !batch) return { of: 'text' };
  if (chosen.of !== 'file' || (tokens?.channels[chosen.channel] && !(batch && IN_THE_LAB.has(chosen.channel))))
    return chosen;
  return batch ? { of: 'lab', channel: 'mask' } : { of: 'text' };
}

/** One rollout in full: what is known of it, its tokens as the lab shows them or its text, and a number of each token where the file has some. */
export function RecordView({ read }: { readonly read: ReadRollout }) {
  const [view, setView] = useState<Shown>({ of: 'lab', channel: 'mask' });
  if ('problem' in read) {
    return (
      <p className="note bad" role="alert">
        Rollout {read.row}: {read.problem}.
      </p>
    );
  }
  const { record, row } = read;
  const own = record.batch !== undefined;
  const shown = shownOf(record, view);
  const lists = TOKEN_CHANNEL_NAMES.filter((name) => record.tokens?.channels[name] && !(own && IN_THE_LAB.has(name)));
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
    <article className="panel record" aria-label="Rollout" data-testid="record">
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
  readonly brief?: boolean; // beside others of its step
}

/** What is known of a rollout in a line. */
export function RecordHead({ record, row, brief = false }: HeadProps) {
  const { reward, success, turns, toolCalls, stop, guessed } = record;
  const [step, group] = brief ? [null, null] : [record.step, record.group];
  return (
    <header className="stack">
      <div className="row">
        <h2 className="cut">{record.id === null ? `Rollout ${row}` : visible(record.id, 48)}</h2>
        {reward !== null && <RewardChip amount={reward}>reward {signed(reward)}</RewardChip>}
        {success !== null && <span className="chip">{success ? 'solved' : 'not solved'}</span>}
        {step !== null && <span className="chip">step {short(step)}</span>}
        {group !== null && <span className="chip">group {visible(group, 24)}</span>}
        {turns !== null && <span className="chip">{counted(turns, 'turn')}</span>}
        {toolCalls !== null && <span className="chip">{counted(toolCalls, 'call')}</span>}
        {stop !== null && <span className="chip">{stopWords(stop)}</span>}
        {guessed.length > 0 && (
          <span className="chip warn" title="The file doesn’t say this: it was computed.">
            guessed: {guessed.join(', ')}
          </span>
        )}
      </div>
    </header>
  );
}

function counted(count: number, what: string): string {
  return `${short(count)} ${what}${count === 1 ? '' : 's'}`;
}

/** Parts of the reward, what else the line holds, and what it does not. */
function RecordFacts({ record }: { readonly record: RolloutRecord }) {
  const absent = absentOf(record);
  return (
    <>
      {record.rewardParts.length > 0 && (
        <p className="small soft">
          Reward: {record.rewardParts.map(([name, amount]) => `${visible(name, 40)} ${signed(amount)}`).join(' · ')}
          {record.advantage !== null && ` · advantage ${signed(record.advantage)}`}
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
  readonly kept: KeptBatch; // the record's
  readonly channel: Channel | null; // null: something else is shown, and only the choice is drawn
  readonly choose: (channel: Channel) => void;
  readonly children: ReactNode; // between the channels and the tokens
}

/** A rollout that this page wrote, token by token as the lab showed it: the same channels, masks and numbers. */
function OwnTokens({ record, row, kept, channel, choose, children }: Props) {
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

/** How a rollout of a file ended, in the page's own words where it knows them. */
function stopWords(stop: string): string {
  return Object.entries(STOPS).find(([name]) => name === stop)?.[1] ?? visible(stop, 24);
}
