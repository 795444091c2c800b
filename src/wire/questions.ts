import type { AskedTask, AskForm, TalkSampling, Voice } from '../domain/taskForm.ts';
import type { RunConfig } from '../config/fields.ts';
import type { KernelReport } from '../config/kernelChoice.ts';
import type { Cost } from '../domain/cost.ts';
import type { BatchView, KeptBatch, PlayedBatch } from '../domain/batch.ts';
import type { BatchPreview } from '../domain/batchPreview.ts';
import type { PlayedEpisode } from '../domain/playedTask.ts';
import type { WorkProfile } from '../domain/profile.ts';
import type { AttentionView, Why } from '../domain/readings.ts';
import type { DemonstratedStep } from '../domain/demonstrationText.ts';
import type { FolderAnswer } from './folderMessages.ts';

/** A rollout that the run keeps: a row of the batch that an update learned from, or a branch. */
export type RolloutAddress = { readonly update: number; readonly row: number } | { readonly branch: number };

/** What an answer may take beside a checkpoint: `anyway` whatever that is, else it may be `dear`. */
interface Insisting {
  readonly anyway?: boolean;
}

/**
 * What a reader wants to know of a kept rollout, under the configuration of its batch. Answered with copies of the weights, so
 * that a run under way hears nothing of it.
 */
export type Question =
  | { readonly kind: 'batch'; readonly update: number } // that an update learned from
  | (Insisting & {
      readonly kind: 'distribution'; // of the token there
      readonly of: RolloutAddress;
      readonly position: number;
      readonly since?: 'begun'; // before: as the run began, after: as it is; without it before and after the rollout's update
    })
  | (Insisting & {
      readonly kind: 'logprobs'; // of all tokens of a row, or of a whole batch, row after row
      readonly update: number;
      readonly row: number | null;
    })
  | {
      readonly kind: 'branch'; // the same task and luck once more: the same words up to `position`, then `token`, then the policy as it is now
      readonly of: RolloutAddress;
      readonly position: number;
      readonly token: number;
      readonly temperature: number;
      readonly take: number; // another number, other draws
    }
  | (Insisting & {
      readonly kind: 'why'; // did the token there move
      readonly update: number;
      readonly row: number;
      readonly position: number;
      readonly apart?: boolean; // by rollout, also where that is dear
    })
  | (Insisting & { readonly kind: 'rerun'; readonly update: number }) // its tasks with the same draws, by the policy before and after it
  | (Insisting & {
      readonly kind: 'attention'; // of the policy that drew it, when it drew the token at `position`, from 1
      readonly update: number;
      readonly row: number;
      readonly position: number;
    })
  | {
      readonly kind: 'preview'; // the batch as its update would have treated it with knobs turned
      readonly update: number;
      readonly changes: Partial<RunConfig>; // a smaller groupSize: the first so many rollouts of each task
    }
  | { readonly kind: 'checksum' } // of the weights as they are
  | { readonly kind: 'demonstrations' } // that the step of imitation under way learns from
  | { readonly kind: 'ask-form' } // how a person words a task
  | {
      readonly kind: 'talk'; // a task of a person's, played to its end; never learned from
      readonly asked: AskedTask;
      readonly luck: number; // of the environment's dice
      readonly script: readonly number[]; // the agent's first tokens; the policy writes the rest
      readonly voice: Voice;
      readonly sampling: TalkSampling;
      readonly take: number; // another number, other draws
    };

/** What came of a question. Batches and weights of long ago are not kept: null then. */
export type Answer =
  | { readonly kind: 'batch'; readonly kept: KeptBatch | null }
  | {
      readonly kind: 'profile';
      readonly profile: WorkProfile;
      readonly updates: number; // that its counts are of
      readonly tuned?: KernelReport; // measured while this run went on, for the next one
    }
  | {
      readonly kind: 'distribution'; // log-probabilities (V), −Infinity where a token is not legal
      readonly before: Float32Array | null; // by the policy that drew the rollout
      readonly after: Float32Array | null; // by the one that had learned from it
      readonly now: Float32Array;
      readonly legal?: number; // words that could stand there, where the likeliest alone are told
    }
  | {
      readonly kind: 'logprobs'; // as many as tokens were asked about
      readonly before: Float32Array | null;
      readonly after: Float32Array | null;
    }
  | { readonly kind: 'branch'; readonly branch: BatchView; readonly id: number } // one row, never learned from; `id` to ask about it
  | {
      readonly kind: 'why';
      readonly why: Why | null;
      readonly apart: Cost | null; // what it takes to tell its rollouts apart, where they are together
    }
  | {
      readonly kind: 'rerun';
      readonly before: PlayedBatch | null;
      readonly after: PlayedBatch | null;
    }
  | { readonly kind: 'attention'; readonly attention: AttentionView | null }
  | { readonly kind: 'preview'; readonly preview: BatchPreview | Pick<BatchPreview, 'batch' | 'before'> | null }
  | { readonly kind: 'checksum'; readonly checksum: string }
  | { readonly kind: 'demonstrations'; readonly shown: DemonstratedStep | null } // null: it does not imitate, or not any more
  | { readonly kind: 'ask-form'; readonly form: AskForm | null } // null: tasks are chosen by their number alone
  | {
      readonly kind: 'talk';
      readonly said: BatchView; // one row
      readonly config: RunConfig; // it was drawn under
      readonly vocabulary: readonly string[];
      readonly id: number; // of a branch, to ask about it
      readonly judged: boolean; // the environment knows what is right
    }
  | {
      readonly kind: 'play';
      readonly vocabulary: readonly string[];
      readonly tokens: readonly number[]; // all that the person has written, what was typed as the ids it became
      readonly tools: readonly string[] | null; // that text may call; null where words are written one by one
      readonly played: PlayedEpisode;
      readonly expert: PlayedEpisode | null; // the same task by the scripted expert, once it is over
    }
  | FolderAnswer
  | { readonly kind: 'dear'; readonly cost: Cost } // an answer is had by who asks for it `anyway`
  | { readonly kind: 'refused'; readonly message: string };
