import { type ReactNode, useMemo, useState, useEffect, useRef } from 'react';
import { count, shortNumber } from '../../page/words/numberText.ts';
import type { Look, TokenLayout, ShownTurn } from '../../page/rollout/tokenLook.ts';
import { type TokenAnnotations, TokenView } from '../tokens/TokenView.tsx';
import { chunksOf, PART_SIZE, piecesOf } from '../../page/files/chunks.ts';

// estimated heights of parts that have not been drawn yet
const SPAN_HEIGHT = 48; // px
const TOKENS_PER_PX = 0.4;

interface Props<Channel> {
  readonly turns: readonly ShownTurn[];
  readonly layout: TokenLayout;
  readonly channel: Channel;
  readonly looks: (channel: Channel) => Look;
  readonly annotations: TokenAnnotations; // pass the same object in every render, or everything is redrawn
  readonly brief?: boolean; // one of several side by side: shows less of a long text
}

/** The tokens or texts of a rollout of any length. Only the parts in view are drawn. */
export function LongTokens<Channel>({ turns, annotations, brief = false, ...shown }: Props<Channel>) {
  const { layout } = shown;
  const chunks = useMemo(() => chunksOf(turns), [turns]);
  const inParts = useMemo((): TokenAnnotations => {
    const text = (content: string, tokens: number) => <SpanText text={content} {...{ tokens, brief }} />;
    return {
      ...annotations,
      renderText: text,
      renderParts: (tokens, draw) => <TokenParts {...{ tokens, layout, draw }} />,
    };
  }, [annotations, brief, layout]);
  return (
    <div className={brief ? 'record-tokens brief' : 'record-tokens'}>
      {chunks.map((chunk, c) => (
        <Chunk key={c} first={c === 0} height={chunk.reduce((sum, { spans }) => sum + SPAN_HEIGHT * spans.length, 0)}>
          {() => <TokenView {...shown} turns={chunk} annotations={inParts} className="chunk" atOnce />}
        </Chunk>
      ))}
    </div>
  );
}

interface PartsProps {
  readonly tokens: readonly number[];
  readonly layout: TokenLayout;
  readonly draw: (part: readonly number[]) => ReactNode;
}

/** Shows the first tokens, and a button adds the rest. Only those in view are drawn. */
function TokenParts({ tokens, layout, draw }: PartsProps) {
  const [whole, setWhole] = useState(false);
  if (tokens.length <= PART_SIZE.tokens) return draw(tokens);
  const shown = whole ? tokens : tokens.slice(0, PART_SIZE.tokens);
  const parts = Array.from({ length: Math.ceil(shown.length / PART_SIZE.tokens) }, (_, i) =>
    shown.slice(i * PART_SIZE.tokens, (i + 1) * PART_SIZE.tokens),
  );
  return (
    <>
      {parts.map((part, i) => (
        <Chunk key={i} first={i === 0} height={part.length / TOKENS_PER_PX}>
          {() => (
            <span className="span-tokens flex wrap gap-1" data-writing={layout} translate="no">
              {draw(part)}
            </span>
          )}
        </Chunk>
      ))}
      {!whole && (
        <button type="button" className="quiet small" translate="yes" onClick={() => setWhole(true)}>
          all {count(tokens.length)} tokens
        </button>
      )}
    </>
  );
}

const CHARACTERS_PER_PX = 4;

interface SpanTextProps {
  readonly text: string;
  readonly tokens: number; // number of tokens that the text stands for
  readonly brief?: boolean | undefined; // one of several side by side: shows less of the text
}

/** A span as text, if there are no tokens to show. Of a long text it shows the beginning and a button for the rest. */
function SpanText({ text, tokens, brief = false }: SpanTextProps) {
  const [whole, setWhole] = useState(false);
  if (text === '') return <p className="span-text faint">{tokens} tokens; the file has no text for them</p>;
  if (whole) {
    return (
      <div className="span-text" translate="no">
        {piecesOf(text.trim()).map((piece, i) => (
          <Chunk key={i} first={i === 0} height={piece.length / CHARACTERS_PER_PX}>
            {() => piece}
          </Chunk>
        ))}
      </div>
    );
  }
  const limit = brief ? PART_SIZE.characters / 4 : PART_SIZE.characters;
  return (
    <p className="span-text" translate="no">
      {text.length <= limit ? text.trim() : `${text.slice(0, limit).trim()}…`}
      {text.length > limit && (
        <button type="button" className="quiet small" onClick={() => setWhole(true)}>
          all {shortNumber(text.length)} characters
        </button>
      )}
    </p>
  );
}

interface ChunkProps {
  readonly first: boolean; // drawn at once, before its position is known
  readonly height: number; // px, estimated, used until it has been drawn
  readonly children: () => ReactNode;
}

const PRELOAD_MARGIN = '1200px'; // distance outside the view at which chunks are drawn

/** A part of a long content. It is drawn when in or near the view; otherwise it is an empty space of the same height. */
function Chunk({ first, height, children }: ChunkProps) {
  const box = useRef<HTMLDivElement>(null);
  const [space, setSpace] = useState(first ? null : height); // height of the empty space; null: the chunk is drawn
  useEffect(() => {
    const { current } = box;
    if (!current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const entry = entries.at(-1);
        if (entry) setSpace((before) => (entry.isIntersecting ? null : (before ?? entry.boundingClientRect.height)));
      },
      { rootMargin: PRELOAD_MARGIN },
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
