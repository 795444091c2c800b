import { type ReactNode, useMemo, useState, useEffect, useRef } from 'react';
import { count, short } from '../parts/numberText.ts';
import type { Look, Setting, ShownTurn } from '../rollout/tokenLook.ts';
import { type TokenAnnotations, TokenView } from '../rollout/TokenView.tsx';
import { chunksOf, SHOWN, piecesOf } from './chunks.ts';

// heights of what nobody has looked at, roughly
const LINE = 48; // px of a span
const TOKENS_A_PX = 0.4;

interface Props<Channel> {
  readonly turns: readonly ShownTurn[];
  readonly setting: Setting;
  readonly channel: Channel;
  readonly looks: (channel: Channel) => Look;
  readonly around: TokenAnnotations; // the same object again, or all is drawn again
  readonly brief?: boolean; // beside others: less is shown of a long text
}

/** The tokens or texts of a rollout of any length: of a long one only what is in view is drawn. */
export function LongTokens<Channel>({ turns, around, brief = false, ...shown }: Props<Channel>) {
  const { setting } = shown;
  const chunks = useMemo(() => chunksOf(turns), [turns]);
  const inParts = useMemo((): TokenAnnotations => {
    const text = (its: string, tokens: number) => <SpanText text={its} {...{ tokens, brief }} />;
    return { ...around, text, parts: (tokens, draw) => <Parts {...{ tokens, setting, draw }} /> };
  }, [around, brief, setting]);
  return (
    <div className={brief ? 'record-tokens brief' : 'record-tokens'}>
      {chunks.map((chunk, c) => (
        <Chunk key={c} first={c === 0} height={chunk.reduce((sum, { spans }) => sum + LINE * spans.length, 0)}>
          {() => <TokenView {...shown} turns={chunk} around={inParts} className="chunk" atOnce />}
        </Chunk>
      ))}
    </div>
  );
}

interface PartsProps {
  readonly tokens: readonly number[];
  readonly setting: Setting;
  readonly draw: (part: readonly number[]) => ReactNode;
}

/** The tokens of a long span. At first it has only the first ones, and a button adds the rest. Only those in view are drawn. */
function Parts({ tokens, setting, draw }: PartsProps) {
  const [whole, setWhole] = useState(false);
  if (tokens.length <= SHOWN.tokens) return draw(tokens);
  const shown = whole ? tokens : tokens.slice(0, SHOWN.tokens);
  const parts = Array.from({ length: Math.ceil(shown.length / SHOWN.tokens) }, (_, i) =>
    shown.slice(i * SHOWN.tokens, (i + 1) * SHOWN.tokens),
  );
  return (
    <>
      {parts.map((part, i) => (
        <Chunk key={i} first={i === 0} height={part.length / TOKENS_A_PX}>
          {() => (
            <span className="span-tokens" data-writing={setting}>
              {draw(part)}
            </span>
          )}
        </Chunk>
      ))}
      {!whole && (
        <button type="button" className="quiet small" onClick={() => setWhole(true)}>
          all {count(tokens.length)} tokens
        </button>
      )}
    </>
  );
}

const CHARACTERS_A_PX = 4;

interface SpanTextProps {
  readonly text: string;
  readonly tokens: number; // that the text stands for
  readonly brief?: boolean | undefined; // beside others: less of it is shown
}

/** A span as text, where there are no tokens to show: of a long one the beginning, until a reader asks for all. */
function SpanText({ text, tokens, brief = false }: SpanTextProps) {
  const [whole, setWhole] = useState(false);
  if (text === '') return <p className="span-text faint">{tokens} tokens; the file has no text for them</p>;
  if (whole) {
    return (
      <div className="span-text">
        {piecesOf(text.trim()).map((piece, i) => (
          <Chunk key={i} first={i === 0} height={piece.length / CHARACTERS_A_PX}>
            {() => piece}
          </Chunk>
        ))}
      </div>
    );
  }
  const most = brief ? SHOWN.characters / 4 : SHOWN.characters;
  return (
    <p className="span-text">
      {text.length <= most ? text.trim() : `${text.slice(0, most).trim()}…`}
      {text.length > most && (
        <button type="button" className="quiet small" onClick={() => setWhole(true)}>
          all {short(text.length)} characters
        </button>
      )}
    </p>
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
