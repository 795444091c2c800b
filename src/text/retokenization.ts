import type { Codec } from './codec.ts';
import { outsideText } from './outsideText.ts';

/** Tokens of a turn that stand next to each other, and the tokens that their text is encoded to. */
export interface RetokenizedSpan {
  readonly drawn: readonly number[]; // ids
  readonly encoded: readonly number[]; // ids; equal to `drawn` where nothing drifted
}

/**
 * Makes a function that decodes a turn to text and encodes it again, as a framework does that keeps messages instead of
 * ids. The turn is encoded alone, so tokens before and after it stay, and it remains clear who wrote each token. Special
 * tokens stay too, and text never becomes one.
 */
export function retokenizer(codec: Codec): (turn: readonly number[]) => readonly RetokenizedSpan[] {
  const control = new Set([...codec.special, ...codec.stops]);
  const outside = outsideText(codec);
  return (turn) => {
    const spans: RetokenizedSpan[] = [];
    for (let at = 0; at < turn.length;) {
      const found = turn.findIndex((id, i) => i >= at && control.has(id));
      const end = found < 0 ? turn.length : found;
      const run = turn.slice(at, end);
      if (run.length > 0) spans.push(...spansOf(codec, run, outside.encode(outside.mark(codec.decode(run)))));
      const stays = turn.slice(end, end + 1);
      if (stays.length > 0) spans.push({ drawn: stays, encoded: stays });
      at = end + 1;
    }
    return spans;
  };
}

/** Cuts both lists wherever a token of each ends at the same place of the text. */
function spansOf(codec: Codec, drawn: readonly number[], encoded: readonly number[]): readonly RetokenizedSpan[] {
  if (encoded.length === 0) return [{ drawn, encoded: drawn }];
  const [drawnEnds, encodedEnds] = [textEnds(codec, drawn), textEnds(codec, encoded)];
  const textEnd = Math.min(drawnEnds.at(-1) ?? 0, encodedEnds.at(-1) ?? 0);
  // a token that ends within a character has the end of the token before, so the span goes on
  const cuts = [...new Set(drawnEnds)].filter((end) => end > 0 && end < textEnd && encodedEnds.includes(end));
  const places = [
    [0, 0] as const,
    ...cuts.map((end) => [drawnEnds.indexOf(end) + 1, encodedEnds.indexOf(end) + 1] as const),
    [drawn.length, encoded.length] as const,
  ];
  return places.slice(1).map(([i, j], k) => {
    const [from, start] = places[k]!;
    return { drawn: drawn.slice(from, i), encoded: encoded.slice(start, j) };
  });
}

/** Where each token ends in the text of all. */
function textEnds(codec: Codec, ids: readonly number[]): readonly number[] {
  let end = 0;
  return codec.pieces(ids).map((piece) => (end += piece.length));
}
