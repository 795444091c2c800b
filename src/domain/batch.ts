import { usesCritic } from '../config/estimators.ts';
import type { RunConfig } from '../config/fields.ts';
import type { EpisodeView, RewardPart } from './episode.ts';

/** The state after credit assignment and learning. Arrays are (B,T) unless noted. Entry t is about token t; 0 where it doesn't apply. */
export interface BatchView {
  readonly update: number; // the update that learned from it, from 1
  readonly rows: number; // B
  readonly length: number; // T
  readonly tokens: Int32Array;
  readonly roles: Uint8Array;
  readonly states: Uint8Array; // grammar state in which each token was drawn; 0 for forced tokens
  readonly contextStarts?: Int32Array; // as in `TokenRecord`; absent: every row is one context
  readonly singles: Uint8Array; // 1 at tokens of the agent that were the only legal choice
  readonly bodies?: Uint8Array; // 1 at words of observations, without tags and chat markup; absent if not recorded
  /** 1 at tokens of the agent in whose place others of the same text were drawn (`retokenize`); absent: nowhere. */
  readonly drifted?: Uint8Array;
  readonly turns: Uint8Array; // from 1; 0 in the prompt
  readonly lengths: Int32Array; // (B)
  readonly sampledLogprobs: Float32Array; // under the full policy that drew, computed while sampling
  readonly drawnLogprobs?: Float32Array; // under the distribution left by top-k and top-p; absent if neither was used
  readonly logprobs: Float32Array; // under the policy before the update, recomputed
  readonly entropies: Float32Array;
  readonly values: Float32Array; // 0 without a critic
  readonly rewards: Float32Array; // before any KL penalty is subtracted
  /** They add up to `rewards`; a part that is 0 everywhere is absent. */
  readonly parts: Readonly<Partial<Record<RewardPart, Float32Array>>>;
  readonly refLogprobs: Float32Array; // under the reference policy; equal to `logprobs` if no knob needs a KL
  readonly advantages: Float32Array;
  readonly returns: Float32Array;
  readonly lossMask: Float32Array; // 1 where the token is in the policy loss
  readonly advantageMask: Float32Array; // 1 where the token can carry credit
  readonly observationMask?: Float32Array; // 1 where the token is learned as a prediction; absent if none is
  readonly gradWeights: Float32Array; // d(loss)/d(log-probability) in the last epoch, the factor of ∇log π
  readonly policyWeights: Float32Array; // the policy loss's share of `gradWeights`
  readonly age?: number; // updates since the weights that drew it were current; absent: 0
  readonly corrections?: Float32Array; // factor of the token's policy loss; absent without an off-policy correction
  readonly epochViews?: readonly EpochView[]; // the first epochs and the last one; absent if they weren't kept
  readonly kept: Uint8Array; // (B) 1: the update learned from the row; 0: its prompt was filtered out
  readonly unscored?: readonly ScoreName[]; // arrays that weren't computed for this batch; their content is meaningless
  readonly episodes: readonly EpisodeView[];
}

/** They need a reference policy, a critic or the group's other rollouts. A rollout outside training has none of these. */
export const SCORE_NAMES = ['values', 'returns', 'advantages', 'refLogprobs'] as const;
export type ScoreName = (typeof SCORE_NAMES)[number];

/** Whether an array of a kept batch holds measured values: the knobs needed it, and it was computed. */
export function isMeasured({ batch, config }: KeptBatch, list: ScoreName): boolean {
  if (batch.unscored?.includes(list)) return false;
  if (list === 'advantages') return true;
  // without a KL coefficient, the reference policy doesn't score the batch
  if (list === 'refLogprobs') return config.klCoef !== 0 || config.klRewardCoef !== 0;
  return usesCritic(config.estimator);
}

/** The gradient weights of one epoch over a batch. Arrays are (B,T) unless a comment says otherwise. */
export interface EpochView {
  readonly epoch: number; // number of the epoch, from 1
  readonly gradWeights: Float32Array; // d(loss)/d(log-probability)
  readonly policyWeights: Float32Array; // the policy loss's share: −A · ρ · share, 0 where the token was clipped
  /**
   * (B) weight of each token of the row in the loss; for a token mean, 1/tokens of its minibatch. (B,T) if the rows hold
   * several contexts, because the weight may then differ between them.
   */
  readonly shares: Float32Array;
}

/** Log-probabilities with which a batch's tokens were drawn: those of the behaviour policy. */
export function behaviourLogprobs(batch: Pick<BatchView, 'drawnLogprobs' | 'sampledLogprobs'>): Float32Array {
  return batch.drawnLogprobs ?? batch.sampledLogprobs;
}

/** The weight in the loss of the token at a flat index. */
export function shareAt(
  { shares, gradWeights }: Pick<EpochView, 'shares' | 'gradWeights'>,
  length: number,
  i: number,
): number {
  return shares[shares.length === gradWeights.length ? i : Math.floor(i / length)] ?? 0;
}

/** The recorded tokens of one rollout. Arrays have the shape (T). */
export interface RecordedRow {
  readonly tokens: Int32Array;
  readonly roles: Uint8Array;
  readonly states: Uint8Array;
  readonly contextStarts?: Int32Array;
}

/** A batch of played episodes: token ids, who wrote each token, and the outcomes. */
export type PlayedBatch = Pick<BatchView, 'rows' | 'length' | 'tokens' | 'roles' | 'turns' | 'lengths' | 'episodes'>;

export interface KeptBatch {
  readonly batch: BatchView;
  readonly config: RunConfig;
}

const EPISODE_BYTES = 1000; // rough size of an EpisodeView, which has no byteLength

/** Approximate number of bytes that a batch takes in memory. */
export function batchBytes({ episodes, parts, epochViews = [], ...batch }: BatchView): number {
  // the last epoch's arrays are the batch's own
  const earlierArrays = epochViews
    .slice(0, -1)
    .flatMap(({ gradWeights, policyWeights }) => [gradWeights, policyWeights]);
  const arrays = [...Object.values(batch), ...Object.values(parts), ...earlierArrays].filter((part) =>
    ArrayBuffer.isView(part),
  );
  return arrays.reduce((sum, { byteLength }) => sum + byteLength, 0) + EPISODE_BYTES * episodes.length;
}

/** One row of a batch. With `position`, only its first `position` tokens; the rest is padding. */
export function recordedRow(
  batch: RecordedRow & { readonly length: number },
  row: number,
  position = batch.length,
): RecordedRow {
  const [from, to] = [row * batch.length, (row + 1) * batch.length];
  return {
    tokens: batch.tokens.slice(from, to).fill(0, position),
    roles: batch.roles.slice(from, to).fill(0, position),
    states: batch.states.slice(from, to).fill(0, position),
    ...(batch.contextStarts && { contextStarts: batch.contextStarts.slice(from, to).fill(0, position) }),
  };
}
