import type { AnswerScores, EnvView } from '../domain/envView.ts';
import type { StopReason } from '../domain/episode.ts';
import { Purpose, random, type Random } from '../base/rng.ts';
import type { EnvSettings, Episode, Tool, ToolResult, TurnResult } from './env.ts';
import { PLAIN_MISTAKE, type Mistake, type TurnCodec, type ParsedTurn } from './turnCodec.ts';
import { FAILURE_WORD } from './vocab.ts';
import { THINK_WORDS } from './grammar.ts';

/** The result of a call or an answer, before rewards are computed. For a malformed turn it has only an observation. */
export interface Outcome {
  readonly observation: readonly string[]; // words between the observation tags
  readonly progress: number; // share of the process reward
  readonly stop: StopReason | null; // why the task is over; null if it goes on
  readonly success: boolean;
  readonly outcomeShare?: number; // share of the outcome reward; default: 1 for success, otherwise 0
  readonly refused?: true; // set if the tool refused a well-formed call, which costs as much as a malformed turn
}

/** Success and share of the outcome reward of an episode that ends because it has no turns left. */
export type OutOfTurnsResult = Required<Pick<Outcome, 'success' | 'outcomeShare'>>;

/** The part of an episode that differs between environments, in words. `call` and `answer` return null if these are malformed. */
export interface Task {
  /** Equal tasks have the same key: everything that is asked and what it is asked about, but not how it is presented. */
  readonly key: string;
  readonly prompt: readonly string[];
  readonly question: string;
  /**
   * The word that each slot stands for in this task. A slot is a vocabulary word that stands for a different word in
   * each task (entity anonymisation, Hermann et al. 2015, arXiv 1506.03340). Slots may be added while the agent reads.
   * They are drawn for each task, so a policy must search and cannot memorise, and any facts fit the same vocabulary.
   */
  readonly names?: ReadonlyMap<string, string>;
  call(words: readonly string[], turn: number, tools: ToolRunner): Outcome | null;
  answer(words: readonly string[], turn: number, draw: Random): Outcome | null;
  /** The words that name what the right next action needs, before turn `turn` is taken. Empty when no action is right. */
  neededWords(turn: number): readonly string[];
  /** Called once, after the last turn, if the episode runs out of turns. Without it, such an episode gets no outcome reward. */
  outOfTurns?(): OutOfTurnsResult;
  rightAnswer?(): readonly string[] | null; // the turn that gives the right answer, in words; null if the words aren't known
  expert(turn: number): readonly string[];
  rule?(turn: number): readonly string[]; // the next turn by the environment's simple rule, if it has one
  demonstrate(quality: number, draw: Random, turn: number): readonly string[];
  view(): EnvView;
  scores?(): AnswerScores;
}

/** Runs a tool once. It fails as often as the settings say. */
export type ToolRunner = <World>(tool: Tool<World>, args: readonly string[], world: World) => ToolResult;

export function toolRunner(failureRate: number, draw: Random): ToolRunner {
  return (tool, args, world) =>
    draw.next() < failureRate ? { ok: false, content: [FAILURE_WORD] } : tool.execute(args, world, draw);
}

/** Draws the number of turns that pass until a tool answers: geometric with mean `latency`, or 0 if `latency` is 0. */
function delay(latency: number, draw: Random): number {
  return latency > 0 ? Math.floor(Math.log(1 - draw.next()) / Math.log(latency / (1 + latency))) : 0;
}

export interface EpisodeRules {
  readonly turnCodec: TurnCodec;
  readonly maxTurns: number;
  readonly think: boolean;
  /** Returns the grammar state in which turn `turn` (from 1) is drawn. */
  readonly grammarStateOf: (turn: number, settings: EnvSettings) => number;
}

/**
 * Begins an episode. It parses each turn, runs the tool, forms the observation, computes rewards and decides when the
 * episode is over. Tool failures, delays, filler words and the rewards of bandit arms are drawn per (environmentSeed,
 * turn), so replaying the same actions replays the same episode.
 *
 * Turns that pass while a tool is slow count against `maxTurns`, but at least one turn always remains if one remained
 * before. A thought is rewarded for the needed words that it names, whatever the action does. It is rewarded only once
 * until an action makes progress, and never in a malformed turn.
 */
export function beginEpisode(task: Task, rules: EpisodeRules, environmentSeed: number, settings: EnvSettings): Episode {
  const { turnCodec, maxTurns } = rules;
  let turn = 0;
  let waitedTurns = 0; // turns that passed while tools answered
  let over = false;
  let hasCalled = false; // whether a valid call was made: only the first one gets the call reward
  let thoughtRewarded = false; // since the last progress, so that repeating a thought earns nothing

  const randomFor = (at: number, stream = 0) => random(environmentSeed, Purpose.environment, at, stream);
  const takeAction = (parsed: ParsedTurn | Mistake, { failureRate }: EnvSettings): Outcome | null =>
    parsed.kind === 'mistake'
      ? null
      : parsed.kind === 'call'
        ? task.call(parsed.words, turn, toolRunner(failureRate, randomFor(turn)))
        : task.answer(parsed.words, turn, randomFor(turn));

  const currentNames = () => turnCodec.names(task.names ?? NO_NAMES);
  currentNames(); // throws before the first turn if the environment names a word that is not in its vocabulary (a bug)

  return {
    prompt: turnCodec.prompt(task.prompt, task.question),
    question: task.question,
    key: task.key,
    get names() {
      return currentNames();
    },
    grammarState: rules.grammarStateOf(1, settings),
    ...(turnCodec.retokenize && { retokenize: turnCodec.retokenize }),
    step(action, current): TurnResult {
      if (over) throw new Error('Episode.step: the episode is over. Begin a new one with ToolEnv.reset.');
      turn++;
      const parsed = turnCodec.read(action);
      // computed before the action changes what is known
      const neededWords = rules.think ? task.neededWords(turn + waitedTurns) : [];
      const outcome = takeAction(parsed, current);
      const { observation, progress, stop, refused, ...result } = outcome ?? malformed(parsed);
      const [thoughts, thinkEnd] = outcome && parsed.kind !== 'mistake' ? [parsed.thought, parsed.thinkEnd] : [[], -1];
      const thought = thoughtRewarded ? 0 : thoughtShare(thoughts, neededWords);
      thoughtRewarded = (thoughtRewarded || thought > 0) && progress === 0;
      const valid = outcome !== null && !refused;
      const toolCall = valid && parsed.kind === 'call';
      const firstCall = toolCall && !hasCalled;
      hasCalled ||= toolCall;
      const terminated = stop !== null;
      const spareTurns = Math.max(0, maxTurns - 1 - turn - waitedTurns);
      const delayTurns = toolCall && !terminated ? delay(current.latency, randomFor(turn, DELAY_STREAM)) : 0;
      const waited = Math.min(delayTurns, spareTurns);
      waitedTurns += waited;
      const truncated = !terminated && turn + waitedTurns >= maxTurns;
      over = terminated || truncated;
      const { success, outcomeShare = success ? 1 : 0 } = (truncated ? task.outOfTurns?.() : undefined) ?? result;
      const ids = over ? [] : turnCodec.observation(observation, action);
      return {
        observation: ids,
        body: over ? [0, 0] : turnCodec.bodyOf(ids),
        parts: {
          outcome: current.outcomeReward * outcomeShare,
          process: current.processReward * progress,
          call: firstCall ? current.callReward : 0,
          format: valid ? 0 : 0 - current.invalidPenalty, // 0 − x, because −x may be −0
          think: current.thinkReward * thought,
          turnCost: toolCall ? 0 - current.turnCost : 0,
          ...{ preference: 0, information: 0 },
        },
        thinkEnd,
        valid,
        toolCall,
        waited,
        success,
        stop: stop ?? (truncated ? 'turns' : null),
        grammarState: over ? 0 : rules.grammarStateOf(turn + waitedTurns + 1, current),
      };
    },
    rightAnswer: () => {
      const words = task.rightAnswer?.();
      return words ? { tokens: turnCodec.action(words), given: turnCodec.tagTokens } : null;
    },
    expert: () => {
      const action = task.expert(turn + waitedTurns + 1);
      return turnCodec.action(rules.think ? thinkAloud(action) : action);
    },
    rule: () => {
      const action = task.rule?.(turn + waitedTurns + 1);
      return action ? turnCodec.action(action) : null;
    },
    demonstrate: (quality, draw) => {
      const action = task.demonstrate(quality, draw, turn + waitedTurns + 1);
      return turnCodec.action(rules.think && draw.next() < THOUGHT_PROBABILITY ? thinkAloud(action) : action);
    },
    view: () => task.view(),
    scores: () => task.scores?.() ?? null,
  };
}

/** The result of a turn that cannot be read, or whose words do not belong where they are. */
function malformed(parsed: ParsedTurn | Mistake): Outcome {
  const { observation } = parsed.kind === 'mistake' ? parsed : PLAIN_MISTAKE;
  return { observation, progress: 0, stop: null, success: false };
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** Stream of the delays' random draws, so that they differ from the draws of failures. */
const DELAY_STREAM = 2;
/** Probability that a turn begins with a thought, if thoughts are on: the policy then sees turns with and without one. */
const THOUGHT_PROBABILITY = 0.5;

/**
 * Returns the share of a thought's words that are among `neededWords`, the words that name what the right next action
 * needs. A repeated word counts once as right but every time towards the length, so padding never pays. An empty
 * thought gets 0.
 */
export function thoughtShare(thought: readonly string[], neededWords: readonly string[]): number {
  if (thought.length === 0) return 0;
  return new Set(thought.filter((word) => neededWords.includes(word))).size / thought.length;
}

/** The span holds the words of the turn's call or answer, each once, up to the length limit of a span. */
function thinkAloud(action: readonly string[]): readonly string[] {
  const thought = [...new Set(action.slice(1, -1))].slice(0, THINK_WORDS);
  return ['<think>', ...thought, '</think>', ...action];
}
