import type { RunConfig } from '../config/fields.ts';
import type { AnswerScores, EnvView } from '../domain/envView.ts';
import type { RewardPart, StopReason } from '../domain/episode.ts';
import type { Random } from '../base/rng.ts';
import type { AskForm } from '../domain/taskForm.ts';
import type { Grammar } from '../domain/tokens.ts';
import type { RulesData, TaskData } from './taskData.ts';

/** What a tool answers: the bare outcome. It knows nothing of reward, tokens or training. */
export interface ToolResult {
  readonly ok: boolean;
  readonly content: readonly string[]; // words
}

/** An executor the agent can call. `World` is what the task holds. */
export interface Tool<World> {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly string[]; // names, in the order of the call's words
  readonly execute: (args: readonly string[], world: World, draw: Random) => ToolResult;
}

/** Numbers of an environment that may change between batches. */
export const ENV_KNOBS = [
  ...(['outcomeReward', 'processReward', 'callReward', 'invalidPenalty', 'thinkReward', 'turnCost'] as const),
  ...(['failureRate', 'latency', 'oneHopShare'] as const),
] as const;

/** Knobs of an environment that may change between batches. */
export interface EnvSettings extends Pick<RunConfig, (typeof ENV_KNOBS)[number]> {
  readonly grammar: boolean;
  readonly rewardOnLastAction: boolean; // false: a turn is paid on the last token of the observation that follows it
}

/** An episode in progress. Replaying the same action tokens with the same task and luck gives the same episode. */
export interface Episode {
  readonly prompt: readonly number[]; // ids
  readonly question: string;
  readonly key: string; // what makes two tasks the same, whatever seed they were drawn with
  readonly names: ReadonlyMap<number, string>; // what slot words stand for so far in this episode, by id; empty where words are themselves
  readonly state: number; // grammar state of the first turn
  /** Takes one turn: the action tokens the agent drew. A mistake of the agent is data, never an exception. */
  step(action: readonly number[], settings: EnvSettings): TurnResult;
  /** The next turn of a perfect player, as action tokens. */
  expert(): readonly number[];
  /** The next turn by the environment's simple rule; null where it has none. */
  rule(): readonly number[] | null;
  /** The next turn of a player who does the right thing with probability `quality`, else something plausible. */
  demonstrate(quality: number, draw: Random): readonly number[];
  readonly view: () => EnvView;
  readonly scores: () => AnswerScores | null; // of the answer given, 0 without one; null where answers are no text
  /** The task for other programs, before the first turn; null where only this one knows the rules. */
  readonly data: () => TaskData | null;
}

/** What a turn led to. */
export interface TurnResult {
  readonly observation: readonly number[]; // ids to force before the next turn; empty when the episode is over
  readonly parts: Readonly<Record<RewardPart, number>>; // what the turn is paid; 'preference' is not the environment's: 0
  readonly thinkEnd: number; // index of `</think>` in the action; −1 without a well-formed span
  readonly valid: boolean; // the turn was well formed
  readonly toolCall: boolean;
  readonly waited: number; // turns that went by until the tool answered
  readonly terminated: boolean; // the task is over: answered or found
  readonly truncated: boolean; // out of turns
  readonly success: boolean;
  readonly stop: StopReason | null; // set when over
  readonly state: number; // grammar state the next turn is drawn in
}

/**
 * Begins an episode. `seed` says which task it is, `luck` what the environment's dice give in it: tools that fail or are late,
 * slips, distractors and filler words, what an arm pays. Any 32-bit numbers; equal ones give equal episodes. Without `luck` it is
 * the task's own, the same for all who play it.
 */
export type Reset = (seed: number, settings: EnvSettings, luck?: number) => Episode;

/** Tasks that are kept from training. */
export interface Split {
  readonly doc: string; // what they differ by, in a sentence
  readonly reset: Reset;
}

/** The splits of an environment beside the tasks it trains on. */
export interface Splits {
  /** In the domain, tasks that training never plays; null where there are too few to keep any from it. */
  readonly heldOut: Split | null;
  /** In the domain, about entities that no training task is about. */
  readonly entities?: Split;
  /** Out of the domain: harder or other than any task trained on. */
  readonly shifted: Split;
}

/** The tasks of an environment that a person can word. */
export interface Asking extends AskForm {
  /** The task of these words, one for each blank; see `filled`. Throws AskError on words it cannot ask. */
  readonly ask: (words: readonly string[]) => AskedOwn;
}

/** A task in a person's words. */
export interface AskedOwn {
  readonly begin: Reset; // what else a seed draws (a graph, words for slots) it draws here too
  readonly judged: boolean; // whether the environment knows the right answer
}

/** An environment: its words, its rules, its tasks. */
export interface ToolEnv {
  readonly name: string;
  readonly description: string;
  readonly vocabulary: readonly string[]; // id → word; id 0 is <pad>, id 1 is <bos>
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly parameters: readonly string[];
  }[];
  readonly maxTokens: number; // T: no episode is longer
  readonly maxTurnTokens: number; // a turn without a stop is cut here and counts as malformed
  readonly grammar: (on: boolean) => Grammar;
  readonly reset: Reset; // the tasks to train on
  /** An episode of the mix of tasks the warm start imitates; none is held out. */
  readonly demonstration: Reset;
  readonly splits: Splits;
  /** Where none is held out, how many tasks there are: so many consecutive seeds of `reset` are each of them once. Null: some are held out. */
  readonly allTasks: number | null;
  /** The best simple rule known, without search or learning, in a sentence; null where none is simpler than the expert. */
  readonly rule: string | null;
  /** Naive RAG: a held-out task with one retrieval in the prompt and one turn to answer; null: no such thing here. */
  readonly retrieved: Reset | null;
  /** Tasks in a person's words; without it one is chosen by its seed. */
  readonly asking?: Asking;
  /** What all tasks share, for other programs that know the rules; without it only this one does. */
  readonly data?: RulesData;
}
