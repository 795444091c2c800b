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
import { drawRoom, maxWalls, moveAgent, type SokobanState, type SokobanRoom } from './warehouse.ts';

/** The solution of a training task takes at most this share of the turns. */
const TRAINED_TURN_SHARE = 0.75;

/** Knobs that fix the shape of the environment. */
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

/**
 * Returns the move of the simple rule: walk behind the box and push, ignoring walls. It walks around the box if the box
 * is in the way.
 */
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

/** Makes the task of one room. */
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
