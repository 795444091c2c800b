import type { ShownSpan, ShownTurn } from '../rollout/tokenLook.ts';

/** Characters and tokens shown of a span at first. Longer spans are drawn in parts of this size. */
export const PART_SIZE = { characters: 6000, tokens: 600 };
/** Largest size of a chunk, the unit that is drawn at once. */
const MAX_CHUNK = { spans: 50, characters: 30_000, tokens: 1800 };

/** Cuts turns into chunks that are each quick to draw. A turn may continue in the next chunk. */
export function chunksOf(turns: readonly ShownTurn[]): readonly (readonly ShownTurn[])[] {
  const chunks: { turn: number; spans: ShownSpan[]; continued: boolean }[][] = [];
  let size = Infinity;
  for (const { turn, spans } of turns) {
    spans.forEach((span, i) => {
      const spanShare = shareOf(span);
      if (size + spanShare > 1) {
        chunks.push([]);
        size = 0;
      }
      size += spanShare;
      const chunk = chunks.at(-1);
      if (i > 0 && chunk?.at(-1)?.turn === turn) chunk.at(-1)?.spans.push(span);
      else chunk?.push({ turn, spans: [span], continued: i > 0 });
    });
  }
  return chunks;
}

/** Share of a chunk that a span takes, from 0. */
function shareOf({ text, tokens }: ShownSpan): number {
  const share =
    text === undefined
      ? Math.min(tokens.length, PART_SIZE.tokens) / MAX_CHUNK.tokens
      : Math.min(text.length, PART_SIZE.characters) / MAX_CHUNK.characters;
  return share + 1 / MAX_CHUNK.spans;
}

/**
 * Cuts a text into pieces of at most `PART_SIZE.characters`, at the end of a line or else of a word if possible. A
 * newline at a cut is left out. Never cuts a surrogate pair.
 */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const piece = text.slice(at, at + PART_SIZE.characters);
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
