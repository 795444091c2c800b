import type { ShownSpan, ShownTurn } from '../rollout/tokenLook.ts';

/** Characters, and tokens with a number each, that are shown of a span at first, and as many more each time a reader asks. */
export const SHOWN = { characters: 6000, tokens: 600 };
/** What is drawn at once at most: a chunk of spans. */
const MOST = { spans: 50, characters: 30_000, tokens: 1800 };

/** Turns cut into chunks that are each quick to draw; a turn that is cut goes on in the next. */
export function chunksOf(turns: readonly ShownTurn[]): readonly (readonly ShownTurn[])[] {
  const chunks: { turn: number; spans: ShownSpan[]; continued: boolean }[][] = [];
  let size = Infinity;
  for (const { turn, spans } of turns) {
    spans.forEach((span, i) => {
      const own = shareOf(span);
      if (size + own > 1) {
        chunks.push([]);
        size = 0;
      }
      size += own;
      const chunk = chunks.at(-1);
      if (i > 0 && chunk?.at(-1)?.turn === turn) chunk.at(-1)?.spans.push(span);
      else chunk?.push({ turn, spans: [span], continued: i > 0 });
    });
  }
  return chunks;
}

/** How much of a chunk a span takes. */
function shareOf({ text, tokens }: ShownSpan): number {
  const share =
    text === undefined
      ? Math.min(tokens.length, SHOWN.tokens) / MOST.tokens
      : Math.min(text.length, SHOWN.characters) / MOST.characters;
  return share + 1 / MOST.spans;
}

/** A text cut into pieces of at most `SHOWN.characters`, where a line or a word ends if one does; the line's end that a cut stands for is left out. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const piece = text.slice(at, at + SHOWN.characters);
    const last = at + piece.length >= text.length;
    const line = last ? -1 : piece.lastIndexOf('\n');
    const word = last ? -1 : piece.lastIndexOf(' ');
    const pair = /[\ud800-\udbff]$/.test(piece) && piece.length > 1 && !last ? piece.length - 1 : piece.length;
    const end = line > 0 ? line : word > 0 ? word + 1 : pair;
    pieces.push(piece.slice(0, end));
    at += line > 0 ? end + 1 : end;
  }
  return pieces;
}
