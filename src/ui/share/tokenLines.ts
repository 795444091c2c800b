/** A token as it is written on a card. */
export interface Word {
  readonly t: number; // position in the rollout; −1: stands for those that have no room
  readonly text: string;
  readonly width: number; // with its own margins
}

/** A token with its place in its line. */
export type PlacedWord = Word & { readonly x: number };

/** Breaks words into lines no wider than `width`. Of more than `most` lines the last are kept, and "…" stands before them. */
export function linesOf(
  words: readonly Word[],
  width: number,
  gap: number,
  most: number,
): readonly (readonly PlacedWord[])[] {
  const lines: PlacedWord[][] = [];
  let x = 0;
  for (const word of words) {
    if (lines.length === 0 || x + word.width > width) {
      lines.push([]);
      x = 0;
    }
    lines.at(-1)?.push({ ...word, x });
    x += word.width + gap;
  }
  if (lines.length <= most) return lines;
  const [first = [], ...rest] = lines.slice(-most);
  const room = first[0]?.width ?? 0;
  const rested = first.slice(1); // the mark stands in the place of the first
  return [[{ t: -1, text: '…', width: room, x: 0 }, ...rested], ...rest];
}
