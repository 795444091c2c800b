import type { Random } from '../base/rng.ts';
import { type Direction, DIRECTIONS, neighbour } from './board.ts';

/** Share of the cells that is ice, as in gymnasium and RAGEN. */
const ICE = 0.8;
/** Weight of a turn saved where the chance to arrive is the same: too small to trade safety for it. */
const HASTE = 0.9999;

/** A frozen lake: cells row by row. */
export interface Lake {
  readonly size: number;
  readonly start: number;
  readonly goal: number;
  readonly holes: readonly boolean[];
  readonly distances: readonly number[]; // moves to the goal without slipping; Infinity in a hole
}

/** Holes a lake has at most: keeps the prompt short, and leaves out less than one draw in a hundred. */
export function mostHoles(size: number): number {
  return Math.floor((size * size) / 2);
}

/** Where a lake's start and goal lie: any two cells, as in RAGEN, or opposite corners, as in gymnasium. */
export type LakeEnds = 'any' | 'corners';

/** A random lake whose goal can be reached in `moves` moves. */
export function drawLake(size: number, moves: number, ends: LakeEnds, draw: Random): Lake {
  for (;;) {
    const holes = Array.from({ length: size * size }, () => draw.next() >= ICE);
    const [start, goal] = ends === 'corners' ? [0, size * size - 1] : twoCells(size * size, draw);
    holes[start] = false;
    holes[goal] = false;
    if (holes.filter(Boolean).length > mostHoles(size)) continue;
    const distances = distancesTo(goal, size, holes);
    if ((distances[start] ?? Infinity) <= moves) return { size, start, goal, holes, distances };
  }
}

function twoCells(cells: number, draw: Random): readonly [number, number] {
  const first = draw.int(cells);
  return [first, (first + 1 + draw.int(cells - 1)) % cells];
}

/** Where a move that goes `direction` leads: nowhere at the edge. */
export function slide({ size }: Pick<Lake, 'size'>, cell: number, direction: Direction): number {
  const to = neighbour(size, cell, direction);
  return to < 0 ? cell : to;
}

/** The direction a quarter turn clockwise or, with −1, counterclockwise. */
export function quarterTurn(direction: Direction, way: 1 | -1): Direction {
  return DIRECTIONS[(DIRECTIONS.indexOf(direction) + way + DIRECTIONS.length) % DIRECTIONS.length] ?? direction;
}

/**
 * The best moves by dynamic programming: `chances[k][cell]` is the chance to arrive within k moves, discounted a trifle.
 * A walker who knows the map and plans for slipping can do no better.
 */
export function planner(lake: Lake, slip: number): (cell: number, left: number) => readonly Direction[] {
  const cells = lake.holes.map((_, cell) => cell);
  const chances: number[][] = [cells.map((cell) => (cell === lake.goal ? 1 : 0))];
  const value = (cell: number, direction: Direction, left: number): number => {
    const after = chances[left - 1] ?? [];
    const at = (way: Direction) => after[slide(lake, cell, way)] ?? 0;
    const aside = at(quarterTurn(direction, 1)) + at(quarterTurn(direction, -1));
    return HASTE * ((1 - slip) * at(direction) + (slip / 2) * aside);
  };
  return (cell, left) => {
    for (let k = chances.length; k <= left; k++) {
      chances[k] = cells.map((here) => {
        if (here === lake.goal) return 1;
        return lake.holes[here] ? 0 : Math.max(...DIRECTIONS.map((direction) => value(here, direction, k)));
      });
    }
    const values = DIRECTIONS.map((direction) => value(cell, direction, left));
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
