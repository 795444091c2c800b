import { useState } from 'react';
import { RewardChip } from '../parts/RewardChip.tsx';
import { visible } from '../../base/visible.ts';
import { absentOf } from '../../rollouts/missingChannels.ts';
import {
  type RolloutRecord,
  TOKEN_CHANNEL_NAMES,
  TOKEN_CHANNELS,
  type TokenChannel,
} from '../../rollouts/rolloutRecord.ts';
import type { ReadRollout } from '../../wire/readerMessages.ts';
import { short, signed } from '../parts/numberText.ts';
import { STOPS } from '../rollout/kinds.ts';
import { Segments } from './Segments.tsx';

/** One rollout in full: what is known of it, its text by who wrote it, a number of each token where the file has some. */
export function RecordView({ read }: { readonly read: ReadRollout }) {
  const [channel, setChannel] = useState<TokenChannel | null>(null);
  if ('problem' in read) {
    return (
      <p className="note bad" role="alert">
        Rollout {read.row}: {read.problem}.
      </p>
    );
  }
  const { record } = read;
  const has = TOKEN_CHANNEL_NAMES.filter((name) => record.tokens?.channels[name]);
  const drawn = channel !== null && has.includes(channel) ? channel : null;
  return (
    <article className="panel record" aria-label="Rollout" data-testid="record">
      <RecordHead record={record} row={read.row} />
      {has.length > 0 && (
        <div className="segments channels" role="group" aria-label="Numbers of tokens">
          <button type="button" aria-pressed={drawn === null} onClick={() => setChannel(null)}>
            Text
          </button>
          {has.map((name) => (
            <button
              key={name}
              type="button"
              title={TOKEN_CHANNELS[name].doc}
              aria-pressed={drawn === name}
              onClick={() => setChannel(name)}
            >
              {TOKEN_CHANNELS[name].label}
            </button>
          ))}
        </div>
      )}
      {drawn !== null && <p className="small soft">{TOKEN_CHANNELS[drawn].doc}</p>}
      <Segments key={read.row} record={record} channel={drawn} />
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

/** How it ended, in the page's own words where it knows them. */
function stopWords(stop: string): string {
  return Object.entries(STOPS).find(([name]) => name === stop)?.[1] ?? visible(stop, 24);
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
