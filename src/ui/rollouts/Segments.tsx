import { type CSSProperties, useMemo, useState, type ReactNode, useEffect, useRef } from 'react';
import {
  type RolloutRecord,
  type RolloutTokens,
  type Segment,
  TOKEN_CHANNELS,
  type TokenChannel,
} from '../../rollouts/rolloutRecord.ts';
import { short, signed } from '../parts/numberText.ts';
import { fullStrength } from '../parts/strength.ts';
import { SpanLabel } from '../rollout/SpanLabel.tsx';
import { chunksOf, piecesOf, SHOWN } from './chunks.ts';
import { SPAN_KINDS } from '../rollout/kinds.ts';

// heights of what nobody has looked at, roughly
const LINE = 48; // px of a segment
const CHARACTERS_A_PX = 4;
const TOKENS_A_PX = 0.4;

interface Props {
  readonly record: RolloutRecord;
  readonly channel: TokenChannel | null; // null: flowing text
  readonly short?: boolean; // beside others
}

/**
 * A rollout as flowing text, stretch after stretch in the colour of who wrote it; or its tokens, each with a number. Of a long one only
 * what is in view is drawn.
 */
export function Segments({ record: { segments, tokens }, channel, short: brief = false }: Props) {
  const values = channel === null ? undefined : tokens?.channels[channel];
  const scale = useMemo(
    () => fullStrength((values ?? []).flatMap((value) => (value ? [Math.abs(value)] : []))),
    [values],
  );
  const chunks = useMemo(() => chunksOf(segments, values !== undefined), [segments, values]);
  const draw = (segment: Segment, i: number) => (
    <section key={i} className="segment" data-kind={segment.kind} data-turn={segment.turn}>
      <SpanLabel of={SPAN_KINDS[segment.kind]} />
      {tokens && channel !== null && values && segment.from !== null && segment.to !== null ? (
        <Tokens {...{ tokens, channel, values, scale, segment }} />
      ) : (
        <Text text={segment.text} tokens={segment.from === null ? 0 : (segment.to ?? 0) - segment.from} brief={brief} />
      )}
    </section>
  );
  return (
    <div className="segments-of" data-brief={brief}>
      {chunks.map(([from, to], c) => (
        <Chunk key={from} first={c === 0} height={LINE * (to - from)}>
          {() => segments.slice(from, to).map((segment, i) => draw(segment, from + i))}
        </Chunk>
      ))}
    </div>
  );
}

function Text({ text, tokens, brief }: { readonly text: string; readonly tokens: number; readonly brief: boolean }) {
  const [whole, setWhole] = useState(false);
  const most = brief ? SHOWN.characters / 4 : SHOWN.characters;
  if (text === '') return <p className="segment-text faint">{tokens} tokens; the file has no text for them</p>;
  if (whole) {
    return (
      <div className="segment-text">
        {piecesOf(text.trim()).map((piece, i) => (
          <Chunk key={i} first={i === 0} height={piece.length / CHARACTERS_A_PX}>
            {() => piece}
          </Chunk>
        ))}
      </div>
    );
  }
  return (
    <p className="segment-text">
      {text.length <= most ? text.trim() : `${text.slice(0, most).trim()}…`}
      {text.length > most && (
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

function Tokens({ segment, ...shown }: TokensProps) {
  const [whole, setWhole] = useState(false);
  const { from, to } = { from: segment.from ?? 0, to: segment.to ?? 0 };
  const end = whole ? to : Math.min(to, from + SHOWN.tokens);
  const begins = Array.from({ length: Math.ceil((end - from) / SHOWN.tokens) }, (_, i) => from + i * SHOWN.tokens);
  return (
    <div>
      {begins.map((begin, i) => {
        const before = Math.min(end, begin + SHOWN.tokens);
        return (
          <Chunk key={begin} first={i === 0} height={(before - begin) / TOKENS_A_PX}>
            {() => (
              <p className="segment-text segment-tokens">
                {Array.from({ length: before - begin }, (_, k) => (
                  <Token key={k} {...shown} t={begin + k} />
                ))}
              </p>
            )}
          </Chunk>
        );
      })}
      {end < to && (
        <button type="button" className="quiet small" onClick={() => setWhole(true)}>
          all {short(to - from)} tokens
        </button>
      )}
    </div>
  );
}

function Token({ tokens, channel, values, scale, t }: Omit<TokensProps, 'segment'> & { readonly t: number }) {
  const { ramp } = TOKEN_CHANNELS[channel];
  const value = values[t] ?? null;
  const share = value === null || scale === 0 ? 0 : Math.min(1, Math.abs(value) / scale);
  return (
    <span
      className="token"
      data-ramp={value === null ? 'none' : ramp}
      data-na={value === null}
      data-sign={(value ?? 0) < 0 ? 'down' : 'up'}
      style={{ '--share': share.toFixed(3) } as CSSProperties}
      title={`token ${t}, id ${tokens.ids[t]}${tokens.words ? '' : ': the file has no word for it'}`}
    >
      <span className="word">{tokens.words?.[t] ?? `#${tokens.ids[t]}`}</span>{' '}
      <span className="token-value">{value === null ? '–' : ramp === 'diverging' ? signed(value) : short(value)}</span>
    </span>
  );
}

interface ChunkProps {
  readonly first: boolean; // drawn before anybody has looked where it lies
  readonly height: number; // px, roughly, until it has been drawn
  readonly children: () => ReactNode;
}

const AHEAD = '1200px'; // drawn that far before it comes into view

/** A part of something long: drawn where it is in view or nearly, an empty space of the same height elsewhere. */
function Chunk({ first, height, children }: ChunkProps) {
  const box = useRef<HTMLDivElement>(null);
  const [space, setSpace] = useState(first ? null : height); // null: it is drawn
  useEffect(() => {
    const { current } = box;
    if (!current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const entry = entries.at(-1);
        if (entry) setSpace((was) => (entry.isIntersecting ? null : (was ?? entry.boundingClientRect.height)));
      },
      { rootMargin: AHEAD },
    );
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} style={space === null ? undefined : { height: space }}>
      {space === null && children()}
    </div>
  );
}
