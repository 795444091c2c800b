import type { Segment } from '../../rollouts/rolloutRecord.ts';

/** Characters, and tokens with a number each, that are shown of a segment at first, and as many more each time a reader asks. */
export const SHOWN = { characters: 6000, tokens: 600 };
/** What is drawn at once at most: a chunk of segments. */
const MOST = { segments: 50, characters: 30_000, tokens: 1800 };

/** Segments cut into chunks that are each quick to draw: first segment and the one after the last. `tokens`: a number is drawn of each token. */
export function chunksOf(segments: readonly Segment[], tokens: boolean): readonly (readonly [number, number])[] {
  const chunks: (readonly [number, number])[] = [];
  let [from, size] = [0, 0];
  segments.forEach(({ text, from: first, to: end }, i) => {
    const share =
      tokens && first !== null && end !== null
        ? Math.min(end - first, SHOWN.tokens) / MOST.tokens
        : Math.min(text.length, SHOWN.characters) / MOST.characters;
    const own = share + 1 / MOST.segments;
    if (i > from && size + own > 1) {
      chunks.push([from, i]);
      [from, size] = [i, 0];
    }
    size += own;
  });
  if (segments.length > from) chunks.push([from, segments.length]);
  return chunks;
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
