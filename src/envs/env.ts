import type { RunConfig } from '../config/fields.ts';
import type { AnswerScores, EnvView } from '../domain/envView.ts';
import type { RewardPart, StopReason } from '../domain/episode.ts';
import type { Random } from '../base/rng.ts';
import type { AskForm } from '../domain/taskForm.ts';
import type { RetokenizedSpan } from '../text/retokenization.ts';
import type { BodyRange, Grammar } from '../domain/tokens.ts';

/** A tool's answer. It has no reward and no token ids, and does not depend on training. */
export interface ToolResult {
  readonly ok: boolean;
  readonly content: readonly string[]; // words
}

/** A tool the agent can call. `World` is the task's data that the tool reads, such as a hidden number or a graph. */
export interface Tool<World> {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly string[]; // names, in the order of the call's words
  readonly execute: (args: readonly string[], world: World, draw: Random) => ToolResult;
}

/** Names of the numeric knobs of an environment. They may change between batches. */
export const ENV_KNOBS = [
  ...(['outcomeReward', 'processReward', 'callReward', 'invalidPenalty', 'thinkReward', 'turnCost'] as const),
  ...(['failureRate', 'latency', 'oneHopShare'] as const),
] as const;

/** Values of all knobs of an environment that may change between batches: the numeric ones and the switches. */
export interface EnvSettings extends Pick<RunConfig, (typeof ENV_KNOBS)[number]> {
  readonly grammar: boolean;
  /** True: a turn's reward goes on its last action token; false: on the last token of the observation after it. */
  readonly rewardOnLastAction: boolean;
  readonly retokenize?: boolean; // each turn is decoded to text and encoded again; absent: no
}

/** No rewards, no tool failures, and only legal words can be drawn: for demonstrations and tasks that are only shown. */
export const NO_REWARD_SETTINGS: EnvSettings = {
  ...(Object.fromEntries(ENV_KNOBS.map((name) => [name, 0])) as Pick<EnvSettings, (typeof ENV_KNOBS)[number]>),
  ...{ grammar: true, rewardOnLastAction: true },
};

/** Replaying the same action tokens with the same task and environment seed gives the same episode. */
export interface Episode {
  readonly prompt: readonly number[]; // ids
  readonly question: string;
  readonly key: string; // two tasks with the same key are the same task, even if their seeds differ
  /** The word behind each slot used so far, by token id. A slot (`name0`) stands for a word outside the vocabulary. Empty without slots. */
  readonly names: ReadonlyMap<number, string>;
  readonly grammarState: number; // state of the grammar (src/domain/tokens.ts) in which the first turn is drawn
  /** Decodes a turn to text and encodes it again. Absent if the agent doesn't play in text. */
  readonly retokenize?: (action: readonly number[]) => readonly RetokenizedSpan[];
  /** Takes one turn: the action tokens the agent drew. A mistake by the agent is reported in the result and never throws. */
  step(action: readonly number[], settings: EnvSettings): TurnResult;
  /** Null or absent if the environment has no such turn. */
  readonly rightAnswer?: () => RightAnswer | null;
  /** The next turn of a perfect player, as action tokens. */
  expert(): readonly number[];
  /** The next turn by the environment's simple rule, or null if it has no such rule. */
  rule(): readonly number[] | null;
  /** The next turn of an imperfect player: right with probability `quality`, otherwise something plausible. */
  demonstrate(quality: number, draw: Random): readonly number[];
  readonly view: () => EnvView;
  /** Scores of the given answer, 0 if none was given. Null if this environment's answers are not text. */
  readonly scores: () => AnswerScores | null;
}

/** The turn with which the agent would solve a task, if it knew the answer. */
export interface RightAnswer {
  readonly tokens: readonly number[]; // action tokens
  readonly given: number; // how many of them aren't part of the answer: a tag in front
}

/** The two random seeds of an episode. Together with the settings and the agent's actions, they determine the episode. */
export interface EpisodeSeeds {
  readonly seed: number; // which task
  readonly environmentSeed: number; // seeds the environment's random events
}

export interface TurnResult {
  /** Ids of the environment's answer, written before the next turn; empty when the episode is over. */
  readonly observation: readonly number[];
  readonly body: BodyRange; // the words of `observation`, without its tags or chat markup
  /** The turn's reward by part. 'preference' and 'information' are always 0 here; the trainer adds them later. */
  readonly parts: Readonly<Record<RewardPart, number>>;
  readonly thinkEnd: number; // index of `</think>` in the action; −1 if there is no well-formed thought
  readonly valid: boolean; // the turn was well formed
  readonly toolCall: boolean;
  readonly waited: number; // turns that passed until the tool answered
  readonly success: boolean;
  readonly stop: StopReason | null; // why the episode ended; null while it goes on
  readonly grammarState: number; // state of the grammar in which the next turn is drawn
}

/**
 * Begins an episode. `seed` chooses the task. `environmentSeed` seeds the environment's random events: failing or slow
 * tools, slips on ice, distractors and filler words, and the rewards of bandit arms. Both can be any 32-bit numbers;
 * the same two numbers give the same episode. If `environmentSeed` is left out, `seed` is used, so everybody who plays
 * the task meets the same events.
 */
export interface Reset {
  (seed: number, settings: EnvSettings, environmentSeed?: number): Episode;
  /** Set if the environment answers later: episodes are then opened with it, because calling this `Reset` throws. */
  readonly opener?: EpisodeOpener;
}

/** Opens episodes of an environment that answers later, such as a server or a program in another thread. */
export interface EpisodeOpener {
  readonly open: (tasks: readonly EpisodeSeeds[], settings: EnvSettings) => Promise<readonly Episode[]>; // in the order of the tasks
  readonly keyOf: (seed: number, settings: EnvSettings) => string; // `key` of the task's episode, without opening it
}

/** A finished turn that the environment has not answered yet. */
export interface PendingTurn {
  readonly episode: Episode;
  readonly action: readonly number[];
  readonly settings: EnvSettings;
}

/**
 * How to ask an environment that needs time to answer. All turns of a batch that wait at the same moment are sent in
 * one call. If a call fails, the batch ends and the run pauses. Only the batch is lost.
 */
export interface AsyncAnswers {
  readonly answer: (turns: readonly PendingTurn[]) => Promise<readonly TurnResult[]>; // in the order of the turns
  /** Tells the environment that these episodes are over or given up. An episode may be named more than once. */
  readonly release: (episodes: readonly Episode[]) => void;
  /** Closes all open episodes, and the connections or threads that play them. */
  readonly close: () => void;
}

/** A set of tasks that training never uses. */
export interface Split {
  readonly doc: string; // one sentence: how these tasks differ from the training tasks
  readonly reset: Reset;
}

/** The task sets of an environment other than its training tasks. */
export interface Splits {
  /** Tasks like the training tasks that training never plays. Null if the environment has too few tasks to hold any out. */
  readonly heldOut: Split | null;
  /** Tasks like the training tasks, but about entities that appear in no training task. */
  readonly entities?: Split;
  /** Tasks unlike the training tasks: harder or of another type. */
  readonly shifted: Split;
}

/** A form with which a person poses a task, and the function that makes the task. */
export interface TaskForm extends AskForm {
  /** Takes one word for each blank. Throws ProblemError if the words do not make a task. */
  readonly makeTask: (words: readonly string[]) => PosedTask;
}

export interface PosedTask {
  /** The seed draws what the person left open, such as the graph or the words that slots stand for. */
  readonly reset: Reset;
  readonly answerKnown: boolean; // whether the environment knows the right answer
}

export interface ToolEnv {
  readonly name: string;
  readonly description: string;
  readonly vocabulary: readonly string[]; // id → word; id 0 is <pad>, id 1 is <bos>
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly parameters: readonly string[];
  }[];
  readonly maxTokens: number; // T, the most tokens an episode can have
  readonly hasExpert?: boolean; // false: `expert()` of its episodes only ends them, so there is no such baseline
  readonly maxTurns?: number; // most turns of an episode, if the environment sets it; absent: the knob `maxTurns` does, if it acts
  readonly maxTurnTokens: number; // a turn that has not stopped by then is cut off and counts as malformed
  readonly grammar: (on: boolean) => Grammar;
  readonly reset: Reset; // the tasks to train on
  /** Begins an episode for the warm start to imitate. The mix of tasks may differ from training; none of the tasks is held out. */
  readonly demonstration: Reset;
  /** Calls and loop turns of an average demonstration, counted. Absent if few, as in the built-in environments. */
  readonly demonstrationWork?: number;
  readonly splits: Splits;
  /** The number of tasks if none is held out: that many consecutive seeds of `reset` give each once. Absent if some are held out. */
  readonly taskCount?: number;
  /** One sentence: the best known rule that needs no search and no learning. Absent if no rule is simpler than the expert. */
  readonly ruleDoc?: string;
  /**
   * The naive RAG baseline: a held-out task with one tool answer already in the prompt and one turn to answer. Absent
   * if nothing can be retrieved beforehand: there is no search tool, the prompt says everything, or one tool answer
   * doesn't tell enough.
   */
  readonly naiveRag?: Reset;
  /** Lets a person pose a task of their own. Without it, a person can only choose a task by its seed. */
  readonly taskForm?: TaskForm;
  /** Set if the environment answers later. Its episodes are opened by `Reset.opener`, through `openAll`. */
  readonly asyncAnswers?: AsyncAnswers;
}

/** For an environment that answers later. Calling it throws: a caller that does so cannot wait for the environment. */
export function asyncReset(opener: EpisodeOpener): Reset {
  const refuse = (): never => {
    throw new Error(
      'This environment takes time to answer, and only training, evaluation and branches can wait for it. Choose another environment here.',
    );
  };
  return Object.assign(refuse, { opener });
}
