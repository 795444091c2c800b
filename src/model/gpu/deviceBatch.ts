import type { Gpu } from '../../gpu/device.ts';
import { aligned, slice, write, type Arena, type Tensor } from '../../gpu/tensor.ts';
import type { Grammar, TokenRecord } from '../../domain/tokens.ts';
import type { GivenCredit, PolicySpec } from '../policy.ts';
import { KEPT_PASSES } from '../policyReport.ts';

/** The batch of B rows and T tokens, on the device: what decoding writes, scoring and credit add, and learning reads. */
export interface DeviceBatch {
  readonly record: Tensor; // (B,T) token | role << 16 | state << 24
  readonly grammar: Tensor; // next (S,V) then stop (S), i32
  readonly sampled: Tensor; // (B,T) log-probabilities as drawn
  readonly rewards: Tensor; // (B,T)
  readonly shaped: Tensor; // (B,T) rewards after KL
  readonly groups: Tensor; // (B) i32, negative: the row is out of the batch
  readonly oldScores: Tensor; // (3, B, T): logprob, entropy, log of the normalizer, under the policy that drew the batch
  readonly refScores: Tensor; // (3, B, T) under the reference
  readonly scores: Tensor; // (3, B, T) under the weights at work
  readonly oldValues: Tensor; // (B,T)
  readonly values: Tensor; // (B,T) under the weights at work
  readonly masks: Tensor; // (5, B, T): policy loss, regularizer, value, advantage, whiten; then (B, 3) tokens in the first three
  readonly targets: Tensor; // credit and, from scalar `weightsAt` on, weights: what a learner reads of both, in one binding
  readonly credit: Tensor; // (2, B, T): advantage, return
  readonly weights: Tensor; // (5, B, T): policy loss, policy mean, KL, entropy, value loss
  readonly weightsAt: number;
  readonly coefficients: Tensor; // (12, B, T) by name in objective.wgsl: d(total)/d(logprob), the policy loss's part of it, summands of 8 stats, d(total)/d(value), d(total)/d(entropy)
  readonly passes: readonly Tensor[]; // (2, B, T) each: the first channels of `coefficients` as earlier passes left them
  readonly sums: Tensor; // (B, 5) of each row: score, then count, pivot, sum and squared deviations for whitening
}

const KNOBS = ['prompts', 'groupSize', 'maxTurns'];

/** Grammar states the device has room for. */
const GRAMMAR_STATES = 256;

/** Declares the batch. */
export function declareBatch(arena: Arena, { rows: B, length: T, model }: PolicySpec): DeviceBatch {
  const table = (name: string, channels: number) =>
    arena.declare(name, channels === 1 ? [B, T] : [channels, B, T], KNOBS);
  const weightsAt = aligned(2 * B * T);
  const targets = arena.declare('targets', [weightsAt + 5 * B * T], KNOBS);
  const room = aligned(2 * B * T);
  const passes = arena.declare('passes', [(KEPT_PASSES - 1) * room], KNOBS);
  return {
    record: table('record', 1),
    grammar: arena.declare('grammar', [GRAMMAR_STATES * (model.vocab_size + 1)]),
    sampled: table('sampled', 1),
    rewards: table('rewards', 1),
    shaped: table('shaped rewards', 1),
    groups: arena.declare('groups', [B]),
    oldScores: table('old scores', 3),
    refScores: table('reference scores', 3),
    scores: table('scores', 3),
    oldValues: table('old values', 1),
    values: table('values', 1),
    masks: arena.declare('masks', [5 * B * T + 3 * B], KNOBS),
    targets,
    credit: slice(targets, 'credit', 0, [2, B, T]),
    weights: slice(targets, 'weights', weightsAt, [5, B, T]),
    weightsAt,
    coefficients: table('coefficients', 12),
    passes: Array.from({ length: KEPT_PASSES - 1 }, (_, k) => slice(passes, `pass ${k + 1}`, k * room, [2, B, T])),
    sums: arena.declare('row sums', [B, 5]),
  };
}

/** The first `channels` channels of a (·, B, T) table, from its beginning: what a read-back takes. */
export function firstChannels(table: Tensor, channels: number, B: number, T: number): Tensor {
  return slice(table, table.name, 0, channels === 1 ? [B, T] : [channels, B, T]);
}

/** Writes what scoring and credit would. The one mask serves the policy loss and the regularizers. */
export function writeGiven(gpu: Gpu, batch: DeviceBatch, given: GivenCredit): void {
  const all = given.lossMask.length;
  write(gpu, batch.oldScores, given.oldLogprobs);
  write(gpu, batch.refScores, given.refLogprobs);
  write(gpu, batch.credit, given.advantages);
  write(gpu, batch.credit, given.returns, all);
  write(gpu, batch.masks, given.lossMask);
  write(gpu, batch.masks, given.lossMask, all);
  write(gpu, batch.masks, given.valueMask, 2 * all);
  const B = batch.groups.shape[0]!;
  const T = all / B;
  const tokens = (mask: Float32Array, row: number) =>
    mask.subarray(row * T, (row + 1) * T).reduce((sum, inside) => sum + inside, 0);
  const counts = Array.from({ length: B }, (_, row) => {
    const own = tokens(given.lossMask, row);
    return [own, own, tokens(given.valueMask, row)];
  });
  write(gpu, batch.masks, Float32Array.from(counts.flat()), 5 * all);
  write(gpu, batch.oldValues, given.oldValues);
}

/** A record as the device reads it: token | role << 16 | state << 24. */
export function packRecord({ tokens, roles, states }: TokenRecord): Uint32Array {
  return Uint32Array.from(tokens, (token, i) => token | (roles[i]! << 16) | (states[i]! << 24));
}

/** A grammar as the device reads it: `next`, then `stop`. Throws when it does not fit the model or the device. */
export function packGrammar({ next, stop, states, vocabulary }: Grammar, V: number): Int32Array {
  if (states > GRAMMAR_STATES || vocabulary !== V) {
    const got = `${states} states over ${vocabulary} tokens`;
    throw new RangeError(`setGrammar: ${got} don’t fit. There is room for ${GRAMMAR_STATES} over ${V}.`);
  }
  const words = new Int32Array(next.length + states);
  words.set(next);
  words.set(stop, next.length);
  return words;
}
