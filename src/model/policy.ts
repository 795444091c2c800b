import { ProblemError } from '../base/problem.ts';
import type { FieldName, RunConfig } from '../config/config.ts';
import type { WorkProfile } from '../domain/profile.ts';
import type { BackendInfo } from '../domain/backendInfo.ts';
import type { Grammar, TokenRecord } from '../domain/tokens.ts';
import type { ModelConfig, Parameter, Weights } from './architecture.ts';
import type { DecodeChunk, DecodedChunk, DrawCounters, Sampling } from './decoding.ts';
import type { PolicyReport } from './policyReport.ts';
import type { CreditSettings, ObjectiveSettings, OptimizerSettings } from './learningSettings.ts';

/** What a backend is asked to hold. */
export interface PolicySpec {
  readonly model: ModelConfig; // value_head is true iff critic is 'shared'
  readonly critic: RunConfig['critic'];
  readonly rows: number; // B
  readonly length: number; // T
  readonly minibatchRows: number; // rows of the usual learn() call: a micro-batch holds no more, so a smaller one wastes nothing
}

/** A backend that can’t do what was asked; nothing was allocated or changed. A class of its own: another backend is then tried. */
export class BackendError extends ProblemError {
  override readonly name = 'BackendError';
  readonly what: string;
  readonly remedy: string;
  readonly fields: readonly FieldName[]; // knobs to turn
  constructor(what: string, remedy: string, fields: readonly FieldName[] = []) {
    super({ what, remedy });
    [this.what, this.remedy, this.fields] = [what, remedy, fields];
  }
}

/** Throws BackendError, before anything is allocated, for a model whose gradients no backend can compute. */
export function checkTrainable({ qk_norm }: ModelConfig): void {
  if (!qk_norm) return;
  const message =
    'The model normalises each head of q and k (Qwen3), and gradients through that are not available yet.';
  throw new BackendError(message, 'Train a Llama or Qwen2; this model can be read and run.');
}

/** A separate critic: the same trunk with a value head; its language head is not used. */
export function criticConfig(model: ModelConfig): ModelConfig {
  return { ...model, value_head: true, tie_word_embeddings: true };
}

/** Rewards and who belongs together. */
export interface CreditInput {
  readonly rewards: Float32Array; // (B,T)
  readonly groups: Int32Array; // (B); −1: the row is out of the batch, all its masks and advantages are 0
  readonly singles?: Uint8Array; // (B,T) 1 at choices of one: drawn by the agent where only one token was legal; none without
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

/** Work the engine has done since it was made. */
export interface EngineCounters {
  readonly dispatches: number;
  readonly submits: number;
  readonly readbacks: number; // awaited
  readonly uploadBytes: number;
  readonly creations: number; // buffers, bind groups, pipelines
}

/** Weights, Adam moments and step counts of policy and critic: enough to continue training with the same bits. */
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
 * or `load`, and every stage works on it where it lies. A per-token array at index t is about token t: its
 * log-probability given tokens < t, the entropy it was drawn from, the value of the state before it. Index 0 is 0. Stages that take
 * seconds let the event loop run and resolve when they are over; nothing else may be asked of the policy until then.
 */
export interface Policy {
  readonly backend: BackendInfo;
  readonly model: ModelConfig;
  readonly parameters: readonly Parameter[]; // what it trains, in the order of its state: the whole model, or adapters
  readonly rows: number; // B
  readonly length: number; // T
  readonly memoryBytes: number;
  /** Legal tokens for sampling and scoring alike. */
  setGrammar(grammar: Grammar): void;
  /** Empties the batch and the caches; row b draws with the counters (sampling.update, b). */
  begin(sampling: Sampling): void;
  /**
   * Begins one row again between two chunks: its next token is its first, and it draws with these counters. Such a batch is for
   * playing only: what the row held before is overwritten as it grows, not emptied.
   */
  beginRow(row: number, counters: DrawCounters): void;
  /** Advances all rows; one submit, one awaited read-back. */
  decode(chunk: DecodeChunk): Promise<DecodedChunk>;
  /** Replaces the batch by a given record (demonstrations, fixtures). `given` replaces the results of score and credit. */
  load(record: TokenRecord, given?: GivenCredit): void;
  /** Computes the old log-probabilities and entropies of every token and, if wanted, the critic's values and the reference's log-probabilities (else these are the old ones). */
  score(temperature: number, want: { readonly reference: boolean; readonly values: boolean }): void | Promise<void>;
  /** Masks, advantages and returns of the batch. */
  credit(input: CreditInput, settings: CreditSettings): void;
  /** One optimizer step on the given rows of the batch (ids in 0 … B−1; any number up to B). */
  learn(
    rows: Int32Array,
    objective: ObjectiveSettings,
    optimizer: OptimizerSettings,
    temperature: number,
  ): void | Promise<void>;
  /**
   * Call it at the end of each epoch but the last: keeps the epoch's gradient weights for `report`, if there is room for another
   * epoch. Reads nothing back.
   */
  endPass(): void;
  /** One awaited read-back of what the stages wrote. */
  report(): Promise<PolicyReport>;
  /** The current weights become the reference policy. */
  freezeReference(): void;
  readState(): Promise<PolicyState>;
  writeState(state: PolicyState): void;
  /** Replaces the policy's weights, and the critic trunk's too, and forgets the optimizer's moments. */
  writeWeights(weights: Weights): void;
  counters(): EngineCounters;
  /** Resolves with the reason when the device is gone; absent if there is none to lose. */
  readonly lost?: Promise<string>;
  /** Loses the device as a browser may take it away; absent if there is none to lose. For tests. */
  loseDevice?(): void;
  /** Resolves when the device has finished all submitted work. */
  settled(): Promise<void>;
  /** From now on counts kernels for `profile`, and times those that run on the CPU by this clock. */
  tally(now: () => number): void;
  /** What kernels did since `tally`, against the device's best. May take seconds and overwrites the batch: between updates only. */
  profile(now: () => number): Promise<WorkProfile>;
  destroy(): void;
}
