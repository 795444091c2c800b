import { useState } from 'react';
import { Chunk } from './Chunk.tsx';
import { short } from '../parts/numberText.ts';
import { piecesOf, SHOWN } from './chunks.ts';

const CHARACTERS_A_PX = 4;

interface Props {
  readonly text: string;
  readonly tokens: number; // that the text stands for
  readonly brief?: boolean | undefined; // beside others: less of it is shown
}

/** A span as text, where there are no tokens to show: of a long one the beginning, until a reader asks for all. */
export function SpanText({ text, tokens, brief = false }: Props) {
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
