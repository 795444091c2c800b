import { Purpose, random, type Random } from '../base/rng.ts';
import type { Parameter, ParameterType, ToolFace } from '../text/toolSchema.ts';
import type { ChanceKey, PastTurn, Reply, Request, Sandbox } from './sandbox.ts';

/** The split and number of a task. Two tasks differ only by these two; the same task always has the same random draws. */
export interface TaskOf {
  readonly split: 'train' | 'test';
  readonly index: number;
}

export type Values = Readonly<Record<string, unknown>>;
/** A turn of a player: a call, or words that end the episode. */
export type Move = { readonly tool: string; readonly values: Values } | { readonly answer: string };

/** A fault that came up in an episode. */
export interface Problem {
  readonly text: string;
  readonly line: number | null;
}

/** An episode that was played. */
export interface Play {
  readonly task: TaskOf;
  readonly prompt: string;
  readonly moves: readonly Move[];
  readonly replies: readonly Reply[];
  /** Named parts of the reward. Null if a fault ended the episode before it was paid. */
  readonly parts: Values | null;
  /** What `observe` returned at the end of the episode. Null if the class has no `observe`, or the option `observe` was off. */
  readonly observed: string | null;
  readonly problems: readonly Problem[];
}

/** Chooses the next turn from what was said so far; null ends the episode. */
export type Chooser = (
  played: { readonly prompt: string; readonly replies: readonly Reply[] },
  episode: number,
) => Move | null;

/** Most requests in one call of the sandbox; progress is reported between two calls. After a fault the calls get small again, because a request that was stopped took long. */
const MOST_TOGETHER = 64;
/** As a `player`: the environment's own expert plays. */
export const EXPERT = 'expert';

interface Course {
  readonly id: number;
  readonly task: TaskOf;
  prompt: string;
  readonly moves: Move[];
  readonly replies: Reply[];
  parts: Values | null;
  observed: string | null;
  readonly problems: Problem[];
  over: boolean;
}

/** The key of a task's random draws. The same seed and task give the same key everywhere. */
export function chanceOf(seed: number, { split, index }: TaskOf): ChanceKey {
  return [seed, index, split === 'train' ? 0 : 1];
}

/**
 * Plays tasks side by side, turn by turn. A task has the same random draws for every player. An episode ends when
 * the environment says so, when its player has no next move, after `maxTurns` turns, or at a fault of the environment.
 */
export function playTasks(
  sandbox: Sandbox,
  tools: readonly ToolFace[],
  tasks: readonly TaskOf[],
  {
    seed,
    maxTurns,
    player,
    onProgress,
    observe = false,
  }: {
    readonly seed: number;
    readonly maxTurns: number;
    readonly player: Chooser | typeof EXPERT;
    readonly onProgress?: ((share: number) => void) | undefined; // done so far, as a share of the most turns that the episodes can have
    readonly observe?: boolean; // call `observe` at the end of each episode
  },
): readonly Play[] {
  const courses = tasks.map((task, id): Course => ({
    id,
    task,
    prompt: '',
    moves: [],
    replies: [],
    parts: null,
    observed: null,
    problems: [],
    over: false,
  }));
  /** Sends a request for each of these episodes and gives each reply to `take`. A fault ends its episode instead. */
  const ask = (
    among: readonly Course[],
    request: (course: Course) => Request,
    take: (course: Course, reply: Reply) => void,
  ) => {
    for (let first = 0; first < among.length;) {
      const some = among.slice(first, first + together);
      together = Math.min(MOST_TOGETHER, 2 * together);
      for (const [at, reply] of sandbox.serve(some.map(request)).entries()) {
        const course = some[at];
        if (!course) continue;
        if (reply.problem === undefined) {
          take(course, reply);
        } else {
          course.problems.push({ text: reply.problem, line: reply.line ?? null });
          course.over = true;
          together = 1;
        }
      }
      first += some.length;
      share = Math.max(share, (step + first / among.length) / (maxTurns + 2)); // never falls back: a turn of the expert takes two requests
      onProgress?.(share);
    }
  };
  let together = 1;
  let [step, share] = [0, 0]; // steps: 0 opens the episodes, then one for each turn, the last reads the rewards
  ask(
    courses,
    ({ id, task }) => ({ op: 'open', id, ...task, chance: chanceOf(seed, task) }),
    (course, reply) => (course.prompt = reply.text ?? ''),
  );
  for (let turn = 0; turn < maxTurns; turn++) {
    step = turn + 1;
    const going = courses.filter(({ over }) => !over);
    if (going.length === 0) break;
    const chosen = new Map<Course, Move>();
    if (player === EXPERT) {
      ask(
        going,
        ({ id, task }) => ({ op: 'expert', id, chance: chanceOf(seed + turn + 1, task) }),
        (course, { none, answer, tool = '', values }) => {
          if (none) course.over = true;
          else chosen.set(course, answer === undefined ? { tool, values: (values ?? {}) as Values } : { answer });
        },
      );
    } else {
      for (const course of going) {
        const move = player(course, course.id);
        if (move) chosen.set(course, move);
        else course.over = true;
      }
    }
    const calls = new Map<Course, Request>();
    for (const [course, move] of chosen) {
      course.moves.push(move);
      if ('answer' in move) {
        calls.set(course, { op: 'answer', id: course.id, text: move.answer });
        continue;
      }
      const tool = tools.find(({ name }) => name === move.tool);
      const wrong = tool ? argumentProblem(tool, move.values) : `there is no tool ${move.tool}`;
      if (tool && wrong === null) {
        const values = tool.parameters.map((parameter) => move.values[nameOf(parameter)]);
        calls.set(course, { op: 'call', id: course.id, tool: tool.name, values });
      } else {
        course.replies.push({ refused: wrong ?? '' });
      }
    }
    const called = [...calls.keys()];
    ask(
      called,
      (course) => calls.get(course) ?? { op: 'close', id: course.id },
      (course, reply) => {
        course.replies.push(reply);
        if (reply.over) course.over = true;
      },
    );
  }
  step = maxTurns + 1;
  const sound = () => courses.filter(({ problems }) => problems.length === 0);
  if (observe) {
    ask(
      sound(),
      ({ id, moves, replies }) => ({ op: 'observe', id, history: historyOf(moves, replies) }),
      (course, { text }) => (course.observed = text ?? null),
    );
  }
  ask(
    sound(),
    ({ id }) => ({ op: 'reward', id }),
    (course, { parts }) => (course.parts = parts ?? null),
  );
  sandbox.serve(courses.map(({ id }) => ({ op: 'close', id })));
  return courses.map(({ task, prompt, moves, replies, parts, observed, problems }) => ({
    ...{ task, prompt, moves, replies },
    ...{ parts, observed, problems },
  }));
}

function historyOf(moves: readonly Move[], replies: readonly Reply[]): readonly PastTurn[] {
  return moves.flatMap((move, at) => {
    const { text, refused } = replies[at] ?? {};
    return 'tool' in move ? [{ tool: move.tool, arguments: move.values, answer: text ?? refused ?? '' }] : [];
  });
}

/** The name of a tool's parameter. */
export function nameOf(parameter: Parameter): string {
  return typeof parameter === 'string' ? parameter : parameter.name;
}

/** Says what is wrong with a call's arguments; the tool is then not called. Null if nothing is wrong. */
export function argumentProblem({ name, parameters }: ToolFace, values: Values): string | null {
  const strays = Object.keys(values).filter((key) => !parameters.some((parameter) => nameOf(parameter) === key));
  if (strays.length > 0) return `${name} has no argument ${strays[0]}`;
  for (const parameter of parameters) {
    const key = nameOf(parameter);
    const value = values[key];
    if (value === undefined) return `${name} needs the argument ${key}`;
    if (typeof parameter === 'string') continue;
    if (!isOf(value, parameter.type)) {
      return `${key} of ${name} has to be ${parameter.type === 'integer' ? 'an' : 'a'} ${parameter.type}`;
    }
    if (parameter.choices && !parameter.choices.some((choice) => choice === value)) {
      return `${key} of ${name} has to be one of ${parameter.choices.join(', ')}`;
    }
  }
  return null;
}

function isOf(value: unknown, type: ParameterType): boolean {
  return type === 'integer' ? Number.isSafeInteger(value) : typeof value === type;
}

/** A player that makes random calls. Its texts are words from the prompt and the tools' answers, its numbers are from 0 to 15. */
export function chancePlayer(tools: readonly ToolFace[], seed: number): Chooser {
  return ({ prompt, replies }, episode) => {
    const draw = random(seed, Purpose.baseline, episode, replies.length);
    const wordsRead =
      [prompt, ...replies.map(({ text, refused }) => text ?? refused ?? '')].join(' ').match(/[\p{L}\p{N}]+/gu) ?? [];
    return someCall(tools, draw, (type) =>
      isNumeric(type) ? draw.int(16) : wordsRead.length > 0 ? draw.pick(wordsRead) : 'a',
    );
  };
}

const NONSENSE = [
  '',
  ' ',
  'x'.repeat(5000),
  '\u0000',
  '💥',
  '<|im_end|>',
  '__proto__',
  'constructor',
  '-1',
  '1e999',
  '{}',
  '</tool_response>',
];

/** A player that makes random calls with strange arguments, such as very long texts, control characters and huge numbers. */
export function nonsensePlayer(tools: readonly ToolFace[], seed: number): Chooser {
  return ({ replies }, episode) => {
    const draw = random(seed, Purpose.inputDependence, episode, replies.length);
    return someCall(tools, draw, (type) =>
      type === 'integer'
        ? draw.pick([-1, 2 ** 31, -(2 ** 53) + 1])
        : type === 'number'
          ? draw.pick([-1, 0.5, 1e308, -1e-308, 2 ** 53])
          : draw.pick(NONSENSE),
    );
  };
}

const isNumeric = (type: string) => type === 'number' || type === 'integer';

function someCall(tools: readonly ToolFace[], draw: Random, value: (type: string) => unknown): Move | null {
  if (tools.length === 0) return { answer: String(value('string')) };
  const tool = draw.pick(tools);
  const values = tool.parameters.map((parameter): [string, unknown] => {
    if (typeof parameter === 'string') return [parameter, value('string')];
    const { name, type, choices } = parameter;
    if (choices) return [name, draw.pick(choices)];
    return [name, type === 'boolean' ? draw.int(2) === 1 : value(type)];
  });
  return { tool: tool.name, values: Object.fromEntries(values) };
}
