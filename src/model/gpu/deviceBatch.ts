import type { Gpu } from '../../gpu/device.ts';
import { alignUp, slice, write, type Arena, type Dimension, type Tensor } from '../../gpu/tensor.ts';
import type { Grammar, TokenRecord } from '../../domain/tokens.ts';
import { writeExpertRows } from '../learning/expertRows.ts';
import type { CreditInput, SuppliedCredit, PolicySpec, WantedScores } from '../policy.ts';
import { KEPT_EPOCHS } from '../policyReport.ts';

/** The batch of B rows and T tokens on the device. Decoding, scoring and credit write it; learning reads it. */
export interface DeviceBatch {
  readonly record: Tensor; // (B,T) token | role << 16 | state << 24
  readonly grammar: Tensor; // next (S,V) then stop (S), i32
  readonly rewards: Tensor; // (4, B, T): rewards, then as floats the `contextStarts` of the record and the `states` or `progress` of `credit`, or at each token the `solved` of its row, and 1 where there is a teacher
  readonly rewardsAfterKl: Tensor; // (B,T)
  readonly rowGroups: Tensor; // (B) i32, negative: the row is out of the batch
  readonly oldScores: Tensor; // (4, B, T): logprob, entropy, log normalizer, mean of the teacher's log q, under the policy before the update
  readonly refScores: Tensor; // (4, B, T) under the reference
  readonly scores: Tensor; // (4, B, T) under the current weights
  readonly oldValues: Tensor; // (B,T)
  readonly values: Tensor; // (B,T) under the current weights
  /**
   * (6, B, T): policy loss, regularizer, value, observation, advantage, whiten; then (B, 4): tokens of a row in each of the
   * first 4; then (B, 4): contexts of the row that have one.
   */
  readonly masks: Tensor;
  /** (B,T) log-probabilities of what drew the tokens, until `corrections` makes them the tokens' weights in the policy loss. */
  readonly corrections: Tensor;
  /** `advantagesAndReturns`, then `lossWeights` from scalar `lossWeightsStart` on, so that both need only one binding. */
  readonly objectiveInputs: Tensor;
  readonly advantagesAndReturns: Tensor; // (2, B, T): advantage, return
  readonly lossWeights: Tensor; // (8, B, T): policy loss, policy mean, KL, entropy, value loss, observation loss, the context starts, KL to the teacher
  readonly lossWeightsStart: number;
  /**
   * (15, B, T), named in objective.wgsl: d(total)/d(logprob), the policy loss's part of it, the summands of 10
   * statistics, d(total)/d(value), d(total)/d(entropy), d(total)/d(mean of the teacher's log q).
   */
  readonly coefficients: Tensor;
  /** (2, B, T) for each earlier epoch: the first two channels of `coefficients` at the end of the epoch. */
  readonly epochCoefficients: readonly Tensor[];
  readonly teacher: Tensor; // (B,T,V) log-probabilities of the teacher, 0 if illegal; one number if the run has none
  readonly rowSums: Tensor; // (B, 5) per row: score, then for whitening count, pivot, sum and squared deviations
}

/** Sizes that a batch grows with. */
const SIZES: readonly Dimension[] = ['rows', 'length'];

const MAX_GRAMMAR_STATES = 256;

export function declareBatch(arena: Arena, { rows: B, length: T, model, teacher }: PolicySpec): DeviceBatch {
  const table = (name: string, channels: number) =>
    arena.declare(name, channels === 1 ? [B, T] : [channels, B, T], SIZES);
  const lossWeightsStart = alignUp(2 * B * T);
  const objectiveInputs = arena.declare('targets', [lossWeightsStart + 8 * B * T], SIZES);
  const epochSize = alignUp(2 * B * T);
  const passes = arena.declare('passes', [(KEPT_EPOCHS - 1) * epochSize], SIZES);
  return {
    record: table('record', 1),
    grammar: arena.declare('grammar', [MAX_GRAMMAR_STATES * (model.vocab_size + 1)]),
    rewards: table('rewards', 4),
    rewardsAfterKl: table('shaped rewards', 1),
    rowGroups: arena.declare('groups', [B]),
    oldScores: table('old scores', 4),
    refScores: table('reference scores', 4),
    scores: table('scores', 4),
    oldValues: table('old values', 1),
    values: table('values', 1),
    masks: arena.declare('masks', [6 * B * T + 8 * B], SIZES),
    corrections: table('corrections', 1),
    objectiveInputs,
    advantagesAndReturns: slice(objectiveInputs, 'credit', 0, [2, B, T]),
    lossWeights: slice(objectiveInputs, 'weights', lossWeightsStart, [8, B, T]),
    lossWeightsStart,
    coefficients: table('coefficients', 15),
    epochCoefficients: Array.from({ length: KEPT_EPOCHS - 1 }, (_, k) =>
      slice(passes, `pass ${k + 1}`, k * epochSize, [2, B, T]),
    ),
    teacher: arena.declare('teacher', teacher ? [B, T, model.vocab_size] : [1], SIZES),
    rowSums: arena.declare('row sums', [B, 5]),
  };
}

/** The first `channels` channels of a (·, B, T) table, for reading back. */
export function firstChannels(table: Tensor, channels: number, B: number, T: number): Tensor {
  return slice(table, table.name, 0, channels === 1 ? [B, T] : [channels, B, T]);
}

/** What an estimator reads of each token beside rewards: the state that its turn began in, its progress, or whether its rollout solved the task. */
type CreditMark = 'states' | 'progress' | 'solved';

/** Writes what an estimator reads of each token beside rewards. Absent states: no two turns began alike; of the others: 0. */
export function writeCreditMarks(
  gpu: Gpu,
  batch: DeviceBatch,
  { rewards, groups, states, progress, solved }: CreditInput,
  read: CreditMark,
): void {
  const length = rewards.length / groups.length;
  const markOf: Readonly<Record<CreditMark, (at: number) => number>> = {
    states: (at) => states?.[at] ?? -1,
    progress: (at) => progress?.[at] ?? 0,
    solved: (at) => solved?.[Math.floor(at / length)] ?? 0,
  };
  write(
    gpu,
    batch.rewards,
    Float32Array.from(rewards, (_, at) => markOf[read](at)),
    2 * rewards.length,
  );
}

/** Marks the tokens that have a teacher. Of an expert, also writes its rows, which `table` holds. */
export function writeTeacher(
  gpu: Gpu,
  batch: DeviceBatch,
  teacher: WantedScores['teacher'],
  table: { readonly teacherTable: Float32Array<ArrayBuffer>; readonly grammar: Grammar },
): void {
  const [, B = 0, T = 0] = batch.rewards.shape;
  const teacherMask = new Float32Array(B * T).fill(teacher === 'reference' ? 1 : 0);
  if (teacher && teacher !== 'reference') {
    writeExpertRows({ ...table, teacherMask }, teacher, table.grammar);
    write(gpu, batch.teacher, table.teacherTable);
  }
  write(gpu, batch.rewards, teacherMask, 3 * B * T);
}

/** Writes the context starts of the batch, which credit and the loss read. */
export function writeContextStarts(gpu: Gpu, batch: DeviceBatch, contextStarts: Int32Array): void {
  write(gpu, batch.rewards, Float32Array.from(contextStarts), contextStarts.length);
}

/** Marks of tokens (B,T) that `credit_masks` reads: 1 single-choice token, 2 word of an observation, 4 token of an untrained turn; added up. */
export function tokenMarks(
  { rewards, singles, bodies, untrained }: CreditInput,
  choicesOnly: boolean,
): Float32Array<ArrayBuffer> {
  const single = choicesOnly ? singles : undefined;
  return Float32Array.from(
    rewards,
    (_, at) => (single?.[at] ?? 0) + 2 * (bodies?.[at] ?? 0) + 4 * (untrained?.[at] ?? 0),
  );
}

/** Writes the given results of scoring and credit. Policy loss and regularizers share one mask; no observation is predicted. */
export function writeGivenCredit(gpu: Gpu, batch: DeviceBatch, given: SuppliedCredit): void {
  const tableSize = given.lossMask.length;
  write(gpu, batch.oldScores, given.oldLogprobs);
  write(gpu, batch.refScores, given.refLogprobs);
  write(gpu, batch.advantagesAndReturns, given.advantages);
  write(gpu, batch.advantagesAndReturns, given.returns, tableSize);
  write(gpu, batch.masks, given.lossMask);
  write(gpu, batch.masks, given.lossMask, tableSize);
  write(gpu, batch.masks, given.valueMask, 2 * tableSize);
  write(gpu, batch.masks, new Float32Array(tableSize), 3 * tableSize);
  write(gpu, batch.oldValues, given.oldValues);
}

/** Packs a record for the device: token | role << 16 | state << 24. */
export function packRecord({ tokens, roles, states }: TokenRecord): Uint32Array {
  return Uint32Array.from(tokens, (token, i) => token | (roles[i]! << 16) | (states[i]! << 24));
}

/** Packs a grammar for the device: `next`, then `stop`. Throws if it does not fit the model or has too many states. */
export function packGrammar({ next, stop, states, vocabulary }: Grammar, V: number): Int32Array {
  if (states > MAX_GRAMMAR_STATES || vocabulary !== V) {
    const got = `${states} states over ${vocabulary} tokens`;
    throw new RangeError(`setGrammar: ${got} don’t fit. The limit is ${MAX_GRAMMAR_STATES} states over ${V} tokens.`);
  }
  const words = new Int32Array(next.length + states);
  words.set(next);
  words.set(stop, next.length);
  return words;
}
