import { Purpose, random, type Random } from '../base/rng.ts';
import {
  matchesSchema,
  parameterName,
  schemaWords,
  type ToolFace,
  typesOf,
  type ValueSchema,
  valueSchemaOf,
} from '../text/toolSchema.ts';
import { readText } from './observing.ts';
import type { RandomKey, PastTurn, Reply, Request, Sandbox } from './script/sandbox.ts';

/** Identifies a task by its split and index. The same task always has the same random draws. */
export interface TaskId {
  readonly split: 'train' | 'test';
  readonly index: number;
}

export type ArgumentValues = Readonly<Record<string, unknown>>;
/** A turn of a player: a call, or words that end the episode. */
export type Move = { readonly tool: string; readonly values: ArgumentValues } | { readonly answer: string };

export interface EpisodeProblem {
  readonly text: string;
  readonly line: number | null;
  readonly call?: Move; // during which it came up
}

export interface Play {
  readonly task: TaskId;
  readonly prompt: string;
  readonly moves: readonly Move[];
  readonly replies: readonly Reply[];
  /** The named parts of the reward. Null if a fault ended the episode before the reward. */
  readonly parts: ArgumentValues | null;
  /**
   * What `observe` returned at the end of the episode. Null if the class has no `observe`, or the option `observe` was
   * off.
   */
  readonly observed: string | null;
  readonly problems: readonly EpisodeProblem[];
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
const MAX_REQUESTS_PER_CALL = 64;
/** The value of `player` that lets the environment's own expert play. */
export const EXPERT = 'expert';
/**
 * A player that asks the expert for each move, but makes another one in some turns. So the expert has to go on after
 * calls that it would not make, as in training.
 */
export interface InterruptedExpert {
  readonly interrupt: (episode: Pick<Play, 'prompt' | 'replies'>, id: number, expertMove: Move) => Move;
}
/** Calls that took too long and were stopped. Each takes seconds, so the check plays only until there are a few. */
export interface StoppedCalls {
  left: number;
}
export const isStopped = (problem: string) => problem.includes('computed too long');

interface EpisodeState {
  readonly id: number;
  readonly task: TaskId;
  prompt: string;
  readonly moves: Move[];
  readonly replies: Reply[];
  parts: ArgumentValues | null;
  observed: string | null;
  readonly problems: EpisodeProblem[];
  over: boolean;
}

/** The key of a task's random draws. The same seed and task give the same key everywhere. */
export function randomKeyOf(seed: number, { split, index }: TaskId): RandomKey {
  return [seed, index, split === 'train' ? 0 : 1];
}

/**
 * Plays tasks side by side, turn by turn. A task has the same random draws for every player. An episode ends when
 * the environment says so, when its player has no next move, after `maxTurns` turns, or at a fault of the environment.
 */
export function playTasks(
  sandbox: Sandbox,
  tools: readonly ToolFace[],
  tasks: readonly TaskId[],
  {
    seed,
    maxTurns,
    player,
    onProgress,
    observe = false,
    stops = { left: Infinity },
  }: {
    readonly seed: number;
    readonly maxTurns: number;
    readonly player: Chooser | typeof EXPERT | InterruptedExpert;
    /** Called with the share of the work that is done, if every episode had `maxTurns` turns. */
    readonly onProgress?: ((share: number) => void) | undefined;
    readonly observe?: boolean; // call `observe` at the end of each episode
    readonly stops?: StoppedCalls; // counted down; at 0 no further request is sent
  },
): readonly Play[] {
  const episodes = tasks.map((task, id): EpisodeState => ({
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
  /**
   * Sends a request for each of these episodes and passes each reply to `handleReply`. If the reply is a fault, its
   * episode ends instead.
   */
  const sendRequests = (
    askedEpisodes: readonly EpisodeState[],
    request: (episode: EpisodeState) => Request,
    handleReply: (episodeState: EpisodeState, reply: Reply) => void,
  ) => {
    for (let sent = 0; sent < askedEpisodes.length && stops.left > 0;) {
      const batch = askedEpisodes.slice(sent, sent + batchSize);
      batchSize = Math.min(MAX_REQUESTS_PER_CALL, 2 * batchSize);
      const requests = batch.map(request);
      for (const [at, reply] of sandbox.serve(requests).entries()) {
        const [episodeState, sentRequest] = [batch[at], requests[at]];
        if (!episodeState || !sentRequest) continue;
        if (reply.problem === undefined) {
          handleReply(episodeState, reply);
        } else {
          const move = episodeState.moves.at(-1);
          const call = sentRequest.op === 'call' && move ? { call: move } : {};
          episodeState.problems.push({ text: reply.problem, line: reply.line ?? null, ...call });
          if (isStopped(reply.problem)) stops.left--;
          episodeState.over = true;
          batchSize = 1;
        }
      }
      sent += batch.length;
      // the share must not go back when the second of the two lists of requests in an expert's turn begins
      share = Math.max(share, (roundIndex + sent / askedEpisodes.length) / (maxTurns + 2));
      onProgress?.(share);
    }
  };
  let batchSize = 1;
  let [roundIndex, share] = [0, 0]; // round 0 opens the episodes, then one for each turn, the last reads the rewards
  sendRequests(
    episodes,
    ({ id, task }) => ({ op: 'open', id, ...task, chance: randomKeyOf(seed, task) }),
    (episodeState, reply) => (episodeState.prompt = reply.text ?? ''),
  );
  for (let turn = 0; turn < maxTurns; turn++) {
    roundIndex = turn + 1;
    const active = episodes.filter(({ over }) => !over);
    if (active.length === 0 || stops.left <= 0) break;
    const chosenMoves = new Map<EpisodeState, Move>();
    if (typeof player !== 'function') {
      sendRequests(
        active,
        ({ id, task }) => ({ op: 'expert', id, chance: randomKeyOf(seed + turn + 1, task) }),
        (episodeState, { none, answer, tool = '', values }) => {
          if (none) episodeState.over = true;
          else {
            const move: Move = answer === undefined ? { tool, values: (values ?? {}) as ArgumentValues } : { answer };
            const problem = 'tool' in move ? callProblem(tools, move.tool, move.values) : null;
            if (player === EXPERT) chosenMoves.set(episodeState, move);
            else if (problem === null)
              chosenMoves.set(episodeState, player.interrupt(episodeState, episodeState.id, move));
            else {
              episodeState.problems.push({ text: wrongCallOfExpert(problem), line: null });
              episodeState.over = true;
            }
          }
        },
      );
    } else {
      for (const episodeState of active) {
        const move = player(episodeState, episodeState.id);
        if (move) chosenMoves.set(episodeState, move);
        else episodeState.over = true;
      }
    }
    if (turn === 0) batchSize = 1; // the first calls: if they take too long, only a few of them should
    const callRequests = new Map<EpisodeState, Request>();
    for (const [episodeState, move] of chosenMoves) {
      episodeState.moves.push(move);
      if ('answer' in move) {
        callRequests.set(episodeState, { op: 'answer', id: episodeState.id, text: move.answer });
        continue;
      }
      const tool = tools.find(({ name }) => name === move.tool);
      const problem = callProblem(tools, move.tool, move.values);
      if (tool && problem === null) {
        const values = tool.parameters.map((parameter) => move.values[parameterName(parameter)]);
        callRequests.set(episodeState, { op: 'call', id: episodeState.id, tool: tool.name, values });
      } else {
        episodeState.replies.push({ refused: problem ?? '' });
      }
    }
    const callers = [...callRequests.keys()];
    sendRequests(
      callers,
      (episodeState) => callRequests.get(episodeState) ?? { op: 'close', id: episodeState.id },
      (episodeState, reply) => {
        episodeState.replies.push(reply);
        if (reply.over) episodeState.over = true;
      },
    );
  }
  roundIndex = maxTurns + 1;
  const withoutFault = () => episodes.filter(({ problems }) => problems.length === 0);
  if (observe) {
    sendRequests(
      withoutFault(),
      ({ id, moves, replies }) => ({ op: 'observe', id, history: historyOf(moves, replies) }),
      (episodeState, { text }) => (episodeState.observed = text ?? null),
    );
  }
  sendRequests(
    withoutFault(),
    ({ id }) => ({ op: 'reward', id }),
    (episodeState, { parts }) => (episodeState.parts = parts ?? null),
  );
  sandbox.serve(episodes.map(({ id }) => ({ op: 'close', id })));
  return episodes.map(({ task, prompt, moves, replies, parts, observed, problems }) => ({
    ...{ task, prompt, moves, replies },
    ...{ parts, observed, problems },
  }));
}

const wrongCallOfExpert = (problem: string) => `The expert makes a wrong call: ${problem}`;

function historyOf(moves: readonly Move[], replies: readonly Reply[]): readonly PastTurn[] {
  return moves.flatMap((move, at) => {
    const { text, refused } = replies[at] ?? {};
    return 'tool' in move ? [{ tool: move.tool, arguments: move.values, answer: text ?? refused ?? '' }] : [];
  });
}

/** Says why a call can't be played: there is no such tool, or its arguments are wrong. Null if nothing is wrong. */
export function callProblem(tools: readonly ToolFace[], tool: string, values: ArgumentValues): string | null {
  const called = tools.find(({ name }) => name === tool);
  return called ? argumentProblem(called, values) : `there is no tool ${tool}`;
}

/** Says what is wrong with a call's arguments; the tool is then not called. Null if nothing is wrong. */
export function argumentProblem({ name, parameters }: ToolFace, values: ArgumentValues): string | null {
  const unknownNames = Object.keys(values).filter(
    (key) => !parameters.some((parameter) => parameterName(parameter) === key),
  );
  if (unknownNames.length > 0) return `${name} has no argument ${unknownNames[0]}`;
  for (const parameter of parameters) {
    const key = parameterName(parameter);
    const value = values[key];
    if (value === undefined && typeof parameter === 'object' && parameter.optional) continue;
    if (value === undefined) return `${name} needs the argument ${key}`;
    const schema = valueSchemaOf(parameter);
    if (typeof parameter === 'string' || matchesSchema(value, schema)) continue;
    const words = schemaWords(schema);
    const article = /^(?:one of|any) /.test(words) ? '' : /^[aio]/.test(words) ? 'an ' : 'a ';
    return `${key} of ${name} has to be ${article}${words}`;
  }
  return null;
}

/**
 * A player that makes random calls. Its texts are words from the prompt and the tools' answers, its numbers are from 0
 * to 15.
 */
export function chancePlayer(tools: readonly ToolFace[], seed: number): Chooser {
  return ({ prompt, replies }, episode) => {
    const draw = random(seed, Purpose.baseline, episode, replies.length);
    const wordsRead = [prompt, ...replies.map(readText)].join(' ').match(/[\p{L}\p{N}]+/gu) ?? [];
    return randomCall(tools, draw, (type) =>
      type === 'string' ? (wordsRead.length > 0 ? draw.pick(wordsRead) : 'a') : draw.int(16),
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
    return randomCall(tools, draw, (type) =>
      type === 'integer'
        ? draw.pick([-1, 2 ** 31, -(2 ** 53) + 1])
        : type === 'number'
          ? draw.pick([-1, 0.5, 1e308, -1e-308, 2 ** 53])
          : draw.pick(NONSENSE),
    );
  };
}

type DrawScalar = (type: 'string' | 'integer' | 'number') => unknown;
const MAX_RANDOM_ITEMS = 4; // of a list

function randomCall(tools: readonly ToolFace[], draw: Random, value: DrawScalar): Move | null {
  if (tools.length === 0) return { answer: String(value('string')) };
  const tool = draw.pick(tools);
  const values = tool.parameters.map((parameter): [string, unknown] => {
    if (typeof parameter === 'string') return [parameter, value('string')];
    if (parameter.optional && draw.int(2) === 1) return [parameter.name, undefined];
    return [parameter.name, randomValue(valueSchemaOf(parameter), draw, value)];
  });
  return { tool: tool.name, values: Object.fromEntries(values.filter(([, each]) => each !== undefined)) };
}

function randomValue(schema: ValueSchema, draw: Random, scalar: DrawScalar): unknown {
  const { enum: choices, anyOf, items, prefixItems, nullable } = schema;
  if (nullable && draw.int(4) === 0) return null;
  if (choices) return draw.pick(choices);
  if (anyOf) return randomValue(draw.pick(anyOf), draw, scalar);
  const types = typesOf({ ...schema, nullable: false }) ?? (['string', 'integer'] as const);
  const [first = 'string'] = types;
  const type = types.length > 1 ? draw.pick(types) : first;
  switch (type) {
    case 'boolean':
      return draw.int(2) === 1;
    case 'null':
      return null;
    case 'object':
      return {};
    case 'array': {
      const list = prefixItems ?? Array.from({ length: draw.int(MAX_RANDOM_ITEMS) }, () => items ?? {});
      return list.map((item) => randomValue(item, draw, scalar));
    }
    default:
      return scalar(type);
  }
}
