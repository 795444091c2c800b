import { usesCritic } from '../config/estimators.ts';
import type { RunConfig } from '../config/fields.ts';
import type { EpisodeView, RewardPart } from './episode.ts';

/** A rollout batch after credit and learning. Arrays are (B,T), index t is about token t; 0 where nothing applies. */
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
  readonly unscored?: readonly ScoreName[]; // lists nothing was computed for: what stands in them says nothing
  readonly episodes: readonly EpisodeView[];
}

/** Lists that take a reference, a critic or the others of a group; a rollout that nothing learns from has none of them. */
export const SCORE_NAMES = ['values', 'returns', 'advantages', 'refLogprobs'] as const;
export type ScoreName = (typeof SCORE_NAMES)[number];

/** Whether a list of a kept batch was measured: its knobs asked for it, and it was computed. */
export function isMeasured({ batch, config }: KeptBatch, list: ScoreName): boolean {
  if (batch.unscored?.includes(list)) return false;
  if (list === 'advantages') return true;
  // without a coefficient the reference is not asked
  if (list === 'refLogprobs') return config.klCoef !== 0 || config.klRewardCoef !== 0;
  return usesCritic(config.estimator);
}

/** One pass over a batch, as the objective saw it; (B,T) unless said. */
export interface PassView {
  readonly pass: number; // from 1
  readonly gradWeights: Float32Array; // d(loss)/d(log-probability)
  readonly policyWeights: Float32Array; // the policy loss's part: −A · ρ · share, 0 where the clip held the token
  readonly shares: Float32Array; // (B) what a token of the row counted for in the loss: 1/tokens of its minibatch for a token mean
}

/** A kept rollout as a question names it; each (T). */
export interface RecordedRow {
  readonly tokens: Int32Array;
  readonly roles: Uint8Array;
  readonly states: Uint8Array;
}

/** A batch of episodes as they were played: ids, who wrote them, how it went. */
export type PlayedBatch = Pick<BatchView, 'rows' | 'length' | 'tokens' | 'roles' | 'turns' | 'lengths' | 'episodes'>;

/** A batch as it is kept: with the configuration it was made under. */
export interface KeptBatch {
  readonly batch: BatchView;
  readonly config: RunConfig;
}

const EPISODE_BYTES = 1000; // what an EpisodeView takes, about: small objects have no byteLength

/** Bytes that a batch takes in memory, about. */
export function batchBytes({ episodes, parts, passes = [], ...batch }: BatchView): number {
  // the last pass is the batch's own
  const earlier = passes.slice(0, -1).flatMap(({ gradWeights, policyWeights }) => [gradWeights, policyWeights]);
  const arrays = [...Object.values(batch), ...Object.values(parts), ...earlier].filter((part) =>
    ArrayBuffer.isView(part),
  );
  return arrays.reduce((sum, { byteLength }) => sum + byteLength, 0) + EPISODE_BYTES * episodes.length;
}

/** One row of a batch, or the first `position` tokens of it: the rest is padding. */
export function recordOf(
  batch: RecordedRow & { readonly length: number },
  row: number,
  position = batch.length,
): RecordedRow {
  const [from, to] = [row * batch.length, (row + 1) * batch.length];
  return {
    tokens: batch.tokens.slice(from, to).fill(0, position),
    roles: batch.roles.slice(from, to).fill(0, position),
    states: batch.states.slice(from, to).fill(0, position),
  };
}
