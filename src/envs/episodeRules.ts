import type { AnswerScores, EnvView } from '../domain/envView.ts';
import type { StopReason } from '../domain/episode.ts';
import { Purpose, random, type Random } from '../base/rng.ts';
import type { EnvSettings, Episode, Tool, ToolResult, TurnResult } from './env.ts';
import type { TaskData } from './taskData.ts';
import { MISTAKE, type Mistake, type Speech } from './speech.ts';
import type { ParsedTurn } from './turn.ts';
import { FAILURE_WORD } from './vocab.ts';
import { THINK_WORDS } from './grammar.ts';

/** What came of a well-formed call or answer, before it is paid. */
export interface Outcome {
  readonly observation: readonly string[]; // words between the observation tags
  readonly progress: number; // share of the process reward
  readonly stop: StopReason | null; // set when this ends the task
  readonly success: boolean;
  readonly payoff?: number; // share of the outcome reward; without it 1 for success and 0 else
  readonly refused?: true; // the tool turned a well-formed call down, which costs as much as a malformed turn
}

/** What an episode is worth that ends because its turns are used up. */
export type Unfinished = Required<Pick<Outcome, 'success' | 'payoff'>>;

/** A task under way: what one environment adds to the turn loop all share. Words in, words out; null is malformed. */
export interface Task {
  readonly key: string; // what makes two tasks the same: all that is asked and all it is asked of, no presentation
  readonly prompt: readonly string[];
  readonly question: string;
  /**
   * What each slot word stands for in this task, which may grow as it is read: entity anonymisation (Hermann et al. 2015, arXiv 1506.03340). A policy that
   * reads slots that are drawn for each task must search and cannot memorise, and any facts fit the same vocabulary.
   */
  readonly names?: ReadonlyMap<string, string>;
  call(words: readonly string[], turn: number, tools: ToolRunner): Outcome | null;
  answer(words: readonly string[], turn: number, draw: Random): Outcome | null;
  /** The words that name what the right next action needs, before turn `turn` is taken; empty when none is right any more. */
  needs(turn: number): readonly string[];
  outOfTurns?(): Unfinished; // asked once, after the last turn; without it such an episode is worth nothing
  expert(turn: number): readonly string[];
  rule?(turn: number): readonly string[]; // the next turn by the environment's simple rule, where it has one
  demonstrate(quality: number, draw: Random, turn: number): readonly string[];
  view(): EnvView;
  scores?(): AnswerScores;
  data?(): TaskData; // for other programs, before the first turn
}

/** Runs a tool once; it may fail, as often as the settings say. */
export type ToolRunner = <World>(tool: Tool<World>, args: readonly string[], world: World) => ToolResult;

/** A runner whose tools fail with probability `failureRate`. */
export function toolRunner(failureRate: number, draw: Random): ToolRunner {
  return (tool, args, world) =>
    draw.next() < failureRate ? { ok: false, content: [FAILURE_WORD] } : tool.execute(args, world, draw);
}

/** Turns that go by until a tool answers: geometric with mean `latency`, none without it. */
function delay(latency: number, draw: Random): number {
  return latency > 0 ? Math.floor(Math.log(1 - draw.next()) / Math.log(latency / (1 + latency))) : 0;
}

/** What the turn loop knows of an environment. */
export interface EpisodeRules {
  readonly speech: Speech;
  readonly maxTurns: number;
  readonly think: boolean;
  /** Grammar state in which turn `turn` (from 1) is drawn. */
  readonly stateOf: (turn: number, settings: EnvSettings) => number;
}

/**
 * An episode: parses each turn, runs the tool, forms the observation, pays, and says when it is over. Tool failures, delays,
 * fillers and payoffs are drawn per (environmentSeed, turn), so replaying the same actions replays the same episode. Turns that go by while a tool is
 * slow count against `maxTurns`, but the last one is always left, where there was one. A think span is paid for what it
 * names, whatever the action then does, but only once until an action makes progress, and never in a malformed turn.
 */
export function beginEpisode(task: Task, rules: EpisodeRules, environmentSeed: number, settings: EnvSettings): Episode {
  const { speech, maxTurns } = rules;
  let turn = 0;
  let late = 0; // turns that went by while tools answered
  let over = false;
  let called = false; // the tool, rightly: only the first call is paid for being one
  let thoughtPaid = false; // since the last progress: thinking in circles earns nothing

  const dice = (at: number, kind = 0) => random(environmentSeed, Purpose.environment, at, kind);
  const act = (parsed: ParsedTurn | Mistake, { failureRate }: EnvSettings): Outcome | null =>
    parsed.kind === 'mistake'
      ? null
      : parsed.kind === 'call'
        ? task.call(parsed.words, turn, toolRunner(failureRate, dice(turn)))
        : task.answer(parsed.words, turn, dice(turn));

  const namesNow = () => speech.names(task.names ?? NO_NAMES);
  namesNow(); // a name for what is no word is the environment's mistake: it throws before the first turn

  return {
    prompt: speech.prompt(task.prompt, task.question),
    question: task.question,
    key: task.key,
    get names() {
      return namesNow();
    },
    state: rules.stateOf(1, settings),
    step(action, now): TurnResult {
      if (over) throw new Error('Episode.step: the episode is over. Begin a new one with ToolEnv.reset.');
      turn++;
      const parsed = speech.read(action);
      const needs = rules.think ? task.needs(turn + late) : []; // before the action changes what is known
      const outcome = act(parsed, now);
      const { observation, progress, stop, refused, ...worth } = outcome ?? malformed(parsed);
      const [thoughts, thinkEnd] = outcome && parsed.kind !== 'mistake' ? [parsed.thought, parsed.thinkEnd] : [[], -1];
      const thought = thoughtPaid ? 0 : thoughtShare(thoughts, needs);
      thoughtPaid = (thoughtPaid || thought > 0) && progress === 0;
      const valid = outcome !== null && !refused;
      const toolCall = valid && parsed.kind === 'call';
      const firstCall = toolCall && !called;
      called ||= toolCall;
      const terminated = stop !== null;
      const spare = Math.max(0, maxTurns - 1 - turn - late);
      const slow = toolCall && !terminated ? delay(now.latency, dice(turn, SLOW)) : 0;
      const waited = Math.min(slow, spare);
      late += waited;
      const truncated = !terminated && turn + late >= maxTurns;
      over = terminated || truncated;
      const { success, payoff = success ? 1 : 0 } = (truncated ? task.outOfTurns?.() : undefined) ?? worth;
      return {
        observation: over ? [] : speech.observation(observation, action),
        parts: {
          outcome: now.outcomeReward * payoff,
          process: now.processReward * progress,
          call: firstCall ? now.callReward : 0,
          format: valid ? 0 : 0 - now.invalidPenalty, // 0 − x, for −x may be −0
          think: now.thinkReward * thought,
          turnCost: toolCall ? 0 - now.turnCost : 0,
          preference: 0,
        },
        thinkEnd,
        valid,
        toolCall,
        waited,
        terminated,
        truncated,
        success,
        stop: stop ?? (truncated ? 'turns' : null),
        state: over ? 0 : rules.stateOf(turn + late + 1, now),
      };
    },
    expert: () => {
      const action = task.expert(turn + late + 1);
      return speech.action(rules.think ? thinkAloud(action) : action);
    },
    rule: () => {
      const action = task.rule?.(turn + late + 1);
      return action ? speech.action(action) : null;
    },
    demonstrate: (quality, draw) => {
      const action = task.demonstrate(quality, draw, turn + late + 1);
      return speech.action(rules.think && draw.next() < THOUGHTFUL ? thinkAloud(action) : action);
    },
    view: () => task.view(),
    scores: () => task.scores?.() ?? null,
    data: () => task.data?.() ?? null,
  };
}

/** What comes of a turn that says nothing, or words that do not belong where they stand. */
function malformed(parsed: ParsedTurn | Mistake): Outcome {
  const { said } = parsed.kind === 'mistake' ? parsed : MISTAKE;
  return { observation: said, progress: 0, stop: null, success: false };
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** Sets the draws of delays apart from those of failures. */
const SLOW = 2;
/** Share of a demonstrator's turns that open with a think span, where there are any: enough to see both. */
const THOUGHTFUL = 0.5;

/**
 * The share of the words of a think span that are among `needs`, the words that name what the right next action needs. A word
 * said twice counts once among those that are right and twice among those said, so padding never pays. An empty span earns 0.
 */
export function thoughtShare(thought: readonly string[], needs: readonly string[]): number {
  if (thought.length === 0) return 0;
  return new Set(thought.filter((word) => needs.includes(word))).size / thought.length;
}

/** Puts a `<think>` span before a turn, with the words of its call or answer, each once, up to the length of a span. */
function thinkAloud(action: readonly string[]): readonly string[] {
  const thought = [...new Set(action.slice(1, -1))].slice(0, THINK_WORDS);
  return ['<think>', ...thought, '</think>', ...action];
}
