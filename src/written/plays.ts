import { Purpose, random, type Random } from '../base/rng.ts';
import type { Parameter, ParameterType, ToolFace } from '../text/toolSchema.ts';
import type { ChanceKey, PastTurn, Reply, Request, Sandbox } from './sandbox.ts';

/**
 * The split and index of a task, which identify it. The same task always has the same random draws.
 */
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
  /** The named parts of the reward. Null if a fault ended the episode before the reward. */
  readonly parts: Values | null;
  /**
   * What `observe` returned at the end of the episode. Null if the class has no `observe`, or the option `observe` was
   * off.
   */
  readonly observed: string | null;
  readonly problems: readonly Problem[];
}

/** Chooses the next move from the texts so far; null ends the episode. */
export type Chooser = (
  played: { readonly prompt: string; readonly replies: readonly Reply[] },
  episode: number,
) => Move | null;

/**
 * Limit on the requests in one call of the sandbox. Progress is reported between two calls. After a fault the calls
 * become small again, because a request that was stopped took long.
 */
const MAX_REQUESTS_TOGETHER = 64;
/** The value of `player` that lets the environment's own expert play. */
export const EXPERT = 'expert';

interface EpisodeState {
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
    /** Called with the share of the work that is done, if every episode had `maxTurns` turns. */
    readonly onProgress?: ((share: number) => void) | undefined;
    readonly observe?: boolean; // call `observe` at the end of each episode
  },
): readonly Play[] {
  const episodeStates = tasks.map((task, id): EpisodeState => ({
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
  /** Sends a request for each of these episodes and passes each reply to `take`. A fault ends its episode instead. */
  const ask = (
    asked: readonly EpisodeState[],
    request: (episodeState: EpisodeState) => Request,
    take: (episodeState: EpisodeState, reply: Reply) => void,
  ) => {
    for (let first = 0; first < asked.length;) {
      const batch = asked.slice(first, first + together);
      together = Math.min(MAX_REQUESTS_TOGETHER, 2 * together);
      for (const [at, reply] of sandbox.serve(batch.map(request)).entries()) {
        const episodeState = batch[at];
        if (!episodeState) continue;
        if (reply.problem === undefined) {
          take(episodeState, reply);
        } else {
          episodeState.problems.push({ text: reply.problem, line: reply.line ?? null });
          episodeState.over = true;
          together = 1;
        }
      }
      first += batch.length;
      // must not fall back, although a turn of the expert takes two requests
      share = Math.max(share, (step + first / asked.length) / (maxTurns + 2));
      onProgress?.(share);
    }
  };
  let together = 1;
  let [step, share] = [0, 0]; // steps: 0 opens the episodes, then one for each turn, the last reads the rewards
  ask(
    episodeStates,
    ({ id, task }) => ({ op: 'open', id, ...task, chance: chanceOf(seed, task) }),
    (episodeState, reply) => (episodeState.prompt = reply.text ?? ''),
  );
  for (let turn = 0; turn < maxTurns; turn++) {
    step = turn + 1;
    const active = episodeStates.filter(({ over }) => !over);
    if (active.length === 0) break;
    const chosen = new Map<EpisodeState, Move>();
    if (player === EXPERT) {
      ask(
        active,
        ({ id, task }) => ({ op: 'expert', id, chance: chanceOf(seed + turn + 1, task) }),
        (episodeState, { none, answer, tool = '', values }) => {
          if (none) episodeState.over = true;
          else chosen.set(episodeState, answer === undefined ? { tool, values: (values ?? {}) as Values } : { answer });
        },
      );
    } else {
      for (const episodeState of active) {
        const move = player(episodeState, episodeState.id);
        if (move) chosen.set(episodeState, move);
        else episodeState.over = true;
      }
    }
    const calls = new Map<EpisodeState, Request>();
    for (const [episodeState, move] of chosen) {
      episodeState.moves.push(move);
      if ('answer' in move) {
        calls.set(episodeState, { op: 'answer', id: episodeState.id, text: move.answer });
        continue;
      }
      const tool = tools.find(({ name }) => name === move.tool);
      const problem = tool ? argumentProblem(tool, move.values) : `there is no tool ${move.tool}`;
      if (tool && problem === null) {
        const values = tool.parameters.map((parameter) => move.values[nameOf(parameter)]);
        calls.set(episodeState, { op: 'call', id: episodeState.id, tool: tool.name, values });
      } else {
        episodeState.replies.push({ refused: problem ?? '' });
      }
    }
    const callers = [...calls.keys()];
    ask(
      callers,
      (episodeState) => calls.get(episodeState) ?? { op: 'close', id: episodeState.id },
      (episodeState, reply) => {
        episodeState.replies.push(reply);
        if (reply.over) episodeState.over = true;
      },
    );
  }
  step = maxTurns + 1;
  const withoutFault = () => episodeStates.filter(({ problems }) => problems.length === 0);
  if (observe) {
    ask(
      withoutFault(),
      ({ id, moves, replies }) => ({ op: 'observe', id, history: historyOf(moves, replies) }),
      (episodeState, { text }) => (episodeState.observed = text ?? null),
    );
  }
  ask(
    withoutFault(),
    ({ id }) => ({ op: 'reward', id }),
    (episodeState, { parts }) => (episodeState.parts = parts ?? null),
  );
  sandbox.serve(episodeStates.map(({ id }) => ({ op: 'close', id })));
  return episodeStates.map(({ task, prompt, moves, replies, parts, observed, problems }) => ({
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
  const unknownNames = Object.keys(values).filter((key) => !parameters.some((parameter) => nameOf(parameter) === key));
  if (unknownNames.length > 0) return `${name} has no argument ${unknownNames[0]}`;
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

/**
 * A player that makes random calls. Its texts are words from the prompt and the tools' answers, its numbers are from 0
 * to 15.
 */
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

/**
 * A player that makes random calls with strange arguments, such as very long texts, control characters and huge
 * numbers.
 */
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
