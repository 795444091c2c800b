import type { EnvView } from '../domain/envView.ts';
import {
  cellNames,
  type Direction,
  DIRECTIONS,
  moveTool,
  neighbour,
  offsetOf,
  offsetWords,
  directionTowards,
  MOVE_SENTENCE,
  walkTask,
} from './board.ts';
import type { ToolEnv } from './env.ts';
import type { Task } from './episodeRules.ts';
import type { Side } from './split.ts';
import { buildTurns } from './turnRules.ts';
import { buildVocabulary } from './vocab.ts';
import type { Random } from '../base/rng.ts';

/** Probability that a cell inside the room is a wall. */
const WALL_PROBABILITY = 0.15;
/** Rooms drawn to find one whose start is at least `minMoves` moves from the solution. After that, one move is enough. */
const LARGE_ROOM_TRIES = 60;

interface SokobanState {
  readonly at: number;
  readonly box: number;
}

/** A Sokoban room with one box. Cells are those inside the outer ring of walls, row by row. */
interface SokobanRoom {
  readonly size: number;
  readonly walls: readonly boolean[];
  readonly target: number;
  readonly start: SokobanState;
  readonly distance: (state: SokobanState) => number; // number of moves to the solution; Infinity if there is none
}

function maxWalls(size: number): number {
  return Math.floor((size * size) / 4);
}

/** Returns the state after a move. The box is pushed if it can move; if the move is blocked, nothing changes. */
function moveAgent(
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
function drawRoom(size: number, minMoves: number, maxMoves: number, draw: Random): SokobanRoom {
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

/** All states that backward moves reach from the solved room, breadth first. Moving backward, the agent may pull the box along. */
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

/** The solution of a training task takes at most this share of the turns. */
const TRAINED_TURN_SHARE = 0.75;

export interface SokobanOptions {
  readonly size: number; // inside the ring of walls
  readonly maxTurns: number;
  readonly think: boolean;
}

interface MoveState {
  readonly room: SokobanRoom;
  readonly from: SokobanState;
}

const move = moveTool<MoveState>('Moves one cell, pushing the box if it is there.', ({ room, from }, direction) =>
  boxAndTargetOffsets(room, moveAgent(room, from, direction)),
);

/** Returns the box's position as seen from the agent, and the target's as seen from the box. */
function boxAndTargetOffsets({ size, target }: SokobanRoom, { at, box }: SokobanState): readonly string[] {
  return [...offsetOf(size, at, box), ...offsetOf(size, box, target)];
}

/**
 * Sokoban (RAGEN, from gym-sokoban): one box and one target in a room that is solvable by construction. The prompt
 * lists the walls inside the outer ring, the target and the agent. Each observation gives the box's position as seen
 * from the agent, and the target's as seen from the box.
 *
 * Process reward of a move: the share of the shortest solution that it completes. This is potential-based shaping, so
 * the rewards add up to 1. A room with a stuck box has the potential of the start. Shifted tasks are rooms whose
 * solution takes more moves than any in training.
 */
export function sokoban({ size, maxTurns, think }: SokobanOptions): ToolEnv {
  const vocabulary = buildVocabulary([
    'at',
    'box',
    'target',
    'walls',
    ...DIRECTIONS,
    ...cellNames(size),
    ...offsetWords(size),
  ]);
  const { grammar, maxTurnTokens, makeReset } = buildTurns({ vocabulary, think, maxTurns, call: MOVE_SENTENCE });
  const roomTasks = (minMoves: number, maxMoves: number, side: Side) =>
    makeReset((draw) => roomTask(drawRoom(size, minMoves, maxMoves, draw)), { side });
  const trainedMoves = Math.max(1, Math.floor(TRAINED_TURN_SHARE * maxTurns));
  return {
    name: 'sokoban',
    description: 'Push a box onto its target.',
    vocabulary: vocabulary.words,
    tools: [move],
    maxTokens: 11 + maxWalls(size) + maxTurns * maxTurnTokens + (maxTurns - 1) * 6,
    maxTurnTokens,
    grammar,
    reset: roomTasks(1, trainedMoves, 'train'),
    demonstration: roomTasks(1, trainedMoves, 'train'),
    splits: {
      heldOut: { reset: roomTasks(1, trainedMoves, 'held-out'), doc: 'Rooms that training never works in.' },
      shifted: {
        reset: roomTasks(Math.min(maxTurns, trainedMoves + 1), maxTurns, 'held-out'),
        doc:
          maxTurns > trainedMoves
            ? `Solutions take ${trainedMoves + 1} to ${maxTurns} moves where a room has any that long; in training at most ${trainedMoves}.`
            : 'The same rooms: one turn leaves no room for more.',
      },
    },
    ruleDoc: 'Walk behind the box and push it towards the target, rows first, whatever walls there are.',
  };
}

/** Walks behind the box and pushes, ignoring walls. It walks around the box if the box is in the way. */
function simpleRuleMove(size: number, { at, box }: SokobanState, target: number): Direction {
  const pushDirection = directionTowards(size, box, target);
  const offsetBehind = { up: size, down: -size, left: 1, right: -1 }[pushDirection];
  const behind = box + offsetBehind;
  if (at === behind) return pushDirection;
  const walk = directionTowards(size, at, behind);
  const other = directionTowards(size, at, behind, 'columns');
  const blockedByBox = (way: Direction) => neighbour(size, at, way) === box;
  if (!blockedByBox(walk)) return walk;
  return blockedByBox(other) ? (walk === 'up' || walk === 'down' ? 'left' : 'up') : other;
}

function roomTask(room: SokobanRoom): Task {
  const { size, walls, target, start, distance } = room;
  const moves: (EnvView & { kind: 'grid' })['moves'][number][] = [];
  let current = start;
  const names = cellNames(size);
  const name = (cell: number) => names[cell] ?? '';
  const startDistance = distance(start);
  // a stuck box counts as no progress
  const distanceLeft = (state: SokobanState) => (distance(state) === Infinity ? startDistance : distance(state));
  return walkTask({
    key: `${start.at} ${start.box} to ${target}: ${walls.map(Number).join('')}`,
    prompt: [
      ...['<bos>', 'walls', ...names.filter((_, cell) => walls[cell])],
      ...['target', name(target), 'at', name(start.at), 'box', ...boxAndTargetOffsets(room, start)],
    ],
    question: `Push the box from ${name(start.box)} to ${name(target)}.`,
    // empty once the box is stuck
    bestMoves: () =>
      DIRECTIONS.filter((direction) => distance(moveAgent(room, current, direction)) < distance(current)),
    ruleMove: () => simpleRuleMove(size, current, target),
    step(direction, turn, tools) {
      const from = current;
      const { ok, content } = tools(move, [direction], { room, from });
      if (ok) current = moveAgent(room, from, direction);
      moves.push({ turn, direction, ...current, asMeant: current.at !== from.at });
      const solved = current.box === target;
      return {
        observation: content,
        progress: (distanceLeft(from) - distanceLeft(current)) / startDistance,
        stop: solved ? 'found' : null,
        success: solved,
      };
    },
    view: () => ({
      kind: 'grid',
      title: 'Sokoban',
      size,
      cells: walls.map((wall, cell) => (cell === target ? 'goal' : wall ? 'wall' : 'floor')),
      start: start.at,
      box: start.box,
      moves: [...moves],
    }),
  });
}
