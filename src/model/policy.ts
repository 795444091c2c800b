import type { FieldName } from '../config.ts';
import type { Estimator } from '../estimators.ts';
import type { WorkProfile } from '../profile.ts';
import type { BackendInfo } from '../protocol.ts';
import type { Grammar, TokenRecord } from '../tokens.ts';
import type { ModelConfig, Weights } from './architecture.ts';
import type { DecodeChunk, DecodedChunk, DrawCounters, Sampling } from './decoding.ts';

/** What a backend is asked to hold. */
export interface PolicySpec {
  readonly model: ModelConfig; // value_head is true iff critic is 'shared'
  readonly critic: 'none' | 'shared' | 'separate';
  readonly rows: number; // B
  readonly length: number; // T
  readonly minibatchRows: number; // rows of the usual learn() call: a micro-batch holds no more, so a smaller one wastes nothing
}

/** A backend that cannot do what was asked; nothing was allocated or changed. */
export class BackendError extends Error {
  readonly hint: string; // what to do
  readonly fields: readonly FieldName[]; // knobs to turn
  constructor(message: string, hint: string, fields: readonly FieldName[] = []) {
    super(message);
    this.name = 'BackendError';
    this.hint = hint;
    this.fields = fields;
  }
}

/** A separate critic: the same trunk with a value head; its language head is not used. */
export function criticConfig(model: ModelConfig): ModelConfig {
  return { ...model, value_head: true, tie_word_embeddings: true };
}

/** An estimate of KL(policy ‖ reference) at a sampled token; `src/rl/objective.ts` has the equations. */
export type KlEstimator = 'k1' | 'k2' | 'k3';

/** The six places a mask acts. true: agent tokens only (role 2); false: every response token (roles 2 and 3). */
export interface MaskSwitches {
  readonly advantage: boolean; // the recursion, group scores, and the tokens that carry an advantage
  readonly whiten: boolean; // tokens that make the mean and variance of whitening
  readonly value: boolean; // critic targets
  readonly klReward: boolean; // tokens whose reward pays for KL
  readonly policy: boolean; // policy loss
  readonly regularizer: boolean; // entropy and KL loss
}

/** How rewards become advantages and returns. */
export interface CreditSettings {
  readonly estimator: Estimator;
  readonly gamma: number; // per token of the advantage mask
  readonly lambda: number;
  readonly turnGamma: number; // bi-level-gae: per turn
  readonly divideByStd: boolean; // grpo
  readonly whiten: boolean; // gae, bi-level-gae, reinforce++ and reinforce++-baseline
  readonly remask: boolean; // after whitening, 0 outside the advantage mask; off leaves −mean/std there
  readonly klCoef: number; // KL in the reward: r − klCoef·k(old, reference); 0: off
  readonly klEstimator: KlEstimator;
  readonly scale: number; // multiplies the advantages last
  readonly masks: MaskSwitches;
}

/** Rewards and who belongs together. */
export interface CreditInput {
  readonly rewards: Float32Array; // (B,T)
  readonly groups: Int32Array; // (B); −1: the row is out of the batch, all its masks and advantages are 0
}

/** The loss of one optimizer step; see `src/rl/objective.ts` for the equations. */
export interface ObjectiveSettings {
  readonly surrogate: 'clipped' | 'plain'; // plain: −A · logprob
  readonly clipLow: number;
  readonly clipHigh: number;
  readonly dualClip: number; // 0: off
  readonly klEstimator: KlEstimator;
  readonly klCoef: number;
  readonly entropyCoef: number;
  readonly valueCoef: number;
  readonly valueClip: number;
  readonly aggregation: 'token-mean' | 'seq-mean-token-sum' | 'seq-mean-token-mean' | 'seq-mean-token-sum-norm';
}

/** AdamW with global-norm clipping. */
export interface OptimizerSettings {
  readonly learningRate: number;
  readonly criticLearningRate: number; // a separate critic's
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number; // tensors of two or more dimensions only
  readonly maxGradNorm: number;
  readonly criticOnly: boolean; // a separate critic learns, the policy stays as it is (critic warm-up)
}

/** (B,T) tensors that `score` and `credit` would write, given from outside (golden fixtures, warm start). */
export interface GivenCredit {
  readonly oldLogprobs: Float32Array;
  readonly refLogprobs: Float32Array;
  readonly advantages: Float32Array;
  readonly lossMask: Float32Array; // of the policy loss and of the regularizers
  readonly valueMask: Float32Array;
  readonly oldValues: Float32Array;
  readonly returns: Float32Array;
}

/** What one optimizer step measured; means are over the policy-loss mask unless said. */
export interface StepStats {
  readonly policyLoss: number;
  readonly entropy: number; // token mean over the regularizer mask
  readonly kl: number; // to the reference over the regularizer mask, aggregated like the policy loss
  readonly clipFraction: number;
  readonly clipFractionLower: number;
  readonly approxKl: number; // mean of old − new
  readonly valueLoss: number;
  readonly total: number;
  readonly gradNorm: number; // before clipping
  readonly criticGradNorm: number; // separate critic; else 0
  readonly tokens: number; // in the policy-loss mask
  readonly skipped: '' | 'empty' | 'non-finite'; // why the step changed nothing
  readonly culprit: string; // 'weight NAME' or 'gradient NAME' that was not finite; else ''
}

/** Everything `report` brings back; arrays are (B,T). */
export interface PolicyReport {
  readonly logprobs: Float32Array; // old ones, recomputed
  readonly refLogprobs: Float32Array; // the reference's; the old ones where it was not scored
  readonly entropies: Float32Array; // at scoring
  readonly values: Float32Array;
  readonly advantages: Float32Array;
  readonly returns: Float32Array;
  readonly rewards: Float32Array; // as the estimator saw them, KL taken off
  readonly lossMask: Float32Array; // of the policy loss
  readonly regularizerMask: Float32Array; // of entropy and KL loss
  readonly valueMask: Float32Array; // of critic targets; 0 without a critic
  readonly advantageMask: Float32Array;
  readonly whitenMask: Float32Array;
  readonly gradWeights: Float32Array; // d(total)/d(logprob) at the last step that learned from the row
  readonly policyWeights: Float32Array; // the policy loss's part of gradWeights
  readonly steps: readonly StepStats[]; // since the last report
}

/** Work the engine has done since it was made. */
export interface EngineCounters {
  readonly dispatches: number;
  readonly submits: number;
  readonly readbacks: number; // awaited
  readonly uploadBytes: number;
  readonly creations: number; // buffers, bind groups, pipelines
}

/** Weights, Adam moments and step counts of policy and critic: all it takes to go on bit for bit. */
export interface PolicyState {
  readonly policy: NetworkState;
  readonly critic: NetworkState | null;
}
export interface NetworkState {
  readonly weights: Weights;
  readonly adamM: Weights;
  readonly adamV: Weights;
  readonly steps: number;
}

/**
 * All that `src/rl` knows of a network. One batch of B rows and T tokens lives inside the backend, written by `decode`
 * or `load`, and every stage works on it where it lies. A per-token array at index t speaks of token t: its
 * log-probability given tokens < t, the entropy it was drawn from, the value of the state before it. Index 0 is 0.
 */
export interface Policy {
  readonly backend: BackendInfo;
  readonly model: ModelConfig;
  readonly rows: number; // B
  readonly length: number; // T
  readonly memoryBytes: number;
  /** Legal tokens for sampling and scoring alike. */
  setGrammar(grammar: Grammar): void;
  /** Empties the batch and the caches; row b draws with the counters (sampling.update, b). */
  begin(sampling: Sampling): void;
  /**
   * Begins one row anew between two chunks: its next token is its first, and it draws with these counters. Such a batch is for
   * playing only: what the row held before is overwritten as it grows, not emptied.
   */
  beginRow(row: number, counters: DrawCounters): void;
  /** Advances all rows; one submit, one awaited read-back. */
  decode(chunk: DecodeChunk): Promise<DecodedChunk>;
  /** Replaces the batch by a given record (demonstrations, fixtures); `given` replaces what score and credit would write. */
  load(record: TokenRecord, given?: GivenCredit): void;
  /** Old log-probabilities and entropies of every token; where asked for, the critic's values and the reference's log-probabilities (else the old). */
  score(temperature: number, want: { readonly reference: boolean; readonly values: boolean }): void;
  /** Masks, advantages and returns of the batch. */
  credit(input: CreditInput, settings: CreditSettings): void;
  /** One optimizer step on the given rows of the batch (ids in 0 … B−1; any number up to B). */
  learn(rows: Int32Array, objective: ObjectiveSettings, optimizer: OptimizerSettings, temperature: number): void;
  /** One awaited read-back of what the stages wrote. */
  report(): Promise<PolicyReport>;
  /** The current weights become the reference policy. */
  freezeReference(): void;
  readState(): Promise<PolicyState>;
  writeState(state: PolicyState): void;
  /** Replaces the policy's weights, and the critic trunk's too, and forgets the optimizer's moments. */
  writeWeights(weights: Weights): void;
  counters(): EngineCounters;
  /** Loses the device as a browser may take it away; absent where there is none to lose. For tests. */
  loseDevice?(): void;
  /** Resolves when the device has done what it was given. */
  settled(): Promise<void>;
  /** From here on kernels are counted for `profile`, and timed by this clock where they run on it. */
  tally(now: () => number): void;
  /** What kernels did since `tally`, against the device's best. May take seconds and overwrites the batch: between updates only. */
  profile(now: () => number): Promise<WorkProfile>;
  destroy(): void;
}

/**
 * The plain-TypeScript RL math the CPU backend runs (`src/rl/advantages.ts`, `src/rl/objective.ts`), handed in by the
 * composition root so that `model` need not import `rl`. The WGSL kernels compute the same.
 */
export interface LearningMath {
  /** Masks, rewards after KL, advantages and returns, all (B,T). `values` are ignored by estimators without a critic. */
  credit(batch: CreditBatch, input: CreditInput, settings: CreditSettings): Credit;
  /**
   * The objective over the given rows: sums and, per token, d(total)/d(logprob), d(total)/d(entropy), d(total)/d(value),
   * written at the token's (B,T) index. Returns the measured parts; `tokens` 0 means there is nothing to learn.
   */
  objective(batch: ObjectiveBatch, rows: Int32Array, settings: ObjectiveSettings, out: TokenGradients): ObjectiveParts;
}
/** What credit reads of a batch, all (B,T). */
export interface CreditBatch {
  readonly rows: number;
  readonly length: number;
  readonly roles: Uint8Array;
  readonly values: ArrayLike<number>;
  readonly oldLogprobs: ArrayLike<number>;
  readonly refLogprobs: ArrayLike<number>;
}
/** What credit makes of it, all (B,T); 0 in rows that are out of the batch. */
export interface Credit {
  readonly masks: CreditMasks;
  readonly rewards: Float64Array; // KL taken off; as paid in rows that are out
  readonly advantages: Float64Array;
  readonly returns: Float64Array;
}
/** 1 where a token counts, (B,T) each. */
export interface CreditMasks {
  readonly policy: Float32Array;
  readonly regularizer: Float32Array;
  readonly value: Float32Array; // 0 for estimators without a critic
  readonly advantage: Float32Array;
  readonly whiten: Float32Array;
}
/** Inputs of the objective, all (B,T). */
export interface ObjectiveBatch {
  readonly length: number; // T
  readonly logprobs: ArrayLike<number>;
  readonly entropies: ArrayLike<number>;
  readonly values: ArrayLike<number>;
  readonly oldLogprobs: ArrayLike<number>;
  readonly refLogprobs: ArrayLike<number>;
  readonly oldValues: ArrayLike<number>;
  readonly advantages: ArrayLike<number>;
  readonly returns: ArrayLike<number>;
  readonly lossMask: ArrayLike<number>; // of the policy loss
  readonly regularizerMask: ArrayLike<number>; // of entropy and KL loss
  readonly valueMask: ArrayLike<number>;
}
/** (B,T) gradients of the total with respect to what the network said of each token. */
export interface TokenGradients {
  readonly dlogprobs: Float64Array;
  readonly policyWeights: Float64Array; // the policy loss's part of dlogprobs
  readonly dentropies: Float64Array;
  readonly dvalues: Float64Array; // with valueCoef inside
}
export type ObjectiveParts = Pick<
  StepStats,
  'policyLoss' | 'entropy' | 'kl' | 'clipFraction' | 'clipFractionLower' | 'approxKl' | 'valueLoss' | 'total' | 'tokens'
>;
