import type { EnvView } from '../protocol.ts';
import { Purpose, random } from '../rng.ts';
import { cellNames, type Direction, DIRECTIONS, isDirection, walkGrammar } from './board.ts';
import type { EnvSettings, Episode, Tool, ToolEnv } from './env.ts';
import { beginEpisode, type EpisodeRules, type Task } from './episode.ts';
import { THINK_WORDS } from './grammar.ts';
import { drawLake, type Lake, mostHoles, planner, quarterTurn, slide } from './lake.ts';
import { vocabulary } from './vocab.ts';

/** Gymnasium's slippery ice: one third ahead, one third to each side. */
const SHIFTED_SLIP = 2 / 3;

/** Knobs that fix the shape of the environment. */
export interface FrozenLakeOptions {
  readonly size: number;
  readonly slip: number; // probability that a move goes to one of its sides
  readonly maxTurns: number;
  readonly think: boolean;
}

interface Walker {
  readonly lake: Lake;
  readonly at: number;
  readonly slip: number;
  readonly names: readonly string[];
}

/** Takes one step; says where it led. */
const move: Tool<Walker> = {
  name: 'move',
  description: 'Moves one cell; the ice may carry you to the side.',
  parameters: ['direction'],
  execute([way], { lake, at, slip, names }, draw) {
    if (!isDirection(way)) return { ok: false, content: [] };
    const u = draw.next();
    const went = u < slip / 2 ? quarterTurn(way, -1) : u < slip ? quarterTurn(way, 1) : way;
    return { ok: true, content: [names[slide(lake, at, went)] ?? ''] };
  },
};

/**
 * FrozenLake (RAGEN, from gymnasium): a random connected map, told in the prompt as start, goal and holes; each observation is
 * the cell a move led to. Process reward: the share of the way to the goal a move makes good, a potential-based shaping, so
 * that it adds up to 1 at the goal and to 0 in a hole. Out of domain, the ice is as slippery as gymnasium's.
 */
export function frozenLake(options: FrozenLakeOptions): ToolEnv {
  const { size, slip, maxTurns, think } = options;
  const names = cellNames(size);
  const words = vocabulary(['at', 'goal', 'holes', ...DIRECTIONS, ...names]);
  const { masked, free } = walkGrammar(words, think);
  const rules: EpisodeRules = {
    vocabulary: words,
    maxTurns,
    think,
    stateOf: (_, { grammar }) => (grammar ? masked : free).state('turn'),
  };
  const begin =
    (slipping: number) =>
    (seed: number, settings: EnvSettings): Episode => {
      const lake = drawLake(size, maxTurns, random(seed, Purpose.environment, 0));
      return beginEpisode(walk(lake, slipping, maxTurns, names), rules, seed, settings);
    };
  const maxTurnTokens = 3 + (think ? THINK_WORDS + 2 : 0);
  return {
    name: 'frozen-lake',
    description: 'Walk over a frozen lake to a goal without falling into a hole.',
    vocabulary: words.words,
    tools: [move],
    maxTokens: 6 + mostHoles(size) + maxTurns * maxTurnTokens + (maxTurns - 1) * 3,
    maxTurnTokens,
    grammar: (on) => (on ? masked : free).grammar,
    reset: begin(slip),
    demonstration: begin(slip),
    splits: {
      shifted: {
        reset: begin(Math.max(SHIFTED_SLIP, slip)),
        doc: 'A move slips to one of its sides at least two times in three.',
      },
    },
    retrieved: null, // the map is in the prompt; there is nothing to retrieve
  };
}

/** One lake and the way over it. */
function walk(lake: Lake, slip: number, maxTurns: number, names: readonly string[]): Task {
  const { size, start, goal, holes, distances } = lake;
  const moves: (EnvView & { kind: 'grid' })['moves'][number][] = [];
  const plan = planner(lake, slip);
  let at = start;
  const name = (cell: number) => names[cell] ?? '';
  const whole = distances[start] ?? 1;
  const left = (cell: number) => (holes[cell] ? whole : (distances[cell] ?? whole)); // a fall undoes the way
  const best = (turn: number) => plan(at, maxTurns - turn + 1);
  const call = (direction: Direction): readonly string[] => ['<call>', direction, '</call>'];
  const expert = (turn: number) => call(best(turn)[0] ?? 'left');
  return {
    prompt: ['<bos>', 'at', name(start), 'goal', name(goal), 'holes', ...names.filter((_, cell) => holes[cell])],
    question: `Walk from ${name(start)} to ${name(goal)} without falling into a hole.`,
    call(args, turn, tools) {
      const [direction] = args;
      if (args.length !== 1 || !isDirection(direction)) return null;
      const { ok, content } = tools(move, args, { lake, at, slip, names });
      const from = at;
      if (ok) at = names.indexOf(content[0] ?? '');
      moves.push({ turn, direction, at, box: null, asMeant: at !== from && at === slide(lake, from, direction) });
      return {
        observation: content,
        progress: (left(from) - left(at)) / whole,
        stop: at === goal ? 'found' : holes[at] ? 'lost' : null,
        success: at === goal,
      };
    },
    answer: () => null,
    needs: best,
    expert,
    demonstrate: (quality, draw, turn) => (draw.next() < quality ? expert(turn) : call(draw.pick(DIRECTIONS))),
    view: () => ({
      kind: 'grid',
      title: 'FrozenLake',
      size,
      cells: holes.map((hole, cell) => (cell === goal ? 'goal' : hole ? 'hole' : 'floor')),
      start,
      box: null,
      moves: [...moves],
    }),
  };
}
