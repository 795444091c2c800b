import type { EnvView } from '../domain/envView.ts';
import {
  cellNames,
  DIRECTIONS,
  moveTool,
  directionTowards,
  MOVE_SENTENCE,
  walkTask,
  neighbour,
  offsetOf,
  offsetWords,
  type Direction,
} from './board.ts';
import type { ToolEnv } from './env.ts';
import type { Task } from './episodeRules.ts';
import type { Side } from './split.ts';
import { buildTurns } from './turnRules.ts';
import { buildVocabulary } from './vocab.ts';
import type { Random } from '../base/rng.ts';

/** Probability that a cell is ice and not a hole, as in gymnasium and RAGEN. */
const ICE_SHARE = 0.8;
/** Discount per turn. It prefers the shorter of two equally safe ways, and is too close to 1 to trade safety for speed. */
const TURN_DISCOUNT = 0.9999;

/** A frozen lake. Cells are numbered row by row. */
interface Lake {
  readonly size: number;
  readonly start: number;
  readonly goal: number;
  readonly holes: readonly boolean[];
  readonly distances: readonly number[]; // moves to the goal without slipping; Infinity in a hole
}

/** This limit keeps the prompt short and rejects less than one draw in a hundred. */
function maxHoles(size: number): number {
  return Math.floor((size * size) / 2);
}

/** The positions of start and goal: any two cells as in RAGEN, or opposite corners as in gymnasium. */
type LakeEnds = 'any' | 'corners';

/** Draws a random lake whose goal can be reached in at most `moves` moves. */
function drawLake(size: number, moves: number, ends: LakeEnds, draw: Random): Lake {
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
function cellAfterMove({ size }: Pick<Lake, 'size'>, cell: number, direction: Direction): number {
  const to = neighbour(size, cell, direction);
  return to < 0 ? cell : to;
}

/** Returns the direction after a quarter turn: counterclockwise for 1, clockwise for −1. */
function quarterTurn(direction: Direction, sign: 1 | -1): Direction {
  return DIRECTIONS[(DIRECTIONS.indexOf(direction) + sign + DIRECTIONS.length) % DIRECTIONS.length] ?? direction;
}

/**
 * Returns a function that computes the best moves by dynamic programming: `chanceToArrive[k][cell]` is the probability
 * to arrive within k moves, slightly discounted per move. No player can do better, because the plan uses the whole map
 * and the probability to slip.
 */
function lakePlanner(lake: Lake, slip: number): (cell: number, movesLeft: number) => readonly Direction[] {
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

/** Slip probability of gymnasium's slippery ice: a third straight ahead, a third to each side. */
const SHIFTED_SLIP = 2 / 3;

export interface FrozenLakeOptions {
  readonly size: number;
  readonly slip: number; // probability that a move goes to one of its sides
  readonly ends: LakeEnds;
  readonly sight: CellReport;
  readonly maxTurns: number;
  readonly think: boolean;
}

interface MoveState {
  readonly lake: Lake;
  readonly at: number;
  readonly slip: number;
  readonly lakeText: LakeWords;
}

const move = moveTool<MoveState>('Moves one cell; the ice may carry you to the side.', (state, direction, draw) => {
  const { lake, at, slip, lakeText } = state;
  const u = draw.next();
  const actualDirection = u < slip / 2 ? quarterTurn(direction, -1) : u < slip ? quarterTurn(direction, 1) : direction;
  return lakeText.afterMove(lake, cellAfterMove(lake, at, actualDirection));
});

/**
 * FrozenLake (RAGEN, from gymnasium): a random connected map. The prompt lists start, goal and holes. Each observation
 * describes the cell that a move led to.
 *
 * Process reward of a move: the share of the way to the goal that it completes. This is potential-based shaping, so the
 * rewards add up to 1 at the goal and to 0 in a hole. In shifted tasks the ice is as slippery as gymnasium's.
 */
export function frozenLake(options: FrozenLakeOptions): ToolEnv {
  const { size, slip, ends, sight, maxTurns, think } = options;
  const lakeText = makeLakeWords(size, sight);
  const vocabulary = buildVocabulary(['at', 'goal', 'holes', ...DIRECTIONS, ...lakeText.words]);
  const { grammar, maxTurnTokens, makeReset } = buildTurns({ vocabulary, think, maxTurns, call: MOVE_SENTENCE });
  const lakeTasks = (slipProbability: number, side: Side) =>
    makeReset((draw) => lakeTask(drawLake(size, maxTurns, ends, draw), slipProbability, maxTurns, lakeText), { side });
  return {
    name: 'frozen-lake',
    description: 'Walk over a frozen lake to a goal without falling into a hole.',
    vocabulary: vocabulary.words,
    tools: [move],
    maxTokens:
      1 + lakeText.maxWords.map + maxTurns * maxTurnTokens + (maxTurns - 1) * (2 + lakeText.maxWords.afterMove),
    maxTurnTokens,
    grammar,
    reset: lakeTasks(slip, 'train'),
    demonstration: lakeTasks(slip, 'train'),
    splits: {
      heldOut: { reset: lakeTasks(slip, 'held-out'), doc: 'Lakes that training never walks over.' },
      shifted: {
        reset: lakeTasks(Math.max(SHIFTED_SLIP, slip), 'held-out'),
        doc: 'A move slips to one of its sides at least two times in three.',
      },
    },
    ruleDoc: 'Head for the goal, rows first, whatever lies between.',
  };
}

function lakeTask(lake: Lake, slip: number, maxTurns: number, lakeText: LakeWords): Task {
  const { size, start, goal, holes, distances } = lake;
  const moves: (EnvView & { kind: 'grid' })['moves'][number][] = [];
  const bestMovesFrom = lakePlanner(lake, slip);
  let at = start;
  const names = cellNames(size);
  const startDistance = distances[start] ?? 1;
  // a fall loses all progress
  const distanceLeft = (cell: number) => (holes[cell] ? startDistance : (distances[cell] ?? startDistance));
  return walkTask({
    key: `${start} to ${goal}: ${holes.map(Number).join('')}`,
    prompt: ['<bos>', ...lakeText.mapWords(lake)],
    question: `Walk from ${names[start]} to ${names[goal]} without falling into a hole.`,
    bestMoves: (turn) => bestMovesFrom(at, maxTurns - turn + 1),
    ruleMove: () => directionTowards(size, at, goal),
    step(direction, turn, tools) {
      const { ok, content } = tools(move, [direction], { lake, at, slip, lakeText });
      const from = at;
      if (ok) at = lakeText.cellOf(lake, content);
      moves.push({
        turn,
        direction,
        at,
        box: null,
        asMeant: at !== from && at === cellAfterMove(lake, from, direction),
      });
      return {
        observation: content,
        progress: (distanceLeft(from) - distanceLeft(at)) / startDistance,
        stop: at === goal ? 'found' : holes[at] ? 'lost' : null,
        success: at === goal,
      };
    },
    view: () => ({
      kind: 'grid',
      title: 'FrozenLake',
      size,
      cells: holes.map((hole, cell) => (cell === goal ? 'goal' : hole ? 'hole' : 'floor')),
      start,
      box: null,
      moves: [...moves],
    }),
  });
}

/** The goal's direction and the cells around the agent (`outlook`), or only the name of its cell (`name`). */
type CellReport = 'outlook' | 'name';

interface LakeWords {
  readonly words: readonly string[]; // vocabulary in addition to the words that all lakes share
  readonly mapWords: (lake: Lake) => readonly string[]; // holes, goal and start
  readonly afterMove: (lake: Lake, at: number) => readonly string[]; // after a move
  /** Returns the cell that an `afterMove` report is about. */
  readonly cellOf: (lake: Lake, report: readonly string[]) => number;
  readonly maxWords: { readonly map: number; readonly afterMove: number }; // largest numbers of words
}

/**
 * Makes the words for lakes of one size. With `name`, a move returns the cell's name, and the agent has to compare it
 * with the holes that the prompt lists. With `outlook`, a move returns the rows and columns to the goal, and what is on
 * the four sides. With names, 150 steps of imitating an expert solved .32 of the lakes. With outlooks, 150 smaller
 * steps of imitating a player that is right half the time solved .67 (docs/journal/learning.md).
 */
function makeLakeWords(size: number, sight: CellReport): LakeWords {
  const names = cellNames(size);
  const name = (cell: number) => names[cell] ?? '';
  const holesOf = ({ holes }: Lake) => names.filter((_, cell) => holes[cell]);
  const maxHoleCount = maxHoles(size);
  if (sight === 'name') {
    return {
      words: names,
      mapWords: (lake) => ['at', name(lake.start), 'goal', name(lake.goal), 'holes', ...holesOf(lake)],
      afterMove: (_, at) => [name(at)],
      cellOf: (_, [cell = '']) => names.indexOf(cell),
      maxWords: { map: 5 + maxHoleCount, afterMove: 1 },
    };
  }
  const afterMove = (lake: Lake, at: number) => [...offsetOf(size, at, lake.goal), ...sidesOf(lake, at)];
  return {
    words: [...names, 'hole', 'ice', 'edge', ...offsetWords(size)],
    mapWords: (lake) => ['holes', ...holesOf(lake), 'goal', name(lake.goal), 'at', ...afterMove(lake, lake.start)],
    afterMove,
    cellOf: ({ goal }, [rows, columns]) =>
      names.findIndex((_, at) => offsetOf(size, at, goal).every((word, i) => word === [rows, columns][i])),
    maxWords: { map: 10 + maxHoleCount, afterMove: 6 },
  };
}

/** What is on the four sides of a cell, in the order of DIRECTIONS. */
function sidesOf({ size, goal, holes }: Lake, at: number): readonly string[] {
  return DIRECTIONS.map((direction) => {
    const cell = neighbour(size, at, direction);
    return cell < 0 ? 'edge' : cell === goal ? 'goal' : holes[cell] ? 'hole' : 'ice';
  });
}
