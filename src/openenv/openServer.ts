import type { EnvironmentFile } from '../domain/environmentFile.ts';
import { readServerAddress, serverFile, EnvironmentServerError, type ServerAddress } from '../domain/serverAddress.ts';
import {
  type ToolEnv,
  type PendingTurn,
  type Episode,
  type EpisodeSeeds,
  type Reset,
  type Split,
  type TurnResult,
  asyncReset,
} from '../envs/env.ts';
import type { AgentLanguage } from '../envs/turnCodec.ts';
import type { SocketHost, ServerConnection } from './serverConnection.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import { beginEpisode, type Outcome, type Task, type OutOfTurnsResult } from '../envs/episodeRules.ts';
import { callFace, cutToFit } from '../envs/textFace.ts';
import { tokenCount } from '../envs/textMistakes.ts';
import { type TextTurns, textTurns } from '../envs/textTurns.ts';
import type { JsonRecord } from '../base/jsonRecord.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { controlTexts } from '../text/outsideText.ts';
import { type Parameter, parameterName, type ToolFace, valueSchemaOf } from '../text/toolSchema.ts';
import type { CallValues } from '../text/turnFormat.ts';
import { observationText, type ServerReply } from './serverMessages.ts';
import { readTools, type ServerTools } from './serverTools.ts';
import { SessionPool } from './sessionPool.ts';
import type { EnvView } from '../domain/envView.ts';

/** Limit on the tokens of an episode. More would take too much memory and time. */
const MAX_EPISODE_TOKENS = 4096;
/** Number of tasks in each split whose prompts are read, to estimate how long prompts are. */
const TASKS_READ = 4;
/** Reserve: the longest prompt that was read is multiplied by this, because other prompts may be longer. */
const PROMPT_RESERVE = 1.25;
const SYSTEM = 'Solve the task with the tools.';
/** Words that are allowed for a text argument of a call. */
const CALL_WORDS = 8;
const ANSWER_WORDS = 16;
/** Number of seeds in each split. Test seeds come after the training seeds. */
const SEEDS_PER_SPLIT = 2 ** 30;

type SplitName = 'train' | 'test';

/**
 * An OpenEnv server as an environment, for an agent that reads and writes text. Tools, tasks, answers and rewards come
 * from the server. Each row of a batch has its own session. Throws EnvironmentServerError if the server can't be
 * reached or used.
 */
async function serverEnvironment(
  address: ServerAddress,
  place: SocketHost,
  chatTokenizer: ChatTokenizer | null,
): Promise<ToolEnv> {
  if (!chatTokenizer) {
    throw new EnvironmentServerError(
      'A server’s tools are called in text. Set Language to text, or train a checkpoint.',
    );
  }
  const { host, options } = address;
  const pool = new SessionPool(address, place);
  const { serverTools, prompts } = await readServer(pool, address).finally(() => pool.close());
  const checkedTools = withoutSpecialTokens(serverTools.tools, chatTokenizer);
  const tokens = tokenCount(chatTokenizer.codec);
  const longestPrompt = Math.ceil(PROMPT_RESERVE * prompts.reduce((most, text) => Math.max(most, tokens(text)), 8));
  const turns = turnsOf(chatTokenizer, checkedTools, { ...options, prompt: longestPrompt });
  if (turns.maxTokens > MAX_EPISODE_TOKENS) {
    throw new EnvironmentServerError(
      `An episode can have ${turns.maxTokens} tokens, and the limit is ${MAX_EPISODE_TOKENS}. It has up to ${options.turns} turns, a prompt of ${longestPrompt} tokens, and answers of up to ${options.observation} tokens. Lower turns or observation in the address: ?turns=3&observation=32.`,
    );
  }
  const rules = {
    host,
    solved: options.solved,
    shorten: (text: string) => cutToFit(text, (part) => tokens(part) <= options.observation),
  };
  const sessions = new WeakMap<Episode, ServerSession>();
  const resetTo = (split: SplitName): Reset =>
    asyncReset({
      keyOf: (seed) => keyOf(address, split, seed),
      open: async (tasks, settings) => {
        const started = await pool.begin(tasks.map((task) => resetOf(address, split, task)));
        return started.map(({ connection, reply }, i) => {
          const { seed, environmentSeed } = tasks[i]!;
          const session: ServerSession = { connection, reply: null };
          const prompt = cutToFit(promptIn(reply), (part) => tokens(part) <= longestPrompt);
          const lastReply = () => session.reply;
          const task = serverTask({ key: keyOf(address, split, seed), prompt, lastReply }, rules);
          const speech = {
            turnCodec: turns.turnCodec,
            maxTurns: options.turns,
            think: false,
            grammarStateOf: () => turns.grammarState,
          };
          const episode = beginEpisode(task, speech, environmentSeed, settings);
          sessions.set(episode, session);
          return episode;
        });
      },
    });
  const answer = async (asked: readonly PendingTurn[]): Promise<readonly TurnResult[]> => {
    const replies = asked.map(async ({ episode, action }) => {
      const session = sessions.get(episode);
      const step = stepOf(turns, serverTools, action);
      if (!session?.connection) throw new Error('serverEnvironment: a turn of an episode that has already been left.');
      session.reply = step && (await session.connection.ask({ type: 'step', data: step }));
    });
    try {
      await Promise.all(replies);
    } catch (error) {
      pool.close(); // the batch is thrown away, so the replies that are still to come are not needed
      throw error;
    }
    return asked.map(({ episode, action, settings }) => episode.step(action, settings));
  };
  const test: Split = { reset: resetTo('test'), doc: 'Tasks of other seeds than those of training.' };
  return {
    name: YOUR_ENVIRONMENT,
    description: `The environment of the server at ${host}.`,
    vocabulary: turns.vocabulary,
    tools: checkedTools.map((tool) => ({ ...tool, parameters: tool.parameters.map(parameterName) })),
    ...{ maxTokens: turns.maxTokens, maxTurns: options.turns },
    maxTurnTokens: turns.maxTurnTokens,
    grammar: () => turns.grammar,
    reset: resetTo('train'),
    demonstration: resetTo('train'),
    splits: { heldOut: test, shifted: test },
    asyncAnswers: {
      answer,
      release: (episodes) => {
        for (const session of episodes.flatMap((episode) => sessions.get(episode) ?? [])) {
          if (session.connection) pool.giveBack(session.connection);
          session.connection = null;
        }
      },
      close: () => pool.close(),
    },
  };
}

/** The server's side of an episode in progress. */
interface ServerSession {
  connection: ServerConnection | null; // null once the episode was left
  reply: ServerReply | null; // the server's reply to the agent's latest turn, stored before `episode.step` reads it
}

/** Reads a server's tools, and the prompts of a few tasks. */
async function readServer(pool: SessionPool, address: ServerAddress) {
  const prompts: string[] = [];
  for (const split of ['train', 'test'] as const) {
    for (let seed = 0; seed < TASKS_READ; seed++) {
      const [started] = await pool.begin([resetOf(address, split, { seed, environmentSeed: seed })]);
      if (!started) continue;
      prompts.push(promptIn(started.reply));
      pool.giveBack(started.connection);
    }
  }
  const serverTools = readTools(await pool.connection().ask({ type: 'step', data: { type: 'list_tools' } }));
  return { serverTools, prompts };
}

/** The fields of a `reset` message. A server ignores those that it has no use for. */
function resetOf({ options }: ServerAddress, split: SplitName, { seed }: EpisodeSeeds): JsonRecord {
  const count = options[split];
  const splitSeed = (seed % SEEDS_PER_SPLIT) + (split === 'test' ? SEEDS_PER_SPLIT : 0);
  return { seed: splitSeed, split, ...(count !== null && { index: seed % count }) };
}

function keyOf({ options }: ServerAddress, split: SplitName, seed: number): string {
  return `${split} ${seed % (options[split] ?? SEEDS_PER_SPLIT)}`;
}

function promptIn({ observation }: Extract<ServerReply, { kind: 'observation' }>): string {
  return observationText(observation).text || 'Begin.';
}

/**
 * The action to send to the server for a turn. Null if there is nothing to send, because the turn is malformed, or it
 * is an answer and the server has no tool `answer`.
 */
function stepOf(
  { turnCodec: speech }: TextTurns,
  { answer }: ServerTools,
  action: readonly number[],
): JsonRecord | null {
  const turn = speech.read(action);
  if (turn.kind === 'mistake') return null;
  const [first = '', json = '{}'] = turn.words;
  if (turn.kind === 'call') return { type: 'call_tool', tool_name: first, arguments: JSON.parse(json) as CallValues };
  return answer === null ? null : { type: 'call_tool', tool_name: 'answer', arguments: { [answer]: first } };
}

/**
 * Returns the tools unchanged. Throws EnvironmentServerError if a description has special tokens, which would end the
 * system prompt.
 */
function withoutSpecialTokens(tools: readonly ToolFace[], { codec }: ChatTokenizer): readonly ToolFace[] {
  for (const tool of tools) {
    const text = JSON.stringify(tool);
    const found = controlTexts(codec).find((control) => text.includes(control));
    if (found === undefined) continue;
    throw new EnvironmentServerError(
      `The tool ${tool.name} is described with ${found}, a special token of this model.`,
    );
  }
  return tools;
}

interface Lengths {
  readonly turns: number;
  readonly observation: number; // tokens
  readonly prompt: number; // tokens
}

function turnsOf(chatTokenizer: ChatTokenizer, tools: readonly ToolFace[], lengths: Lengths): TextTurns {
  const tokens = tokenCount(chatTokenizer.codec);
  const filler = (count: number) => {
    let words = count;
    while (tokens(wordsOf(words)) < count) words++;
    return wordsOf(words);
  };
  const face = callFace({
    system: SYSTEM,
    tools,
    longestTexts: () => ({
      questions: [filler(lengths.prompt)],
      turns: [
        ...tools.map(({ name, parameters }) => ({
          tool: name,
          values: Object.fromEntries(
            parameters.map((parameter) => [parameterName(parameter), longestValue(parameter)]),
          ),
        })),
        { answer: wordsOf(ANSWER_WORDS) },
      ],
      observations: [filler(lengths.observation)],
    }),
  });
  return textTurns({ chatTokenizer, face }, lengths.turns);
}

const wordsOf = (count: number) => Array.from({ length: count }, () => 'word').join(' ');

function longestValue(parameter: Parameter): string | number | boolean {
  const { type, enum: values = [] } = valueSchemaOf(parameter);
  const choices = values.map(String);
  if (type === 'boolean') return false;
  if (type !== 'string') return type === 'integer' ? -10000 : -10000.25;
  return choices.reduce((longest, text) => (text.length > longest.length ? text : longest), choices.length > 0 ? '' : wordsOf(CALL_WORDS)); // prettier-ignore
}

/** An episode on a server, with the server's answer to the agent's latest turn. */
interface ServerEpisode {
  readonly key: string;
  readonly prompt: string;
  /** The server's answer to the latest turn; null if nothing was sent to it. Called once per turn. */
  readonly lastReply: () => ServerReply | null;
}

/** The rules that all tasks of a server share. */
interface ServerRules {
  readonly host: string;
  readonly solved: number; // sum of rewards from which an episode counts as solved
  readonly shorten: (text: string) => string; // cuts a tool's answer to the allowed length
}

/**
 * A task on a server. The server's answer to a turn has already arrived when the turn is taken here. The rewards of all
 * turns are added up; the sum is the last turn's share of the outcome reward. The reward of an earlier turn is also its
 * progress, which only the process reward uses.
 */
function serverTask({ key, prompt, lastReply }: ServerEpisode, { host, solved, shorten }: ServerRules): Task {
  const steps: (EnvView & { kind: 'calls' })['steps'][number][] = [];
  let rewardSum = 0;
  const currentResult = (): OutOfTurnsResult => ({ success: rewardSum >= solved, outcomeShare: rewardSum });
  const outcome = (reply: ServerReply, stop: 'found' | 'answered', isLastTurn: boolean): Outcome => {
    if (reply.kind === 'error') {
      // the environment threw: the agent reads the error and gets the format penalty, as when a tool throws
      const result = { observation: [shorten(reply.message)], progress: 0, refused: true } as const;
      return isLastTurn ? { ...result, stop, ...currentResult() } : { ...result, stop: null, success: false };
    }
    const { text, refused } = observationText(reply.observation);
    rewardSum += reply.reward;
    const result = { observation: [shorten(text)], ...(refused && { refused }) };
    if (reply.done || isLastTurn) return { ...result, progress: 0, stop, ...currentResult() };
    return { ...result, progress: reply.reward, stop: null, success: false };
  };
  const resultOf = (reply: ServerReply | null) =>
    reply === null ? '' : reply.kind === 'error' ? reply.message : observationText(reply.observation).text;
  return {
    key,
    prompt: [],
    question: prompt,
    call([tool = '', json = '{}'], turn) {
      const reply = lastReply();
      if (reply === null) return null;
      const values = Object.values(JSON.parse(json) as CallValues).map((value) => JSON.stringify(value));
      steps.push({ turn, text: `${tool}(${values.join(', ')})`, result: resultOf(reply), shown: null });
      return outcome(reply, 'found', false);
    },
    answer([text = ''], turn) {
      const reply = lastReply();
      steps.push({ turn, text, result: resultOf(reply), shown: null });
      return reply === null
        ? { observation: [''], progress: 0, stop: 'answered', ...currentResult() }
        : outcome(reply, 'answered', true);
    },
    neededWords: () => [],
    outOfTurns: currentResult,
    expert: noPlayer,
    demonstrate: noPlayer,
    view: () => ({
      kind: 'calls',
      title: host,
      prompt,
      shown: null,
      steps: [...steps],
      earned: null,
    }),
  };
}

function noPlayer(): never {
  throw new Error('A server has no player of its own whose turns could be shown or imitated.');
}

/** A server that plays the environment. Nothing has connected yet. */
export interface OpenedServer {
  readonly file: EnvironmentFile;
  /** Connects, and returns the environment to train on. Throws EnvironmentServerError. */
  readonly environment: (speaking: AgentLanguage) => Promise<ToolEnv>;
}

/** Reads the address of a server. Throws EnvironmentServerError. */
export function openServer(text: string, place: SocketHost): OpenedServer {
  const address = readServerAddress(text);
  return {
    file: serverFile(address),
    environment: ({ chatTokenizer }) => serverEnvironment(address, place, chatTokenizer),
  };
}
