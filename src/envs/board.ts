import { buildGrammar, freeText, type NamedGrammar, turnStates } from './grammar.ts';
import type { Vocabulary } from './vocab.ts';

/** Ways to move, in gymnasium's order: each is a quarter turn from the one before it. */
export const DIRECTIONS = ['left', 'down', 'right', 'up'] as const;
/** One of DIRECTIONS. */
export type Direction = (typeof DIRECTIONS)[number];

const STEPS: Readonly<Record<Direction, readonly [row: number, column: number]>> = {
  left: [0, -1],
  down: [1, 0],
  right: [0, 1],
  up: [-1, 0],
};

/** True for the words of DIRECTIONS. */
export function isDirection(word: string | undefined): word is Direction {
  return DIRECTIONS.some((direction) => direction === word);
}

/** The cell next to `cell` on a square board numbered row by row; −1 beyond its edge. */
export function neighbour(size: number, cell: number, direction: Direction): number {
  const [down, right] = STEPS[direction];
  const row = Math.floor(cell / size) + down;
  const column = (cell % size) + right;
  return row < 0 || column < 0 || row >= size || column >= size ? -1 : row * size + column;
}

/** A word for each cell, row by row: a1, a2, … b1, … A position is one token, whose neighbours are fixed words too. */
export function cellNames(size: number): readonly string[] {
  return Array.from({ length: size * size }, (_, cell) => {
    const row = String.fromCharCode('a'.charCodeAt(0) + Math.floor(cell / size));
    return `${row}${(cell % size) + 1}`;
  });
}

/** The grammars of an agent that can only walk: with the mask, and free. */
export function walkGrammar(
  words: Vocabulary,
  think: boolean,
): { readonly masked: NamedGrammar; readonly free: NamedGrammar } {
  const masked = buildGrammar(words.words.length, [
    ...turnStates('turn', [[[words.id('<call>')], 'direction']], words, think),
    { name: 'direction', edges: [[words.ids(DIRECTIONS), 'close']] },
    { name: 'close', edges: [[[words.id('</call>')], 'end']] },
    { name: 'end', stop: true, edges: [] },
  ]);
  return { masked, free: freeText(words) };
}
