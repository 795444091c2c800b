import type { Random } from '../base/rng.ts';
import { type Direction, DIRECTIONS, neighbour } from './board.ts';

/** Probability of a wall inside the room. */
const WALLS = 0.15;
/** Rooms tried for one that is large enough; then any will do. */
const TRIES = 60;

/** Where the agent and the box stand. */
export interface Stance {
  readonly at: number;
  readonly box: number;
}

/** A room of Sokoban with one box: the cells inside its ring of walls, row by row. */
export interface Warehouse {
  readonly size: number;
  readonly walls: readonly boolean[];
  readonly target: number;
  readonly start: Stance;
  readonly distance: (stance: Stance) => number; // moves to the solution; Infinity if there is none
}

/** Walls a room has at most. */
export function mostWalls(size: number): number {
  return Math.floor((size * size) / 4);
}

/** What a move leads to: pushes the box where it can, else nothing moves. */
export function push({ size, walls }: Pick<Warehouse, 'size' | 'walls'>, from: Stance, direction: Direction): Stance {
  const to = neighbour(size, from.at, direction);
  if (to < 0 || walls[to]) return from;
  if (to !== from.box) return { at: to, box: from.box };
  const nextCell = neighbour(size, to, direction);
  return nextCell < 0 || walls[nextCell] ? from : { at: to, box: nextCell };
}

/**
 * A room with its box on the target, played backwards in every way; the start is one of the stances that come of it, `least` to
 * `most` moves from the solution, each number of moves as likely as any other. Where no room is that large, the furthest start.
 */
export function drawWarehouse(size: number, least: number, most: number, draw: Random): Warehouse {
  for (let tries = 0; ; tries++) {
    const walls = drawWalls(size, draw);
    const target = draw.pick(walls.flatMap((wall, cell) => (wall ? [] : [cell])));
    const back = reversePlay(size, walls, target);
    const furthest = Math.min(most, back.stances.length - 1);
    if (furthest < (tries < TRIES ? least : 1)) continue;
    const moves = Math.min(furthest, least) + draw.int(Math.max(1, furthest - least + 1));
    return { size, walls, target, start: draw.pick(back.stances[moves] ?? []), distance: back.distance };
  }
}

function drawWalls(size: number, draw: Random): boolean[] {
  let left = mostWalls(size);
  return Array.from({ length: size * size }, () => draw.next() < WALLS && left-- > 0);
}

interface ReversePlay {
  readonly stances: readonly (readonly Stance[])[]; // by moves to the solution
  readonly distance: Warehouse['distance'];
}

/** All that can be reached from the solved room by moves backwards, in which the agent may pull the box along, breadth first. */
function reversePlay(size: number, walls: readonly boolean[], target: number): ReversePlay {
  const cells = walls.length;
  const moves = new Int16Array(cells * cells).fill(-1); // [box][agent]
  const queue: number[] = [];
  const stances: Stance[][] = [];
  const reach = (at: number, box: number, after: number) => {
    if (moves[box * cells + at] !== -1) return;
    moves[box * cells + at] = after;
    queue.push(box * cells + at);
    (stances[after] ??= []).push({ at, box });
  };
  walls.forEach((wall, at) => {
    if (!wall && at !== target) reach(at, target, 0);
  });
  for (const stance of queue) {
    const box = Math.floor(stance / cells);
    const at = stance % cells;
    const after = (moves[stance] ?? 0) + 1;
    for (const direction of DIRECTIONS) {
      // the agent came from `from`, moving against `direction`; the box behind it may have come along
      const from = neighbour(size, at, direction);
      if (from < 0 || walls[from] || from === box) continue;
      reach(from, box, after);
      if (neighbour(size, box, direction) === at) reach(from, at, after);
    }
  }
  const distance = ({ at, box }: Stance) => {
    const found = moves[box * cells + at] ?? -1;
    return found < 0 ? Infinity : found;
  };
  return { stances, distance };
}
