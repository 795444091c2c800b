import type { EnvName } from '../config/environments.ts';
import type { RunConfig } from '../config/fields.ts';
import type { AskedTask, AskForm, TalkSampling } from '../domain/taskForm.ts';
import type { StopReason } from '../domain/episode.ts';
import type { MemoryPlan, ModelCard, SpeakingEngine } from '../domain/modelCard.ts';
import type { TextToken } from '../domain/textSpans.ts';
import type { TrainingPlan } from '../domain/trainingPlan.ts';
import type { PickedFile } from './readerMessages.ts';

/** A token and its log-probability at temperature 1. */
export interface LikelyToken {
  readonly id: number;
  readonly shown: string; // blanks and controls marked
  readonly logprob: number;
}

/** A token of a text, in order. */
export interface SpokenToken extends TextToken {
  readonly id: number;
  readonly shown: string; // by itself, blanks and controls marked
  readonly likely: readonly LikelyToken[] | null; // what could have stood there, likeliest first; null where nothing was drawn
  readonly logprob: number | null; // of this token at temperature 1; null where nothing was drawn
}

/** How far a model writes on its own. */
export interface Writing {
  readonly sampling: TalkSampling;
  readonly steps: number; // most tokens of a turn
  readonly seed: number; // another number, other draws
}

/** How a model is to be opened. */
export interface OpeningWish {
  readonly length: number; // most tokens of a text
  readonly engine: SpeakingEngine | null; // null: the one that is usual here
}

/** What the page asks of the worker that speaks for a checkpoint. */
export type SpeakerCommand =
  | { readonly type: 'look'; readonly name: string; readonly files: readonly PickedFile[]; readonly wish: OpeningWish } // headers only
  | { readonly type: 'measure'; readonly wish: OpeningWish } // again
  | { readonly type: 'training-plan'; readonly config: RunConfig } // what a run beside what was looked at would take
  | { readonly type: 'open' } // reads the weights, as was planned last
  | { readonly type: 'say'; readonly system: string; readonly text: string; readonly writing: Writing } // a person's next words
  | { readonly type: 'instead'; readonly at: number; readonly token: number; readonly writing: Writing } // another token there, and on
  | { readonly type: 'task-form'; readonly env: EnvName } // how a person words its tasks
  | {
      readonly type: 'task';
      readonly env: EnvName;
      readonly asked: AskedTask;
      readonly luck: number;
      readonly steps: number;
    } // begins one in an empty text
  | { readonly type: 'play'; readonly turns: number; readonly writing: Writing } // the model does, so many turns
  | { readonly type: 'type'; readonly text: string } // a person does, one turn
  | { readonly type: 'clear' } // the text is forgotten
  | { readonly type: 'stop' }; // drawing ends after the token under way

/** Why a model writes no further. */
export type Pause = 'turn' | 'steps' | 'full' | 'stopped' | 'over';

/** What the scripted expert makes of a task. */
export interface ExpertPlay {
  readonly success: boolean;
  readonly reward: number;
  readonly turns: readonly string[]; // what it says in each
}

/** How far a task is. */
export interface PlayedTask {
  readonly question: string;
  readonly tools: readonly string[];
  readonly stop: StopReason | null; // null: it goes on
  readonly success: boolean;
  readonly judged: boolean; // the environment knows what is right
  readonly reward: number; // so far
  readonly turns: readonly {
    readonly turn: number;
    readonly valid: boolean;
    readonly toolCall: boolean;
    readonly reward: number;
  }[];
  readonly expert: ExpertPlay | null; // once the task is over, where the environment knows what is right
}

/** What that worker tells. */
export type SpeakerEvent =
  | { readonly type: 'looked'; readonly card: ModelCard; readonly plan: MemoryPlan }
  | { readonly type: 'refused'; readonly name: string; readonly reasons: readonly string[] } // what was open stays
  | { readonly type: 'measured'; readonly plan: MemoryPlan }
  | {
      readonly type: 'training-plan';
      readonly config: RunConfig;
      readonly plan: TrainingPlan | null;
      readonly problem: string;
    } // null: why, in `problem`
  | { readonly type: 'loading'; readonly bytes: number; readonly of: number }
  | { readonly type: 'opened'; readonly backend: string; readonly parts: MemoryPlan['parts']; readonly seconds: number }
  | { readonly type: 'wrote'; readonly from: number; readonly tokens: readonly SpokenToken[] } // what stood from there on gives way
  | { readonly type: 'task-form'; readonly env: EnvName; readonly form: AskForm | null }
  | { readonly type: 'task'; readonly task: PlayedTask }
  | { readonly type: 'paused'; readonly why: Pause; readonly tokens: number; readonly seconds: number } // drawn since it was asked
  | { readonly type: 'lost'; readonly message: string } // the model is gone; what was said stays to be read
  | { readonly type: 'failed'; readonly message: string } // nothing is lost: the text stays
  | { readonly type: 'done' }; // with a command, however it ended; `stop` has none
