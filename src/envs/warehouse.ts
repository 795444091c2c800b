import type { Random } from '../base/rng.ts';
import { type Direction, DIRECTIONS, neighbour } from './board.ts';

/** Probability that a cell inside the room is a wall. */
const WALL_PROBABILITY = 0.15;
/** Number of rooms tried to find one with a start at least `minMoves` away. After that one move is enough. */
const LARGE_ROOM_TRIES = 60;

/** The cells of the agent and the box. */
export interface Stance {
  readonly at: number;
  readonly box: number;
}

/** A Sokoban room with one box. Cells are those inside the outer ring of walls, row by row. */
export interface Warehouse {
  readonly size: number;
  readonly walls: readonly boolean[];
  readonly target: number;
  readonly start: Stance;
  readonly distance: (stance: Stance) => number; // number of moves to the solution; Infinity if there is none
}

/** Returns the largest number of walls of a room. */
export function maxWalls(size: number): number {
  return Math.floor((size * size) / 4);
}

/** Returns the state after a move. The box is pushed if it can move; if the move is blocked, nothing changes. */
export function push({ size, walls }: Pick<Warehouse, 'size' | 'walls'>, from: Stance, direction: Direction): Stance {
  const to = neighbour(size, from.at, direction);
  if (to < 0 || walls[to]) return from;
  if (to !== from.box) return { at: to, box: from.box };
  const nextCell = neighbour(size, to, direction);
  return nextCell < 0 || walls[nextCell] ? from : { at: to, box: nextCell };
}

/**
 * Draws a room. It starts with the box on the target and plays backwards in every possible way. The start is drawn from
 * the states that this reaches, `minMoves` to `maxMoves` moves from the solution. Each number of moves is equally
 * likely. If no room has a start that far away, the furthest one is used.
 */
export function drawWarehouse(size: number, minMoves: number, maxMoves: number, draw: Random): Warehouse {
  for (let tries = 0; ; tries++) {
    const walls = drawWalls(size, draw);
    const target = draw.pick(walls.flatMap((wall, cell) => (wall ? [] : [cell])));
    const back = reversePlay(size, walls, target);
    const furthest = Math.min(maxMoves, back.stances.length - 1);
    if (furthest < (tries < LARGE_ROOM_TRIES ? minMoves : 1)) continue;
    const moves = Math.min(furthest, minMoves) + draw.int(Math.max(1, furthest - minMoves + 1));
    return { size, walls, target, start: draw.pick(back.stances[moves] ?? []), distance: back.distance };
  }
}

function drawWalls(size: number, draw: Random): boolean[] {
  let wallsLeft = maxWalls(size);
  return Array.from({ length: size * size }, () => draw.next() < WALL_PROBABILITY && wallsLeft-- > 0);
}

interface ReversePlay {
  readonly stances: readonly (readonly Stance[])[]; // [moves to the solution] → states
  readonly distance: Warehouse['distance'];
}

/**
 * Finds all states that backward moves reach from the solved room, breadth first. In a backward move the agent may pull
 * the box along.
 */
function reversePlay(size: number, walls: readonly boolean[], target: number): ReversePlay {
  const cells = walls.length;
  const moves = new Int16Array(cells * cells).fill(-1); // [box][agent]
  const queue: number[] = [];
  const stances: Stance[][] = [];
  const visit = (at: number, box: number, after: number) => {
    if (moves[box * cells + at] !== -1) return;
    moves[box * cells + at] = after;
    queue.push(box * cells + at);
    (stances[after] ??= []).push({ at, box });
  };
  walls.forEach((wall, at) => {
    if (!wall && at !== target) visit(at, target, 0);
  });
  for (const stance of queue) {
    const box = Math.floor(stance / cells);
    const at = stance % cells;
    const after = (moves[stance] ?? 0) + 1;
    for (const direction of DIRECTIONS) {
      // In the forward move the agent went from `from` to `at`, against `direction`. If the box is in front of it now,
      // the agent may have pushed it, and the box was at `at`.
      const from = neighbour(size, at, direction);
      if (from < 0 || walls[from] || from === box) continue;
      visit(from, box, after);
      if (neighbour(size, box, direction) === at) visit(from, at, after);
    }
  }
  const distance = ({ at, box }: Stance) => {
    const found = moves[box * cells + at] ?? -1;
    return found < 0 ? Infinity : found;
  };
  return { stances, distance };
}
