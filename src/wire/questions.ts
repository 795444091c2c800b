import type { RunConfig } from '../config/fields.ts';
import type { KernelReport } from '../config/kernelChoice.ts';
import type { BatchView, PlayedBatch, RecordedRow } from '../domain/batch.ts';
import type { PlayedEpisode } from '../domain/played.ts';
import type { WorkProfile } from '../domain/profile.ts';
import type { AttentionView, Why } from '../domain/readings.ts';

/**
 * What a reader wants to know of a kept rollout. `config` is the batch's own: its temperature and grammar. Answered with
 * copies of the weights, so that a run under way hears nothing of it.
 */
export type Question =
  | {
      readonly kind: 'distribution'; // of the token at `position`
      readonly config: RunConfig;
      readonly row: RecordedRow;
      readonly position: number;
      readonly state: number; // grammar state it is drawn in
      readonly update: number; // that learned from the rollout
    }
  | {
      readonly kind: 'logprobs'; // of all tokens of a row, or of a whole batch, row after row
      readonly config: RunConfig;
      readonly row: RecordedRow;
      readonly update: number;
    }
  | {
      readonly kind: 'branch'; // the same task once more: `script` first, then the policy as it is now
      readonly config: RunConfig;
      readonly seed: number; // of the task
      readonly luck: number; // the rollout's own, so that the environment answers as it did
      readonly script: readonly number[]; // the agent's first tokens
      readonly temperature: number;
      readonly take: number; // another number, other draws
    }
  | {
      readonly kind: 'why'; // of the token at `position` of row `row`
      readonly config: RunConfig;
      readonly batch: BatchView;
      readonly row: number;
      readonly position: number;
    }
  | {
      readonly kind: 'rerun'; // the tasks of an update with the same draws, by the policy before and after it
      readonly config: RunConfig;
      readonly update: number;
    }
  | {
      readonly kind: 'attention'; // of the policy that drew it, when it drew the token at `position`
      readonly config: RunConfig;
      readonly row: RecordedRow;
      readonly position: number; // from 1
      readonly update: number;
    }
  | {
      readonly kind: 'ghost'; // the batch as its update would have treated it with a switch turned, or both masks
      readonly config: RunConfig;
      readonly batch: BatchView;
      readonly flipped: 'lossMask' | 'advantageMask' | 'masks';
    }
  | { readonly kind: 'checksum' }; // of the weights as they are

/** What came of a question. Weights of long ago are not kept: null then. */
export type Answer =
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
    }
  | {
      readonly kind: 'logprobs'; // as many as tokens were asked about
      readonly before: Float32Array | null;
      readonly after: Float32Array | null;
    }
  | { readonly kind: 'branch'; readonly branch: BatchView } // one row, never learned from
  | { readonly kind: 'why'; readonly why: Why | null }
  | {
      readonly kind: 'rerun';
      readonly before: PlayedBatch | null;
      readonly after: PlayedBatch | null;
    }
  | { readonly kind: 'attention'; readonly attention: AttentionView | null }
  | { readonly kind: 'ghost'; readonly ghost: BatchView | null }
  | { readonly kind: 'checksum'; readonly checksum: string }
  | {
      readonly kind: 'play';
      readonly vocabulary: readonly string[];
      readonly played: PlayedEpisode;
      readonly expert: PlayedEpisode | null; // the same task by the scripted expert, once it is over
    }
  | { readonly kind: 'refused'; readonly message: string };
