import type { EnvView } from '../domain/envView.ts';
import {
  cellNames,
  type Direction,
  DIRECTIONS,
  moveTool,
  neighbour,
  offsetOf,
  offsetWords,
  towards,
  WALK,
  walkTask,
} from './board.ts';
import type { ToolEnv } from './env.ts';
import type { Task } from './episodeRules.ts';
import type { Side } from './split.ts';
import { turnRules } from './turnRules.ts';
import { vocabulary } from './vocab.ts';
import { drawWarehouse, mostWalls, push, type Stance, type Warehouse } from './warehouse.ts';

/** Share of the turns that the solution of a task of training may take. */
const TRAINED = 0.75;

/** Knobs that fix the shape of the environment. */
export interface SokobanOptions {
  readonly size: number; // inside the ring of walls
  readonly maxTurns: number;
  readonly think: boolean;
}

interface Worker {
  readonly room: Warehouse;
  readonly from: Stance;
}

const move = moveTool<Worker>('Moves one cell, pushing the box if it is there.', ({ room, from }, direction) =>
  outlook(room, push(room, from, direction)),
);

/** Where the box is as seen from the agent, and the target as seen from the box. */
function outlook({ size, target }: Warehouse, { at, box }: Stance): readonly string[] {
  return [...offsetOf(size, at, box), ...offsetOf(size, box, target)];
}

/**
 * Sokoban (RAGEN, from gym-sokoban): one box, one target, a room solvable by construction, told in the prompt as the walls
 * inside the ring, target and agent; each observation says where the box is as seen from the agent, and the target as seen from
 * the box. Process reward: the share of the shortest solution a move makes good, a potential-based shaping (a stuck box is as
 * good as no move made), so that it adds up to 1. Out of domain are rooms whose solution takes more moves than any trained on.
 */
export function sokoban({ size, maxTurns, think }: SokobanOptions): ToolEnv {
  const words = vocabulary(['at', 'box', 'target', 'walls', ...DIRECTIONS, ...cellNames(size), ...offsetWords(size)]);
  const { grammar, maxTurnTokens, begin } = turnRules({ vocabulary: words, think, maxTurns, call: WALK });
  const working = (least: number, most: number, side: Side) =>
    begin((draw) => work(drawWarehouse(size, least, most, draw)), { side });
  const trained = Math.max(1, Math.floor(TRAINED * maxTurns));
  return {
    name: 'sokoban',
    description: 'Push a box onto its target.',
    vocabulary: words.words,
    tools: [move],
    maxTokens: 11 + mostWalls(size) + maxTurns * maxTurnTokens + (maxTurns - 1) * 6,
    maxTurnTokens,
    grammar,
    reset: working(1, trained, 'train'),
    demonstration: working(1, trained, 'train'),
    splits: {
      heldOut: { reset: working(1, trained, 'held-out'), doc: 'Rooms that training never works in.' },
      shifted: {
        reset: working(Math.min(maxTurns, trained + 1), maxTurns, 'held-out'),
        doc:
          maxTurns > trained
            ? `Solutions take ${trained + 1} to ${maxTurns} moves where a room has any that long; in training at most ${trained}.`
            : 'The same rooms: one turn leaves no room for more.',
      },
    },
    rule: 'Walk behind the box and push it towards the target, rows first, whatever walls there are.',
  };
}

/** The move of who walks behind the box and pushes, seeing no wall; goes round the box where it stands in the way. */
function pushTowards(size: number, { at, box }: Stance, target: number): Direction {
  const wanted = towards(size, box, target);
  const back = { up: size, down: -size, left: 1, right: -1 }[wanted];
  const behind = box + back;
  if (at === behind) return wanted;
  const walk = towards(size, at, behind);
  const other = towards(size, at, behind, 'columns');
  const hits = (way: Direction) => neighbour(size, at, way) === box;
  if (!hits(walk)) return walk;
  return hits(other) ? (walk === 'up' || walk === 'down' ? 'left' : 'up') : other;
}

/** One room and the work in it. */
function work(room: Warehouse): Task {
  const { size, walls, target, start, distance } = room;
  const moves: (EnvView & { kind: 'grid' })['moves'][number][] = [];
  let now = start;
  const names = cellNames(size);
  const name = (cell: number) => names[cell] ?? '';
  const whole = distance(start);
  const left = (stance: Stance) => (distance(stance) === Infinity ? whole : distance(stance)); // a stuck box undoes the way
  return walkTask({
    key: `${start.at} ${start.box} to ${target}: ${walls.map(Number).join('')}`,
    prompt: [
      ...['<bos>', 'walls', ...names.filter((_, cell) => walls[cell])],
      ...['target', name(target), 'at', name(start.at), 'box', ...outlook(room, start)],
    ],
    question: `Push the box from ${name(start.box)} to ${name(target)}.`,
    // none once the box is stuck
    best: () => DIRECTIONS.filter((direction) => distance(push(room, now, direction)) < distance(now)),
    simple: () => pushTowards(size, now, target),
    step(direction, turn, tools) {
      const from = now;
      const { ok, content } = tools(move, [direction], { room, from });
      if (ok) now = push(room, from, direction);
      moves.push({ turn, direction, ...now, asMeant: now.at !== from.at });
      const solved = now.box === target;
      return {
        observation: content,
        progress: (left(from) - left(now)) / whole,
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
