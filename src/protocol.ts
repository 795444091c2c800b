import type { Checkpoint } from './checkpoint.ts';
import type { FieldName, RunConfig } from './fields.ts';
import type { BackendInfo } from './backendInfo.ts';
import type { KernelReport } from './kernelChoice.ts';
import type { Metrics } from './metrics.ts';
import type { UpdateTimes, WorkProfile } from './profile.ts';
import type { AnswerScores, EnvView } from './envView.ts';
import type { Health } from './health.ts';

export type { Evidence, Health, HealthState, Remedy, TrapKind } from './health.ts';
export type { BackendInfo } from './backendInfo.ts';
export type { AnswerScores, EnvView, TextRange } from './envView.ts';

/** How a rollout ended. */
export type StopReason = 'answered' | 'found' | 'lost' | 'turns' | 'tokens';

/** What a reward is made of: the parts add up to the reward of a token or a rollout. */
export const REWARD_PARTS = ['outcome', 'process', 'format', 'think', 'turnCost', 'preference'] as const;
export type RewardPart = (typeof REWARD_PARTS)[number];

/** One rollout as people read it; its tokens are row `row` of the batch. */
export interface EpisodeView {
  readonly row: number;
  readonly group: number; // rollouts of one prompt share it
  readonly seed: number; // of the task
  readonly luck: number; // of the environment's dice: the same task, luck and actions give the same episode
  readonly question: string;
  readonly names: ReadonlyMap<number, string>; // id → what that word stands for here; text for people, no markup
  readonly reward: number; // sum of its parts
  readonly parts: Readonly<Record<RewardPart, number>>;
  readonly preferenceScore: number | null; // what the reward model says of it, before weight and centring
  readonly success: boolean;
  readonly stop: StopReason;
  readonly turns: number;
  readonly toolCalls: number;
  readonly invalidTurns: number;
  readonly waited: number; // turns that went by while tools answered
  readonly scores: AnswerScores | null; // null where answers are no text
  readonly view: EnvView;
}

/** A rollout batch after credit and learning. Arrays are (B,T), index t speaks of token t; 0 where nothing applies. */
export interface BatchView {
  readonly update: number; // the update that learned from it, from 1
  readonly rows: number; // B
  readonly length: number; // T
  readonly tokens: Int32Array;
  readonly roles: Uint8Array;
  readonly states: Uint8Array; // grammar state each was drawn in; 0 for forced tokens
  readonly singles: Uint8Array; // 1 at choices of one: drawn by the agent where only one token was legal
  readonly turns: Uint8Array; // from 1; 0 in the prompt
  readonly lengths: Int32Array; // (B)
  readonly sampledLogprobs: Float32Array; // of the whole policy, as the decoder had them
  readonly drawnLogprobs?: Float32Array; // of what was drawn from, where top-k or top-p cut the rest away
  readonly logprobs: Float32Array; // before the update, recomputed
  readonly entropies: Float32Array;
  readonly values: Float32Array; // zero without a critic
  readonly rewards: Float32Array; // as paid
  readonly parts: Readonly<Partial<Record<RewardPart, Float32Array>>>; // of `rewards`; absent where nothing was paid
  readonly refLogprobs: Float32Array; // the reference's; the old ones where no KL is asked for
  readonly advantages: Float32Array;
  readonly returns: Float32Array;
  readonly lossMask: Float32Array; // 1 where the token is in the policy loss
  readonly advantageMask: Float32Array; // 1 where the token can carry credit
  readonly gradWeights: Float32Array; // d(loss)/d(log-probability) at the last pass: what multiplied ∇log π
  readonly policyWeights: Float32Array; // the policy loss's part of it
  readonly passes?: readonly PassView[]; // over the batch, the first ones and the last; absent where nobody kept them
  readonly kept: Uint8Array; // (B) 1: learned from; 0: its prompt was filtered out
  readonly episodes: readonly EpisodeView[];
}

/** One pass over a batch, as the objective saw it; (B,T) unless said. */
export interface PassView {
  readonly pass: number; // from 1
  readonly gradWeights: Float32Array; // d(loss)/d(log-probability)
  readonly policyWeights: Float32Array; // the policy loss's part: −A · ρ · share, 0 where the clip held the token
  readonly shares: Float32Array; // (B) what a token of the row counted for in the loss: 1/tokens of its minibatch for a token mean
}

export type Phase =
  'compiling' | 'warm-start' | 'evaluating' | 'sampling' | 'scoring' | 'crediting' | 'updating' | 'reporting' | 'idle';

/** The tokens of one rollout, as a preference names it; both (length). */
export interface Attempt {
  readonly tokens: Int32Array;
  readonly roles: Uint8Array;
}

/** How well the reward model agrees with those who were asked. */
export interface Preferences {
  readonly pairs: number; // labelled by the simulated labeller so far
  readonly clicks: number; // labelled by a person
  readonly loss: number; // −mean log σ(r_better − r_worse) at the last fit
  readonly agreement: number | null; // share of held-out pairs it orders as the labeller did; null before there are any
}

/** A kept rollout as a question names it; each (T). */
export interface RecordedRow {
  readonly tokens: Int32Array;
  readonly roles: Uint8Array;
  readonly states: Uint8Array;
}

/** A batch of episodes as they were played: ids, who wrote them, how it went. */
export type PlayedBatch = Pick<BatchView, 'rows' | 'length' | 'tokens' | 'roles' | 'turns' | 'lengths' | 'episodes'>;

/**
 * Why an update moved the log-probability of a token, to first order: ⟨∇log π, Δθ⟩ with the gradient taken before the update,
 * split by where Δθ came from. All in nats; everything but `after` and `before` adds up to after − before.
 */
export interface Why {
  readonly before: number; // log-probability of the token
  readonly after: number;
  readonly rollouts: Float64Array; // (B) through the policy loss of each rollout; 0 for one that was not learned from
  readonly kl: number; // through the KL in the loss
  readonly entropy: number; // through the entropy bonus
  readonly value: number; // through the value loss of a shared critic
  readonly momentum: number; // through what Adam's first moment brought along from earlier updates
  readonly decay: number; // through weight decay
  readonly residual: number; // what first order does not explain: curvature, and rounding
  readonly steps: number; // optimizer steps that moved the policy
}

/** What every head of every layer looked at when a token was chosen. */
export interface AttentionView {
  readonly layers: number;
  readonly heads: number;
  readonly count: number; // tokens before the chosen one
  readonly weights: Float32Array; // (layers, heads, count); the numbers of a head add up to 1
}

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

/** A task with a person in the agent's place. It asks no run: there need be none, and the one that is there hears nothing of it. */
export interface PlayedTask {
  readonly config: RunConfig;
  readonly seed: number; // of the task
  readonly luck: number; // of the environment's dice
  readonly tokens: readonly number[]; // all that the person has written
}

/** An episode as far as given tokens of an agent take it. Tokens, roles and turns: one entry a token, prompt included. */
export interface PlayedEpisode {
  readonly question: string;
  readonly names: ReadonlyMap<number, string>; // id → what that word stands for here
  readonly tokens: Int32Array;
  readonly roles: Uint8Array;
  readonly turns: Uint8Array; // from 1; 0 in the prompt
  readonly paid: readonly {
    readonly turn: number;
    readonly parts: Readonly<Record<RewardPart, number>>;
    readonly valid: boolean;
    readonly toolCall: boolean;
  }[]; // turns taken
  readonly reward: number; // so far
  readonly success: boolean;
  readonly stop: StopReason | null; // null: it goes on
  readonly draft: number; // tokens of the turn under way
  readonly legal: readonly number[]; // ids that may come next
  readonly view: EnvView;
}

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

/** What a run says of itself. `train()` yields all but `ready`, `checkpoint` and fatal errors, which belong to the worker. */
export type RunEvent =
  | {
      readonly type: 'phase';
      readonly phase: Phase;
      readonly update: number;
      readonly done: number;
      readonly total: number;
    }
  | {
      readonly type: 'ready';
      readonly backend: BackendInfo;
      readonly config: RunConfig;
      readonly update: number; // done already: 0 unless it goes on from a checkpoint
      readonly vocabulary: readonly string[];
      readonly parameters: number;
      readonly memoryBytes: number;
    }
  | { readonly type: 'batch'; readonly batch: BatchView }
  | {
      readonly type: 'metrics';
      readonly update: number;
      readonly values: Metrics;
      readonly solved?: ReadonlyMap<string, boolean>; // where this update was evaluated: which tasks greedy play solved
    }
  | { readonly type: 'times'; readonly times: UpdateTimes } // after the update's metrics
  | { readonly type: 'health'; readonly update: number; readonly health: Health }
  | { readonly type: 'preferences'; readonly update: number; readonly preferences: Preferences }
  | { readonly type: 'configured'; readonly update: number; readonly changes: Partial<RunConfig> } // applied from this update on
  | { readonly type: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly type: 'checkpoint'; readonly checkpoint: Checkpoint | null; readonly refused: string } // why it is not for keeping; null: none at all
  | { readonly type: 'alive'; readonly holds: boolean } // holds: the lock that `live` names, from now on
  | { readonly type: 'running'; readonly running: boolean; readonly update: number; readonly finished: boolean }
  | {
      readonly type: 'error';
      readonly message: string; // what was got, what is wanted
      readonly hint: string; // what to do
      readonly fatal: boolean; // the run cannot go on; false: the run that was there stays
      readonly fields: readonly FieldName[]; // knobs to look at
      readonly cause?: ErrorCause; // where something more than going on can be done about it
    };

/**
 * non-finite: an optimizer step was skipped, and a guarded run is back at its last finite update. silent: the worker has not answered for
 * a while, but may.
 */
export type ErrorCause = 'non-finite' | 'device-lost' | 'bad-checkpoint' | 'worker-lost' | 'silent';
