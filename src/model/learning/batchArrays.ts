import { Role, type TokenRecord } from '../../domain/tokens.ts';
import { checkContextStarts } from '../contexts.ts';
import type { Credit } from '../learningMath.ts';
import type { SuppliedCredit } from '../policy.ts';
import { KEPT_EPOCHS, type EpochWeights, type PolicyReport, type StepStats } from '../policyReport.ts';
import { reals, type Precision, type Real } from './real.ts';

/** The batch of a backend: the recorded tokens, and the arrays that the stages write. All (B,T) unless noted. */
export interface Batch {
  readonly rows: number; // B
  readonly length: number; // T
  readonly tokens: Int32Array;
  readonly roles: Uint8Array;
  readonly states: Uint8Array;
  readonly contextStarts: Int32Array; // see `TokenRecord`
  readonly lengths: Int32Array; // (B) recorded tokens of each row
  readonly logprobs: Real; // computed by the last learn(), as are the next two
  readonly entropies: Real;
  readonly values: Real;
  readonly oldLogprobs: Real;
  readonly oldEntropies: Real;
  readonly oldValues: Real;
  readonly refLogprobs: Real;
  readonly advantages: Float64Array;
  readonly returns: Float64Array;
  readonly corrections: Float64Array; // factor of each token's policy loss
  readonly rewards: Float64Array; // minus the KL penalty
  readonly lossMask: Float32Array; // of the policy loss
  readonly regularizerMask: Float32Array; // of entropy and KL loss
  readonly valueMask: Float32Array;
  readonly advantageMask: Float32Array;
  readonly whitenMask: Float32Array;
  readonly observationMask: Float32Array;
  readonly policyWeights: Float64Array;
  readonly dlogprobs: Float64Array;
  readonly dentropies: Float64Array;
  readonly dvalues: Float64Array;
  readonly teacherMask: Float32Array; // 1 where the teacher has a distribution
  readonly teacherTable: Real; // (B,T,V) its log-probabilities, 0 for illegal tokens; empty if the run has no teacher
  readonly teacherLogprobs: Real; // Σ_v π(v)·log q(v), computed as `entropies` are
  readonly dteachers: Float64Array;
}

/** With `vocabulary` above 0, a teacher's distributions over it can be held. */
export function createBatch(rows: number, length: number, precision: Precision, vocabulary = 0): Batch {
  const size = rows * length;
  return {
    rows,
    length,
    tokens: new Int32Array(size),
    roles: new Uint8Array(size),
    states: new Uint8Array(size),
    contextStarts: new Int32Array(size),
    lengths: new Int32Array(rows),
    logprobs: reals(precision, size),
    entropies: reals(precision, size),
    values: reals(precision, size),
    oldLogprobs: reals(precision, size),
    oldEntropies: reals(precision, size),
    oldValues: reals(precision, size),
    refLogprobs: reals(precision, size),
    advantages: new Float64Array(size),
    returns: new Float64Array(size),
    corrections: new Float64Array(size),
    rewards: new Float64Array(size),
    lossMask: new Float32Array(size),
    regularizerMask: new Float32Array(size),
    valueMask: new Float32Array(size),
    advantageMask: new Float32Array(size),
    whitenMask: new Float32Array(size),
    observationMask: new Float32Array(size),
    policyWeights: new Float64Array(size),
    dlogprobs: new Float64Array(size),
    dentropies: new Float64Array(size),
    dvalues: new Float64Array(size),
    teacherMask: new Float32Array(size),
    teacherTable: reals(precision, size * vocabulary),
    teacherLogprobs: reals(precision, size),
    dteachers: new Float64Array(size),
  };
}

export function clearBatch(batch: Batch): void {
  for (const array of Object.values(batch) as (number | Real | Int32Array | Uint8Array)[]) {
    if (typeof array !== 'number') array.fill(0);
  }
}

/** Padding at a row's end determines its length. Throws on a wrong size, an id outside the vocabulary, padding before a token, or a wrong start of a context. */
export function loadBatch(batch: Batch, record: TokenRecord, vocabulary: number, supplied?: SuppliedCredit): void {
  const { rows, length } = batch;
  for (const [name, array] of Object.entries({ ...record, ...supplied }) as [string, ArrayLike<number>][]) {
    if (array.length !== rows * length) {
      throw new Error(`load: ${name} has ${array.length} entries and needs ${rows * length} = (${rows},${length}).`);
    }
  }
  const lengths = new Int32Array(rows);
  for (let index = 0; index < rows * length; index++) {
    if (record.roles[index] === Role.pad) continue;
    const row = Math.floor(index / length);
    const position = index % length;
    if (lengths[row] !== position)
      throw new Error(`load: row ${row} has padding before token ${position}; pad on the right.`);
    lengths[row] = position + 1;
    const id = record.tokens[index]!;
    if (id < 0 || id >= vocabulary) {
      throw new Error(`load: token ${position} of row ${row} is ${id}: ids go from 0 to ${vocabulary - 1}.`);
    }
  }
  if (record.contextStarts) checkContextStarts(record.contextStarts, lengths, length);
  clearBatch(batch);
  if (record.contextStarts) batch.contextStarts.set(record.contextStarts);
  batch.tokens.set(record.tokens);
  batch.roles.set(record.roles);
  batch.states.set(record.states);
  batch.lengths.set(lengths);
  batch.corrections.fill(1);
  if (!supplied) return;
  batch.oldLogprobs.set(supplied.oldLogprobs);
  batch.refLogprobs.set(supplied.refLogprobs);
  batch.advantages.set(supplied.advantages);
  batch.lossMask.set(supplied.lossMask);
  batch.regularizerMask.set(supplied.lossMask);
  batch.valueMask.set(supplied.valueMask);
  batch.oldValues.set(supplied.oldValues);
  batch.returns.set(supplied.returns);
}

export function writeCredit(batch: Batch, { masks, rewards, advantages, returns, corrections }: Credit): void {
  batch.lossMask.set(masks.policy);
  batch.regularizerMask.set(masks.regularizer);
  batch.valueMask.set(masks.value);
  batch.advantageMask.set(masks.advantage);
  batch.whitenMask.set(masks.whiten);
  batch.observationMask.set(masks.observation);
  batch.rewards.set(rewards);
  batch.advantages.set(advantages);
  batch.returns.set(returns);
  if (corrections) batch.corrections.set(corrections);
  else batch.corrections.fill(1);
  // a row that is in no minibatch would otherwise keep the gradients of the previous batch
  batch.dlogprobs.fill(0);
  batch.policyWeights.fill(0);
}

/** The earlier epochs and the one that just ended, at most KEPT_EPOCHS − 1. */
export function withEpoch(earlierEpochs: readonly EpochWeights[], batch: Batch): readonly EpochWeights[] {
  if (earlierEpochs.length >= KEPT_EPOCHS - 1) return earlierEpochs;
  return [
    ...earlierEpochs,
    { gradWeights: Float32Array.from(batch.dlogprobs), policyWeights: Float32Array.from(batch.policyWeights) },
  ];
}

/** Returns a copy of the arrays that the stages wrote, with the epochs and steps since the last report. */
export function createReport(
  batch: Batch,
  earlierEpochs: readonly EpochWeights[],
  steps: readonly StepStats[],
): PolicyReport {
  return {
    logprobs: Float32Array.from(batch.oldLogprobs),
    refLogprobs: Float32Array.from(batch.refLogprobs),
    entropies: Float32Array.from(batch.oldEntropies),
    values: Float32Array.from(batch.oldValues),
    advantages: Float32Array.from(batch.advantages),
    returns: Float32Array.from(batch.returns),
    rewards: Float32Array.from(batch.rewards),
    lossMask: batch.lossMask.slice(),
    regularizerMask: batch.regularizerMask.slice(),
    valueMask: batch.valueMask.slice(),
    advantageMask: batch.advantageMask.slice(),
    whitenMask: batch.whitenMask.slice(),
    observationMask: batch.observationMask.slice(),
    gradWeights: Float32Array.from(batch.dlogprobs),
    policyWeights: Float32Array.from(batch.policyWeights),
    earlierEpochs: earlierEpochs,
    steps,
  };
}

/** A pass scores the tokens in any of these (B,T) masks. null: every token. The first of a context is never scored. */
export interface ScoreMasks {
  readonly head: readonly ArrayLike<number>[] | null;
  readonly value: readonly ArrayLike<number>[] | null;
}

export function hasToken(mask: Float32Array, row: number, length: number): boolean {
  return mask.subarray(row * length, (row + 1) * length).includes(1);
}
