import { type CSSProperties, useMemo, useState } from 'react';
import {
  type RolloutRecord,
  type RolloutTokens,
  type Segment,
  TOKEN_CHANNELS,
  type TokenChannel,
} from '../../rollouts/rollout.ts';
import { short, signed } from '../parts/format.ts';
import { fullStrength } from '../parts/strength.ts';
import { SpanLabel } from '../rollout/SpanLabel.tsx';
import { SEGMENT_KINDS } from './segmentKinds.ts';

const LONG = 6000; // characters shown of a segment at first
const MANY = 600; // tokens shown of a segment at first

interface Props {
  readonly record: RolloutRecord;
  readonly channel: TokenChannel | null; // null: flowing text
  readonly short?: boolean; // beside others
}

/** A rollout as flowing text, stretch after stretch in the colour of who wrote it; or its tokens, each with a number. */
export function Segments({ record: { segments, tokens }, channel, short: brief = false }: Props) {
  const values = channel === null ? undefined : tokens?.channels[channel];
  const scale = useMemo(
    () => fullStrength((values ?? []).flatMap((value) => (value ? [Math.abs(value)] : []))),
    [values],
  );
  return (
    <div className="segments-of" data-brief={brief}>
      {segments.map((segment, i) => (
        <section key={i} className="segment" data-kind={segment.kind} data-turn={segment.turn}>
          <SpanLabel of={SEGMENT_KINDS[segment.kind]} />
          {tokens && channel !== null && values && segment.from !== null && segment.to !== null ? (
            <Tokens {...{ tokens, channel, values, scale, segment }} />
          ) : (
            <Text
              text={segment.text}
              tokens={segment.from === null ? 0 : (segment.to ?? 0) - segment.from}
              brief={brief}
            />
          )}
        </section>
      ))}
    </div>
  );
}

function Text({ text, tokens, brief }: { readonly text: string; readonly tokens: number; readonly brief: boolean }) {
  const [whole, setWhole] = useState(false);
  const most = brief ? LONG / 4 : LONG;
  if (text === '') return <p className="segment-text faint">{tokens} tokens; the file has no text of them</p>;
  return (
    <p className="segment-text">
      {whole || text.length <= most ? text.trim() : `${text.slice(0, most).trim()}…`}
      {!whole && text.length > most && (
        <button type="button" className="quiet small" onClick={() => setWhole(true)}>
          all {short(text.length)} characters
        </button>
      )}
    </p>
  );
}

interface TokensProps {
  readonly tokens: RolloutTokens;
  readonly channel: TokenChannel;
  readonly values: readonly (number | null)[];
  readonly scale: number;
  readonly segment: Segment;
}

function Tokens({ tokens, channel, values, scale, segment }: TokensProps) {
  const [whole, setWhole] = useState(false);
  const { from, to } = { from: segment.from ?? 0, to: segment.to ?? 0 };
  const end = whole ? to : Math.min(to, from + MANY);
  const { ramp } = TOKEN_CHANNELS[channel];
  return (
    <p className="segment-text segment-tokens">
      {Array.from({ length: end - from }, (_, i) => {
        const t = from + i;
        const value = values[t] ?? null;
        const share = value === null || scale === 0 ? 0 : Math.min(1, Math.abs(value) / scale);
        return (
          <span
            key={t}
            className="token"
            data-ramp={value === null ? 'none' : ramp}
            data-na={value === null}
            data-sign={(value ?? 0) < 0 ? 'down' : 'up'}
            style={{ '--share': share.toFixed(3) } as CSSProperties}
            title={`token ${t}, id ${tokens.ids[t]}${tokens.words ? '' : ': the file has no word for it'}`}
          >
            <span className="word">{tokens.words?.[t] ?? `#${tokens.ids[t]}`}</span>{' '}
            <span className="token-value">
              {value === null ? '–' : ramp === 'diverging' ? signed(value) : short(value)}
            </span>
          </span>
        );
      })}
      {end < to && (
        <button type="button" className="quiet small" onClick={() => setWhole(true)}>
          all {short(to - from)} tokens
        </button>
      )}
    </p>
  );
}
