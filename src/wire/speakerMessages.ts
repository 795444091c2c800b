import type { EnvName } from '../config/environments.ts';
import type { RunConfig } from '../config/fields.ts';
import type { ChosenTask, AskForm, TalkSampling } from '../domain/taskForm.ts';
import type { StopReason } from '../domain/episode.ts';
import type { MemoryPlan, ModelCard, SpeakingEngine, TrainingPlan } from '../domain/modelCard.ts';
import type { TextToken } from '../domain/textSpans.ts';
import type { PickedFile } from './readerMessages.ts';

/** A token and its log-probability at temperature 1. */
export interface LikelyToken {
  readonly id: number;
  readonly shown: string; // its text, with blanks and control characters marked
  readonly logprob: number;
}

export interface SpokenToken extends TextToken {
  readonly id: number;
  readonly shown: string; // its own text, with blanks and control characters marked
  readonly likely: readonly LikelyToken[] | null; // the likeliest tokens at this place, likeliest first; null if the token wasn't drawn
  readonly logprob: number | null; // of this token at temperature 1; null if it wasn't drawn
}

/** How far a model writes on its own. */
export interface WriteOptions {
  readonly sampling: TalkSampling;
  readonly steps: number; // largest number of tokens in a turn
  readonly seed: number; // another seed gives other draws
}

export interface OpeningOptions {
  readonly length: number; // largest number of tokens in a text
  readonly engine: SpeakingEngine | null; // null: this machine's default
}

/** Commands of the page to the worker that runs a language model. */
export type SpeakerCommand =
  | {
      readonly type: 'look';
      readonly name: string;
      readonly files: readonly PickedFile[];
      readonly wish: OpeningOptions;
    } // reads the headers only
  | { readonly type: 'measure'; readonly wish: OpeningOptions } // computes the plan again
  | { readonly type: 'training-plan'; readonly config: RunConfig } // computes the cost of training adapters for the model
  | { readonly type: 'open' } // reads the weights, with the last plan
  // the person's next message
  | { readonly type: 'say'; readonly system: string; readonly text: string; readonly writing: WriteOptions }
  // replaces the token at `at` and continues from there
  | { readonly type: 'instead'; readonly at: number; readonly token: number; readonly writing: WriteOptions }
  | { readonly type: 'task-form'; readonly env: EnvName } // asks for the form in which a person words its tasks
  | {
      readonly type: 'task';
      readonly env: EnvName;
      readonly asked: ChosenTask;
      readonly environmentSeed: number;
      readonly steps: number;
    } // begins a task in an empty text
  | { readonly type: 'play'; readonly turns: number; readonly writing: WriteOptions } // the model plays this many turns
  | { readonly type: 'type'; readonly text: string } // the person plays one turn
  | { readonly type: 'clear' } // clears the text
  | { readonly type: 'stop' }; // stops drawing after the current token

/** Why a model stopped writing. */
export type PauseReason = 'turn' | 'steps' | 'full' | 'stopped' | 'over';

/** A task as the scripted expert plays it. */
export interface ExpertPlay {
  readonly success: boolean;
  readonly reward: number;
  readonly turns: readonly string[]; // its text in each turn
}

export interface TaskProgress {
  readonly question: string;
  readonly tools: readonly string[];
  readonly stop: StopReason | null; // null: it isn't over
  readonly success: boolean;
  readonly judged: boolean; // whether the environment knows the right answer
  readonly reward: number; // so far
  readonly turns: readonly {
    readonly turn: number;
    readonly valid: boolean;
    readonly toolCall: boolean;
    readonly reward: number;
  }[];
  readonly expert: ExpertPlay | null; // only after the end, and if the environment knows the right answer
}

export type SpeakerEvent =
  | { readonly type: 'alive' } // posted every second, unless the worker is busy with code that doesn't end
  | { readonly type: 'looked'; readonly card: ModelCard; readonly plan: MemoryPlan }
  | { readonly type: 'refused'; readonly name: string; readonly reasons: readonly string[] } // the open model stays open
  | { readonly type: 'measured'; readonly plan: MemoryPlan }
  | {
      readonly type: 'training-plan';
      readonly config: RunConfig;
      readonly plan: TrainingPlan | null;
      readonly problem: string;
    } // plan is null if it failed; `problem` says why
  | { readonly type: 'loading'; readonly bytes: number; readonly totalBytes: number }
  | { readonly type: 'opened'; readonly backend: string; readonly parts: MemoryPlan['parts']; readonly seconds: number }
  | { readonly type: 'wrote'; readonly from: number; readonly tokens: readonly SpokenToken[] } // replaces the text from `from` on
  | { readonly type: 'task-form'; readonly env: EnvName; readonly form: AskForm | null }
  | { readonly type: 'task'; readonly task: TaskProgress }
  // tokens drawn since the command, and the time for them
  | { readonly type: 'paused'; readonly why: PauseReason; readonly tokens: number; readonly seconds: number }
  | { readonly type: 'lost'; readonly message: string } // the model is gone; the text stays readable
  | { readonly type: 'failed'; readonly message: string } // the text stays
  | { readonly type: 'done' }; // follows every command except `stop`, however it ended
