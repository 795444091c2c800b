import type { EnvView } from '../domain/envView.ts';
import { cellNames, DIRECTIONS, moveTool, towards, WALK, walkTask } from './board.ts';
import type { ToolEnv } from './env.ts';
import type { Task } from './episodeRules.ts';
import { drawLake, type Lake, type LakeEnds, planner, quarterTurn, slide } from './lake.ts';
import { type LakeWords, lakeWords, type CellReport } from './lakeWords.ts';
import type { Side } from './split.ts';
import { turnRules } from './turnRules.ts';
import { vocabulary } from './vocab.ts';

/** Gymnasium's slippery ice: one third ahead, one third to each side. */
const SHIFTED_SLIP = 2 / 3;

/** Knobs that fix the shape of the environment. */
export interface FrozenLakeOptions {
  readonly size: number;
  readonly slip: number; // probability that a move goes to one of its sides
  readonly ends: LakeEnds;
  readonly sight: CellReport;
  readonly maxTurns: number;
  readonly think: boolean;
}

interface Walker {
  readonly lake: Lake;
  readonly at: number;
  readonly slip: number;
  readonly tell: LakeWords;
}

const move = moveTool<Walker>('Moves one cell; the ice may carry you to the side.', (walker, direction, draw) => {
  const { lake, at, slip, tell } = walker;
  const u = draw.next();
  const went = u < slip / 2 ? quarterTurn(direction, -1) : u < slip ? quarterTurn(direction, 1) : direction;
  return tell.afterMove(lake, slide(lake, at, went));
});

/**
 * FrozenLake (RAGEN, from gymnasium): a random connected map, told in the prompt as start, goal and holes; each observation
 * tells of the cell a move led to. Process reward: the share of the way to the goal a move makes good, a potential-based shaping, so
 * that it adds up to 1 at the goal and to 0 in a hole. Out of domain, the ice is as slippery as gymnasium's.
 */
export function frozenLake(options: FrozenLakeOptions): ToolEnv {
  const { size, slip, ends, sight, maxTurns, think } = options;
  const tell = lakeWords(size, sight);
  const words = vocabulary(['at', 'goal', 'holes', ...DIRECTIONS, ...tell.words]);
  const { grammar, maxTurnTokens, begin } = turnRules({ vocabulary: words, think, maxTurns, call: WALK });
  const walking = (slipping: number, side: Side) =>
    begin((draw) => walk(drawLake(size, maxTurns, ends, draw), slipping, maxTurns, tell), { side });
  return {
    name: 'frozen-lake',
    description: 'Walk over a frozen lake to a goal without falling into a hole.',
    vocabulary: words.words,
    tools: [move],
    maxTokens: 1 + tell.most.map + maxTurns * maxTurnTokens + (maxTurns - 1) * (2 + tell.most.afterMove),
    maxTurnTokens,
    grammar,
    reset: walking(slip, 'train'),
    demonstration: walking(slip, 'train'),
    splits: {
      heldOut: { reset: walking(slip, 'held-out'), doc: 'Lakes that training never walks over.' },
      shifted: {
        reset: walking(Math.max(SHIFTED_SLIP, slip), 'held-out'),
        doc: 'A move slips to one of its sides at least two times in three.',
      },
    },
    rule: 'Head for the goal, rows first, whatever lies between.',
  };
}

/** One lake and the way over it. */
function walk(lake: Lake, slip: number, maxTurns: number, tell: LakeWords): Task {
  const { size, start, goal, holes, distances } = lake;
  const moves: (EnvView & { kind: 'grid' })['moves'][number][] = [];
  const plan = planner(lake, slip);
  let at = start;
  const names = cellNames(size);
  const whole = distances[start] ?? 1;
  const left = (cell: number) => (holes[cell] ? whole : (distances[cell] ?? whole)); // a fall undoes the way
  return walkTask({
    key: `${start} to ${goal}: ${holes.map(Number).join('')}`,
    prompt: ['<bos>', ...tell.map(lake)],
    question: `Walk from ${names[start]} to ${names[goal]} without falling into a hole.`,
    best: (turn) => plan(at, maxTurns - turn + 1),
    simple: () => towards(size, at, goal),
    step(direction, turn, tools) {
      const { ok, content } = tools(move, [direction], { lake, at, slip, tell });
      const from = at;
      if (ok) at = tell.where(lake, content);
      moves.push({ turn, direction, at, box: null, asMeant: at !== from && at === slide(lake, from, direction) });
      return {
        observation: content,
        progress: (left(from) - left(at)) / whole,
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
