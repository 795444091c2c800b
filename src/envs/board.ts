import type { Random } from '../base/rng.ts';
import type { Tool } from './env.ts';
import type { Outcome, Task, ToolRunner } from './episodeRules.ts';
import type { Sentence } from './turnRules.ts';

/** The directions of a move in gymnasium's order. Each is a quarter turn from the one before it. */
export const DIRECTIONS = ['left', 'down', 'right', 'up'] as const;
export type Direction = (typeof DIRECTIONS)[number];

const STEPS: Readonly<Record<Direction, readonly [row: number, column: number]>> = {
  left: [0, -1],
  down: [1, 0],
  right: [0, 1],
  up: [-1, 0],
};

function isDirection(word: string | undefined): word is Direction {
  return DIRECTIONS.some((direction) => direction === word);
}

/** The next cell on a square board whose cells are numbered row by row; −1 if it would be outside the board. */
export function neighbour(size: number, cell: number, direction: Direction): number {
  const [down, right] = STEPS[direction];
  const row = Math.floor(cell / size) + down;
  const column = (cell % size) + right;
  return row < 0 || column < 0 || row >= size || column >= size ? -1 : row * size + column;
}

/** A word for each cell, row by row: a1, a2, … b1, … So a position is one token, and the words of its neighbours are fixed too. */
export function cellNames(size: number): readonly string[] {
  return Array.from({ length: size * size }, (_, cell) => {
    const row = String.fromCharCode('a'.charCodeAt(0) + Math.floor(cell / size));
    return `${row}${(cell % size) + 1}`;
  });
}

const rowOffset = (n: number) => (n === 0 ? 'same-row' : n < 0 ? `${-n}-up` : `${n}-down`);
const columnOffset = (n: number) => (n === 0 ? 'same-column' : n < 0 ? `${-n}-left` : `${n}-right`);

/** Returns the words that say how far away something is on a board. */
export function offsetWords(size: number): readonly string[] {
  const offsets = Array.from({ length: 2 * size - 1 }, (_, i) => i - size + 1);
  return [...offsets.map(rowOffset), ...offsets.map(columnOffset)];
}

/** Where `to` lies, seen from `from`: the next step depends on it, and from two cells' names the agent would have to compute it. */
export function offsetOf(size: number, from: number, to: number): readonly [rows: string, columns: string] {
  const rows = Math.floor(to / size) - Math.floor(from / size);
  return [rowOffset(rows), columnOffset((to % size) - (from % size))];
}

/** Ignores obstacles: along rows first, or along columns first. `from` and `to` must differ. */
export function directionTowards(
  size: number,
  from: number,
  to: number,
  first: 'rows' | 'columns' = 'rows',
): Direction {
  const rows = Math.floor(to / size) - Math.floor(from / size);
  const columns = (to % size) - (from % size);
  const vertical = rows < 0 ? 'up' : 'down';
  const horizontal = columns < 0 ? 'left' : 'right';
  if (rows === 0) return horizontal;
  return columns === 0 || first === 'rows' ? vertical : horizontal;
}

/** The sentence of a turn whose only call is `move`. */
export const MOVE_SENTENCE: Sentence = { legalWords: [DIRECTIONS] };

/** Makes the tool that takes one step. `moveAndReport` returns the words that the agent reads after it. */
export function moveTool<World>(
  description: string,
  moveAndReport: (world: World, direction: Direction, draw: Random) => readonly string[],
): Tool<World> {
  return {
    name: 'move',
    description,
    parameters: ['direction'],
    execute: ([direction], world, draw) =>
      isDirection(direction)
        ? { ok: true, content: moveAndReport(world, direction, draw) }
        : { ok: false, content: [] },
  };
}

/** The parts of a movement task that differ between boards. */
interface WalkRules extends Pick<Task, 'key' | 'prompt' | 'question' | 'view'> {
  readonly step: (direction: Direction, turn: number, tools: ToolRunner) => Outcome;
  readonly bestMoves: (turn: number) => readonly Direction[]; // all best moves; empty if no move can still succeed
  readonly ruleMove: () => Direction; // the move of the simple rule
}

/** Makes a task in which every turn is a call of `move`. The expert takes the first of the best moves. */
export function walkTask({ key, prompt, question, view, step, bestMoves, ruleMove }: WalkRules): Task {
  const call = (direction: Direction): readonly string[] => ['<call>', direction, '</call>'];
  const expert = (turn: number) => call(bestMoves(turn)[0] ?? 'left');
  return {
    key,
    prompt,
    question,
    call: ([direction, ...extraWords], turn, tools) =>
      isDirection(direction) && extraWords.length === 0 ? step(direction, turn, tools) : null,
    answer: () => null,
    neededWords: bestMoves,
    expert,
    rule: () => call(ruleMove()),
    demonstrate: (quality, draw, turn) => (draw.next() < quality ? expert(turn) : call(draw.pick(DIRECTIONS))),
    view,
  };
}
