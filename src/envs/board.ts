import type { Random } from '../base/rng.ts';
import type { Tool } from './env.ts';
import type { Outcome, Task, ToolRunner } from './episodeRules.ts';
import type { Sentence } from './turnRules.ts';

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
function isDirection(word: string | undefined): word is Direction {
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

const rowsApart = (n: number) => (n === 0 ? 'same-row' : n < 0 ? `${-n}-up` : `${n}-down`);
const columnsApart = (n: number) => (n === 0 ? 'same-column' : n < 0 ? `${-n}-left` : `${n}-right`);

/** The words that say how far away something is on a board. */
export function offsetWords(size: number): readonly string[] {
  const apart = Array.from({ length: 2 * size - 1 }, (_, i) => i - size + 1);
  return [...apart.map(rowsApart), ...apart.map(columnsApart)];
}

/**
 * Where `to` lies as seen from `from`: rows, then columns, a word each. That is what the next step depends on; from the names of
 * two cells it would have to be worked out first.
 */
export function offsetOf(size: number, from: number, to: number): readonly [rows: string, columns: string] {
  const rows = Math.floor(to / size) - Math.floor(from / size);
  return [rowsApart(rows), columnsApart((to % size) - (from % size))];
}

/** The step from one cell towards another, whatever lies between: along rows first, or along columns first. `from` must not be `to`. */
export function towards(size: number, from: number, to: number, first: 'rows' | 'columns' = 'rows'): Direction {
  const rows = Math.floor(to / size) - Math.floor(from / size);
  const columns = (to % size) - (from % size);
  const vertical = rows < 0 ? 'up' : 'down';
  const horizontal = columns < 0 ? 'left' : 'right';
  if (rows === 0) return horizontal;
  return columns === 0 || first === 'rows' ? vertical : horizontal;
}

/** What a turn of an agent that can only walk may say. */
export const WALK: Sentence = { places: [DIRECTIONS] };

/** The tool that takes one step: `go` says where it led, in words. */
export function moveTool<World>(
  description: string,
  go: (world: World, direction: Direction, draw: Random) => readonly string[],
): Tool<World> {
  return {
    name: 'move',
    description,
    parameters: ['direction'],
    execute: ([way], world, draw) =>
      isDirection(way) ? { ok: true, content: go(world, way, draw) } : { ok: false, content: [] },
  };
}

/** What one board adds to a task that is walked. */
interface Walk extends Pick<Task, 'key' | 'prompt' | 'question' | 'view'> {
  readonly step: (direction: Direction, turn: number, tools: ToolRunner) => Outcome;
  readonly best: (turn: number) => readonly Direction[]; // the moves that are right now; empty when none is any more
  readonly simple: () => Direction; // the move of who looks no further than where things lie
}

/** A task that is walked: every turn is a call of `move`; the expert takes the first of the best moves. */
export function walkTask({ key, prompt, question, view, step, best, simple }: Walk): Task {
  const call = (direction: Direction): readonly string[] => ['<call>', direction, '</call>'];
  const expert = (turn: number) => call(best(turn)[0] ?? 'left');
  return {
    key,
    prompt,
    question,
    call: ([direction, ...more], turn, tools) =>
      isDirection(direction) && more.length === 0 ? step(direction, turn, tools) : null,
    answer: () => null,
    needs: best,
    expert,
    rule: () => call(simple()),
    demonstrate: (quality, draw, turn) => (draw.next() < quality ? expert(turn) : call(draw.pick(DIRECTIONS))),
    view,
  };
}
