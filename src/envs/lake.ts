import type { Random } from '../base/rng.ts';
import { type Direction, DIRECTIONS, neighbour } from './board.ts';

/** Probability that a cell is ice and not a hole, as in gymnasium and RAGEN. */
const ICE_SHARE = 0.8;
/**
 * Discount per turn. It prefers the shorter of two equally safe ways, and is too close to 1 to trade safety for speed.
 */
const TURN_DISCOUNT = 0.9999;

/** A frozen lake. Cells are numbered row by row. */
export interface Lake {
  readonly size: number;
  readonly start: number;
  readonly goal: number;
  readonly holes: readonly boolean[];
  readonly distances: readonly number[]; // moves to the goal without slipping; Infinity in a hole
}

/**
 * Returns the largest number of holes of a lake. This limit keeps the prompt short and rejects less than one draw in a
 * hundred.
 */
export function maxHoles(size: number): number {
  return Math.floor((size * size) / 2);
}

/** The positions of start and goal: any two cells as in RAGEN, or opposite corners as in gymnasium. */
export type LakeEnds = 'any' | 'corners';

/** Draws a random lake whose goal can be reached in at most `moves` moves. */
export function drawLake(size: number, moves: number, ends: LakeEnds, draw: Random): Lake {
  for (;;) {
    const holes = Array.from({ length: size * size }, () => draw.next() >= ICE_SHARE);
    const [start, goal] = ends === 'corners' ? [0, size * size - 1] : twoCells(size * size, draw);
    holes[start] = false;
    holes[goal] = false;
    if (holes.filter(Boolean).length > maxHoles(size)) continue;
    const distances = distancesTo(goal, size, holes);
    if ((distances[start] ?? Infinity) <= moves) return { size, start, goal, holes, distances };
  }
}

function twoCells(cells: number, draw: Random): readonly [number, number] {
  const first = draw.int(cells);
  return [first, (first + 1 + draw.int(cells - 1)) % cells];
}

/** Returns the cell to which a move in `direction` leads. At the edge the agent stays where it is. */
export function cellAfterMove({ size }: Pick<Lake, 'size'>, cell: number, direction: Direction): number {
  const to = neighbour(size, cell, direction);
  return to < 0 ? cell : to;
}

/** Returns the direction after a quarter turn: counterclockwise for 1, clockwise for −1. */
export function quarterTurn(direction: Direction, sign: 1 | -1): Direction {
  return DIRECTIONS[(DIRECTIONS.indexOf(direction) + sign + DIRECTIONS.length) % DIRECTIONS.length] ?? direction;
}

/**
 * Returns a function that computes the best moves by dynamic programming: `chanceToArrive[k][cell]` is the probability
 * to arrive within k moves, slightly discounted per move. No player can do better, because the plan uses the whole map
 * and the probability to slip.
 */
export function lakePlanner(lake: Lake, slip: number): (cell: number, movesLeft: number) => readonly Direction[] {
  const cells = lake.holes.map((_, cell) => cell);
  const chanceToArrive: number[][] = [cells.map((cell) => (cell === lake.goal ? 1 : 0))];
  const value = (cell: number, direction: Direction, movesLeft: number): number => {
    const nextChances = chanceToArrive[movesLeft - 1] ?? [];
    const chanceAt = (way: Direction) => nextChances[cellAfterMove(lake, cell, way)] ?? 0;
    const sideways = chanceAt(quarterTurn(direction, 1)) + chanceAt(quarterTurn(direction, -1));
    return TURN_DISCOUNT * ((1 - slip) * chanceAt(direction) + (slip / 2) * sideways);
  };
  return (cell, movesLeft) => {
    for (let k = chanceToArrive.length; k <= movesLeft; k++) {
      chanceToArrive[k] = cells.map((here) => {
        if (here === lake.goal) return 1;
        return lake.holes[here] ? 0 : Math.max(...DIRECTIONS.map((direction) => value(here, direction, k)));
      });
    }
    const values = DIRECTIONS.map((direction) => value(cell, direction, movesLeft));
    const best = Math.max(...values);
    return DIRECTIONS.filter((_, i) => (values[i] ?? 0) >= best - 1e-12);
  };
}

function distancesTo(goal: number, size: number, holes: readonly boolean[]): number[] {
  const distances = holes.map(() => Infinity);
  distances[goal] = 0;
  const queue = [goal];
  for (const cell of queue) {
    for (const direction of DIRECTIONS) {
      const next = neighbour(size, cell, direction);
      if (next < 0 || holes[next] || distances[next] !== Infinity) continue;
      distances[next] = (distances[cell] ?? 0) + 1;
      queue.push(next);
    }
  }
  return distances;
}
