import type { Random } from '../base/rng.ts';
import { type Direction, DIRECTIONS, neighbour } from './board.ts';

/** Probability that a cell inside the room is a wall. */
const WALL_PROBABILITY = 0.15;
/**
 * Number of rooms that are drawn to find one whose start is at least `minMoves` moves from the solution. After that,
 * one move is enough.
 */
const LARGE_ROOM_TRIES = 60;

/** The cells of the agent and the box. */
export interface SokobanState {
  readonly at: number;
  readonly box: number;
}

/** A Sokoban room with one box. Cells are those inside the outer ring of walls, row by row. */
export interface SokobanRoom {
  readonly size: number;
  readonly walls: readonly boolean[];
  readonly target: number;
  readonly start: SokobanState;
  readonly distance: (state: SokobanState) => number; // number of moves to the solution; Infinity if there is none
}

/** Returns the largest number of walls of a room. */
export function maxWalls(size: number): number {
  return Math.floor((size * size) / 4);
}

/** Returns the state after a move. The box is pushed if it can move; if the move is blocked, nothing changes. */
export function moveAgent(
  { size, walls }: Pick<SokobanRoom, 'size' | 'walls'>,
  from: SokobanState,
  direction: Direction,
): SokobanState {
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
export function drawRoom(size: number, minMoves: number, maxMoves: number, draw: Random): SokobanRoom {
  for (let tries = 0; ; tries++) {
    const walls = drawWalls(size, draw);
    const target = draw.pick(walls.flatMap((wall, cell) => (wall ? [] : [cell])));
    const backwardSearch = searchBackward(size, walls, target);
    const furthest = Math.min(maxMoves, backwardSearch.states.length - 1);
    if (furthest < (tries < LARGE_ROOM_TRIES ? minMoves : 1)) continue;
    const moves = Math.min(furthest, minMoves) + draw.int(Math.max(1, furthest - minMoves + 1));
    return {
      size,
      walls,
      target,
      start: draw.pick(backwardSearch.states[moves] ?? []),
      distance: backwardSearch.distance,
    };
  }
}

function drawWalls(size: number, draw: Random): boolean[] {
  let wallsLeft = maxWalls(size);
  return Array.from({ length: size * size }, () => draw.next() < WALL_PROBABILITY && wallsLeft-- > 0);
}

interface BackwardSearch {
  readonly states: readonly (readonly SokobanState[])[]; // [moves to the solution] → states
  readonly distance: SokobanRoom['distance'];
}

/**
 * Finds all states that backward moves reach from the solved room, breadth first. In a backward move the agent may pull
 * the box along.
 */
function searchBackward(size: number, walls: readonly boolean[], target: number): BackwardSearch {
  const cells = walls.length;
  const movesToSolution = new Int16Array(cells * cells).fill(-1); // [box][agent]
  const queue: number[] = [];
  const statesByMoves: SokobanState[][] = [];
  const visit = (at: number, box: number, moveCount: number) => {
    if (movesToSolution[box * cells + at] !== -1) return;
    movesToSolution[box * cells + at] = moveCount;
    queue.push(box * cells + at);
    (statesByMoves[moveCount] ??= []).push({ at, box });
  };
  walls.forEach((wall, at) => {
    if (!wall && at !== target) visit(at, target, 0);
  });
  for (const stateCode of queue) {
    const box = Math.floor(stateCode / cells);
    const at = stateCode % cells;
    const after = (movesToSolution[stateCode] ?? 0) + 1;
    for (const direction of DIRECTIONS) {
      // In the forward move the agent went from `from` to `at`, against `direction`. If the box is in front of it now,
      // the agent may have pushed it, and the box was at `at`.
      const from = neighbour(size, at, direction);
      if (from < 0 || walls[from] || from === box) continue;
      visit(from, box, after);
      if (neighbour(size, box, direction) === at) visit(from, at, after);
    }
  }
  const distance = ({ at, box }: SokobanState) => {
    const found = movesToSolution[box * cells + at] ?? -1;
    return found < 0 ? Infinity : found;
  };
  return { states: statesByMoves, distance };
}
