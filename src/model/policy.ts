import { ProblemError } from '../base/problem.ts';
import type { RunConfig } from '../config/config.ts';
import type { WorkProfile } from '../domain/profile.ts';
import type { BackendInfo } from '../domain/backendInfo.ts';
import type { Grammar, TokenRecord } from '../domain/tokens.ts';
import type { Dimension } from '../gpu/tensor.ts';
import type { ModelConfig, Parameter, Weights } from './architecture.ts';
import type { DecodeChunk, DecodedChunk, DrawCounters, Sampling } from './decoding.ts';
import type { PolicyReport } from './policyReport.ts';
import type { CreditSettings, ObjectiveSettings, OptimizerSettings } from './learningSettings.ts';

export interface PolicySpec {
  readonly model: ModelConfig; // value_head is true iff critic is 'shared'
  readonly critic: RunConfig['critic'];
  readonly rows: number; // B
  readonly length: number; // T
  readonly teacher?: boolean; // `score` can be asked for a teacher; absent: no
  readonly minibatchRows: number; // rows of a usual learn() call; a micro-batch never has more, which would be wasted
}

/** What a backend can be unable to hold or do: a size, or another property of the policy. */
export type Demand = Dimension | 'heads' | 'critic' | 'storage' | 'backend';

/**
 * Thrown if a backend can’t do what was asked. Nothing was allocated or changed, so the caller can try another backend.
 */
export class BackendError extends ProblemError {
  override readonly name = 'BackendError';
  readonly what: string;
  readonly remedy: string;
  readonly demands: readonly Demand[]; // what asks too much
  constructor(what: string, remedy: string, demands: readonly Demand[] = []) {
    super({ what, remedy });
    [this.what, this.remedy, this.demands] = [what, remedy, demands];
  }
}

/** The model of a separate critic: the policy's transformer with a value head. Its language head is not used. */
export function criticConfig(model: ModelConfig): ModelConfig {
  return { ...model, value_head: true, tie_word_embeddings: true };
}

export interface CreditInput {
  readonly rewards: Float32Array; // (B,T)
  readonly groups: Int32Array; // (B) group of each row; −1: out of the batch, all masks and advantages are 0
  /** (B,T) log-probabilities with which the agent's tokens were drawn; absent: nothing is corrected. */
  readonly behaviour?: Float32Array;
  readonly singles?: Uint8Array; // (B,T) 1 where the agent drew the only legal token; absent: nowhere
  readonly bodies?: Uint8Array; // (B,T) 1 at words of observations, without markup; absent: nowhere
  /** (B,T) number of the state that the token's turn began in, see `turnStates`; absent: no two turns began alike. */
  readonly states?: Int32Array;
  /** (B,T) progress at the tokens that were paid for it, see `turnProgress`; absent: nowhere. Read by turn-credit. */
  readonly progress?: Float32Array;
  readonly solved?: Uint8Array; // (B) 1 where the row's rollout solved its task; absent: nowhere
  readonly untrained?: Uint8Array; // (B,T) 1 at tokens of turns that are left out of the loss; absent: nowhere
}

/** The expert's next tokens, as far as known: a teacher that is nearly sure of them. */
export interface ExpertTokens {
  readonly expertTokens: Int32Array; // (B,T) 1 + the id of the token that the expert would have drawn there; 0: no teacher
  readonly states: Uint8Array; // (B,T) grammar state of each token
}

/** (B,T) results of `score` and `credit`, supplied by the caller instead (golden fixtures, warm start). */
export interface SuppliedCredit {
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

/** Weights, Adam moments and step counts of policy and critic: enough to continue training bit for bit. */
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

export interface WantedScores {
  readonly reference: boolean;
  readonly values: boolean;
  readonly teacher?: 'reference' | ExpertTokens; // absent: none
}

/**
 * The interface through which `src/rl` uses a network. The backend holds one batch of B rows and T tokens. `decode` or
 * `load` writes the batch, and every stage works on it in place. A per-token array at index t describes token t: its
 * log-probability given tokens < t, the entropy of the distribution it was drawn from, the value of the state before
 * it. At the first token of a context (see `TokenRecord`) they are 0. Stages that take seconds let the event loop run and resolve when they are done; call nothing else
 * on the policy until then.
 */
export interface Policy {
  readonly backend: BackendInfo;
  readonly model: ModelConfig;
  readonly parameters: readonly Parameter[]; // trained tensors (whole model or adapters), in saved order
  readonly rows: number; // B
  readonly length: number; // T
  readonly memoryBytes: number;
  /** Sets the legal tokens, for both sampling and scoring. */
  setGrammar(grammar: Grammar): void;
  /** Empties the batch and the caches; row b draws with the counters (sampling.update, b). */
  begin(sampling: Sampling): void;
  /**
   * Restarts one row between two chunks: its next token is its first, and it draws with these counters. The row's old
   * tokens are not cleared, only overwritten as it grows, so such a batch is for playing, not for learning.
   */
  beginRow(row: number, counters: DrawCounters): void;
  /** Advances all rows by a chunk, with one submit and one awaited read-back. */
  decode(chunk: DecodeChunk): Promise<DecodedChunk>;
  /**
   * Replaces the batch by a given record (demonstrations, fixtures). `given` replaces the results of `score` and
   * `credit`.
   */
  load(record: TokenRecord, given?: SuppliedCredit): void;
  /**
   * Computes the old log-probabilities and entropies of every token and, if wanted, the critic's values and the
   * reference's log-probabilities. If not wanted, the old log-probabilities stand in for the reference's. `learn` then
   * pulls the policy to the wanted teacher: the reference, or the expert.
   */
  score(temperature: number, want: WantedScores): void | Promise<void>;
  credit(input: CreditInput, settings: CreditSettings): void;
  /** Takes one optimizer step on the given rows of the batch (ids in 0 … B−1; any number up to B). */
  learn(
    rows: Int32Array,
    objective: ObjectiveSettings,
    optimizer: OptimizerSettings,
    temperature: number,
  ): void | Promise<void>;
  /**
   * Call it at the end of each epoch except the last. Keeps the epoch's gradient weights for `report`, as long as fewer
   * than KEPT_EPOCHS − 1 epochs are kept. Reads nothing back.
   */
  endEpoch(): void;
  /** Reads back what the stages wrote, in one awaited read. */
  report(): Promise<PolicyReport>;
  freezeReference(): void;
  readState(): Promise<PolicyState>;
  writeState(state: PolicyState): void;
  /** Replaces the policy's weights and those of a separate critic's transformer, and clears the optimizer's moments. */
  writeWeights(weights: Weights): void;
  counters(): EngineCounters;
  /** Resolves with the reason when the device is lost; absent if the backend has no device. */
  readonly lost?: Promise<string>;
  /** Destroys the device, as a browser may do. For tests; absent if the backend has no device. */
  loseDevice?(): void;
  /** Resolves when the device has finished all submitted work. */
  whenIdle(): Promise<void>;
  /** Starts counting kernel calls for `profile`. Kernels that run on the CPU are also timed, by this clock. */
  startProfile(now: () => number): void;
  /**
   * Work of the kernels since `startProfile`, and the device's best rates. May take seconds and overwrites the batch,
   * so call it only between updates.
   */
  profile(now: () => number): Promise<WorkProfile>;
  destroy(): void;
}
