import type { ChosenTask, AskForm, TalkSampling, Voice } from '../domain/taskForm.ts';
import type { RunConfig } from '../config/fields.ts';
import type { BatchView, KeptBatch, PlayedBatch } from '../domain/batch.ts';
import type { SolvedTries } from '../domain/passGate.ts';
import type { PlayedEpisode } from '../domain/playedTask.ts';
import type { WorkProfile } from '../domain/profile.ts';
import type { Tensors } from '../runs/checkpoint.ts';
import type { AttentionView, SpreadBucket, Why, Cost, BatchPreview } from '../domain/readings.ts';
import type { FolderAnswer } from './folderMessages.ts';
import type { Kind, Role } from '../domain/tokens.ts';

interface SpokenText {
  readonly kind: Kind;
  readonly role: Role;
  readonly turn: number; // 0: the prompt
  readonly text: string;
}

/** Demonstrations that a step of imitation learns from. */
export interface DemonstratedStep {
  readonly step: number; // from 1
  readonly total: number;
  readonly episodes: readonly (readonly SpokenText[])[];
}

/** A rollout that the run keeps: a row of the batch that an update learned from, or a branch. */
export type RolloutAddress = { readonly update: number; readonly row: number } | { readonly branch: number };

/** Whether to compute an expensive answer. Without `anyway`, the answer may be `dear`: only its cost. */
interface CostlyQuestion {
  readonly anyway?: boolean;
}

/**
 * A question about a kept rollout, under the configuration of its batch. Copies of the weights answer it, so the run
 * isn't affected.
 */
export type Question =
  | { readonly kind: 'batch'; readonly update: number } // the batch that an update learned from
  | (CostlyQuestion & {
      readonly kind: 'distribution'; // the distribution at the token at `position`
      readonly rollout: RolloutAddress;
      readonly position: number;
      /** Compares now with the start of the run, or with another run's weights; without it, before and after the rollout's update. */
      readonly since?: 'begun' | Tensors;
    })
  | (CostlyQuestion & {
      readonly kind: 'logprobs'; // for all tokens of a row, or of the whole batch row after row
      readonly update: number;
      readonly row: number | null;
    })
  | {
      /**
       * The same task and random events again: the same tokens up to `position`, then `token` (null: one that is drawn),
       * then the current policy continues, or that of another run's weights.
       */
      readonly kind: 'branch';
      readonly rollout: RolloutAddress;
      readonly position: number;
      readonly token: number | null;
      readonly weights?: Tensors;
      readonly temperature: number;
      readonly drawIndex: number; // each number gives other draws
    }
  | (CostlyQuestion & {
      readonly kind: 'why'; // why the probability of the token changed
      readonly update: number;
      readonly row: number;
      readonly position: number;
      readonly byRollout?: boolean; // true: split the change by rollout, even if that is expensive
    })
  | (CostlyQuestion & {
      readonly kind: 'tries'; // plays training tasks several times with the policy that RL began with
      readonly tasks: number;
      readonly tries: number; // of each task
    })
  | (CostlyQuestion & { readonly kind: 'spread-gradients'; readonly update: number }) // gradient norms by the reward spread of groups
  // plays the update's tasks again with the same draws, with the policy before and after the update
  | (CostlyQuestion & { readonly kind: 'rerun'; readonly update: number })
  | (CostlyQuestion & {
      /** Attention of the policy before the rollout’s update, at the token at `position` (1 or more) */
      readonly kind: 'attention';
      readonly update: number;
      readonly row: number;
      readonly position: number;
    })
  | {
      readonly kind: 'preview'; // the batch as its update would have treated it with changed knobs
      readonly update: number;
      readonly changes: Partial<RunConfig>; // a smaller groupSize takes the first rollouts of each task
    }
  | { readonly kind: 'checksum' } // checksum of the current weights
  | { readonly kind: 'demonstrations' } // demonstrations of the current step of imitation
  | { readonly kind: 'ask-form' } // the form in which a person words a task
  | {
      readonly kind: 'talk'; // plays a person's task to its end; never used in training
      readonly chosenTask: ChosenTask;
      readonly environmentSeed: number; // seed of the environment's random events
      readonly agentPrefix: readonly number[]; // the agent's first tokens; the policy writes the rest
      readonly voice: Voice;
      readonly sampling: TalkSampling;
      readonly drawIndex: number; // each number gives other draws
    };

/** The answer to a question. Null in place of old batches and weights that aren't kept. */
export type Answer =
  | { readonly kind: 'batch'; readonly kept: KeptBatch | null }
  | {
      readonly kind: 'profile';
      readonly profile: WorkProfile;
      readonly updates: number; // number of updates counted
    }
  | {
      readonly kind: 'distribution'; // log-probabilities (V), −Infinity for tokens that aren't legal
      readonly before: Float32Array | null; // by the policy before the update
      readonly after: Float32Array | null; // by the policy after it learned from the rollout
      readonly now: Float32Array;
      readonly legal?: number; // number of legal words, if only the likeliest are listed
    }
  | {
      readonly kind: 'logprobs'; // one for each token asked about
      readonly before: Float32Array | null;
      readonly after: Float32Array | null;
    }
  | { readonly kind: 'branch'; readonly branch: BatchView; readonly id: number } // one row, never used in training; questions about it use `id`
  | {
      readonly kind: 'why';
      readonly why: Why | null;
      readonly splitCost: Cost | null; // the cost of splitting the change by rollout; null if `why` is split or null
    }
  | {
      readonly kind: 'rerun';
      readonly before: PlayedBatch | null;
      readonly after: PlayedBatch | null;
    }
  | { readonly kind: 'spread-gradients'; readonly buckets: readonly SpreadBucket[] | null }
  | ({ readonly kind: 'tries' } & SolvedTries)
  | { readonly kind: 'attention'; readonly attention: AttentionView | null }
  | { readonly kind: 'preview'; readonly preview: BatchPreview | Pick<BatchPreview, 'batch' | 'before'> | null }
  | { readonly kind: 'checksum'; readonly checksum: string }
  | { readonly kind: 'demonstrations'; readonly shown: DemonstratedStep | null } // null: the run isn't imitating
  | { readonly kind: 'ask-form'; readonly form: AskForm | null } // null: tasks can only be chosen by number
  | {
      readonly kind: 'talk';
      readonly batch: BatchView; // one row
      readonly config: RunConfig; // the configuration that drew it
      readonly vocabulary: readonly string[];
      readonly id: number; // id of the branch, for questions about it
      readonly judged: boolean; // whether the environment knows the right answer
    }
  | {
      readonly kind: 'play';
      readonly vocabulary: readonly string[];
      readonly tokens: readonly number[]; // everything that the person wrote; typed text as its token ids
      readonly tools: readonly string[] | null; // tools that typed text can call; null if words are chosen one by one
      readonly played: PlayedEpisode;
      readonly expert: PlayedEpisode | null; // the scripted expert's play of the same task, only after the end
    }
  | FolderAnswer
  | { readonly kind: 'dear'; readonly cost: Cost } // ask again with `anyway` to get the answer
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Makes the question that asks a run to play a task as in recordings, with the same random events and the same draws
 * each time.
 */
export function playQuestion(
  seed: number,
  { temperature, topK, topP }: RunConfig,
): Question & { readonly kind: 'talk' } {
  const sampling = { temperature, topK, topP, greedy: false };
  return {
    kind: 'talk',
    chosenTask: { seed },
    environmentSeed: seed,
    agentPrefix: [],
    voice: 'now',
    sampling,
    drawIndex: 1,
  };
}
