import type { SuppliedCredit, NetworkState, Policy } from '../model/policy.ts';
import type { ObjectiveSettings, OptimizerSettings } from '../model/learningSettings.ts';
import { PLAIN_OBJECTIVE } from './objective.ts';
import type { Attempt, Preferences, RewardModelMemory } from '../domain/preferences.ts';
import { Purpose, random } from '../base/rng.ts';
import { freeGrammar, Role, type TokenRecord } from '../domain/tokens.ts';
import { attemptOf, type LabellerSettings, labelPairs, type Pair } from './labeller.ts';
import { preferenceSet, preferenceRewards } from './preferenceSet.ts';
import { type EpisodeRecord, payLastAction } from './episodeRecord.ts';
import type { Rollouts } from './rollout.ts';

export interface RewardModelOptions {
  readonly seed: number;
  readonly steps?: number; // optimizer steps of one fit
  readonly learningRate?: number;
  readonly heldOut?: number; // number of held-out pairs, the newest, that measure agreement
}

/** A model that gives a whole rollout one score r. It is fitted to preferences between rollouts, as in RLHF. */
export interface RewardModel {
  /** Lets the simulated labeller compare rollouts of a batch, and stores its choices. */
  readonly observe: (rollouts: Rollouts, labeller: LabellerSettings) => void;
  /** Stores a person's choice. Throws if a rollout is empty, too long or from another vocabulary. */
  readonly prefer: (better: Attempt, worse: Attempt) => void;
  /** Takes a few optimizer steps on the stored pairs. Returns the loss, and the agreement with the held-out pairs. */
  readonly fit: () => Promise<Preferences>;
  /** r of every row of a batch (B). */
  readonly score: (record: EpisodeRecord) => Promise<Float64Array>;
  readonly state: () => Promise<RewardModelState>;
  /** The network has to fit. If a pair is invalid, throws RangeError and changes nothing. */
  readonly restore: (state: RewardModelState) => void;
  readonly destroy: () => void;
}

export interface RewardModelState {
  readonly network: NetworkState;
  readonly memory: RewardModelMemory;
}

// Twice the steps take twice the time. Agreement then rises by .03 on number hunt and not on multi-hop (40 updates, noise .1).
const DEFAULTS = { steps: 2, learningRate: 3e-3, heldOut: 64 } as const;

/** Settings under which only the value loss counts. d(total)/d(value) is then (value − return) / values. */
export const VALUES_ONLY: ObjectiveSettings = { ...PLAIN_OBJECTIVE, valueCoef: 1, valueClip: 1e9 };
const ADAM: Omit<OptimizerSettings, 'learningRate'> = {
  criticLearningRate: 0,
  beta1: 0.9,
  beta2: 0.999,
  eps: 1e-8,
  weightDecay: 0.01,
  maxGradNorm: 1,
  criticOnly: false,
};
// A value belongs to the position before a token. To get a value after the last token of a rollout, one more token has
// to follow it. It doesn't matter which token that is.
const CLOSING_TOKEN = 1;

/**
 * Makes a reward model that uses `policy` as its network; nothing else may use this policy. It needs a value head, and
 * rows one token longer than the longest rollout. r is the value after the last token. Each step takes policy.rows / 2
 * pairs.
 */
export function createRewardModel(policy: Policy, options: RewardModelOptions): RewardModel {
  const { seed, steps, learningRate, heldOut } = { ...DEFAULTS, ...options };
  let preferences = preferenceSet();
  const pairsAtOnce = Math.floor(policy.rows / 2);
  let observed = 0;
  let fits = 0;
  policy.setGrammar(freeGrammar(policy.model.vocab_size));

  const scoreAll = async (attempts: readonly Attempt[]): Promise<Float64Array> => {
    const scores = new Float64Array(attempts.length);
    for (let first = 0; first < attempts.length; first += policy.rows) {
      scores.set(await scoreRows(policy, attempts.slice(first, first + policy.rows)), first);
    }
    return scores;
  };
  const agreement = async (): Promise<number | null> => {
    const pairs = preferences.heldOut(heldOut);
    if (pairs.length === 0) return null;
    const scores = await scoreAll(attemptsOf(pairs));
    const agreed = pairs.map((_, i) => agrees((scores[2 * i] ?? 0) - (scores[2 * i + 1] ?? 0)));
    return agreed.reduce((sum, each) => sum + each, 0) / pairs.length;
  };

  return {
    observe(rolled, labeller) {
      preferences.addLabelled(labelPairs(rolled, labeller, seed, observed++));
    },
    prefer(better, worse) {
      for (const attempt of [better, worse]) checkAttempt(attempt, policy);
      preferences.addPersons({ better, worse });
    },
    async fit() {
      const losses: number[] = [];
      for (let step = 0; step < steps; step++) {
        const pairs = preferences.draw(pairsAtOnce, random(seed, Purpose.rewardModel, fits, step));
        if (pairs.length > 0) losses.push(await fitStep(policy, pairs, learningRate));
      }
      fits++;
      return {
        ...preferences.counts(),
        // without pairs: the loss of a model that scores all rollouts the same
        loss: losses.length > 0 ? losses.reduce((a, b) => a + b, 0) / losses.length : Math.LN2,
        agreement: await agreement(),
      };
    },
    score: (record) => scoreAll(Array.from({ length: record.rows }, (_, row) => attemptOf(record, row))),
    state: async () => {
      const { policy: network } = await policy.readState();
      return { network, memory: { ...preferences.memory(), observed, fits } };
    },
    restore({ network, memory }) {
      const restored = preferenceSet(memory);
      for (const attempt of attemptsOf(restored.all())) checkAttempt(attempt, policy);
      policy.writeState({ policy: network, critic: null });
      preferences = restored;
      ({ observed, fits } = memory);
    },
    destroy: () => policy.destroy(),
  };
}

/** A saved state with a person's choice added, as `prefer` would add it. */
export function withChoice(memory: RewardModelMemory, pair: Pair): RewardModelMemory {
  const preferences = preferenceSet(memory);
  preferences.addPersons(pair);
  return { ...memory, ...preferences.memory() };
}

function agrees(difference: number): number {
  return difference === 0 ? 1 / 2 : difference > 0 ? 1 : 0;
}

/** The rollouts of pairs, in the order of a batch's rows. */
function attemptsOf(pairs: readonly Pair[]): readonly Attempt[] {
  return pairs.flatMap(({ better, worse }) => [better, worse]);
}

function checkAttempt({ tokens, roles }: Attempt, { length, model }: Policy): void {
  if (tokens.length === 0 || tokens.length >= length || roles.length !== tokens.length) {
    throw new RangeError(
      `prefer: ${tokens.length} tokens come with ${roles.length} roles. Give as many of each, 1 to ${length - 1}.`,
    );
  }
  if (roles.includes(Role.pad)) throw new RangeError('prefer: the rollout contains padding. Give its tokens only.');
  const outOfRange = tokens.find((token) => token < 0 || token >= model.vocab_size);
  if (outOfRange !== undefined) {
    throw new RangeError(`prefer: token ${outOfRange} is out of range: ids go from 0 to ${model.vocab_size - 1}.`);
  }
}

/** Each row has one whole rollout, then a closing token; `closingIndices` are their indices into the (B,T) arrays. */
function asBatch({ rows, length }: Policy, attempts: readonly Attempt[]): TokenRecord & { closingIndices: Int32Array } {
  const tokens = new Int32Array(rows * length);
  const roles = new Uint8Array(rows * length);
  const closingIndices = Int32Array.from(attempts, (attempt, row) => {
    const start = row * length;
    const closing = start + attempt.tokens.length;
    tokens.set(attempt.tokens, start);
    roles.set(attempt.roles, start);
    tokens[closing] = CLOSING_TOKEN;
    roles[closing] = Role.observation;
    return closing;
  });
  return { tokens, roles, states: new Uint8Array(rows * length), closingIndices };
}

/** r of at most B rollouts. The rollouts stay in the policy's batch. */
async function scoreRows(policy: Policy, attempts: readonly Attempt[]): Promise<Float64Array> {
  const { tokens, roles, states, closingIndices } = asBatch(policy, attempts);
  policy.load({ tokens, roles, states });
  await policy.score(1, { reference: false, values: true });
  const { values } = await policy.report();
  return Float64Array.from(closingIndices, (position) => values[position] ?? 0);
}

/** One optimizer step on the mean loss of the pairs. Returns the loss before the step. */
async function fitStep(policy: Policy, pairs: readonly Pair[], learningRate: number): Promise<number> {
  const scores = await scoreRows(policy, attemptsOf(pairs));
  const { loss, given, rows, record } = pairBatch(policy, pairs, scores);
  policy.load(record, given);
  await policy.learn(rows, VALUES_ONLY, { ...ADAM, learningRate }, 1);
  return loss;
}

/** The batch that teaches a policy the mean Bradley–Terry loss of pairs, given the scores of both sides (2 × pairs). */
export function pairBatch(policy: Policy, pairs: readonly Pair[], scores: ArrayLike<number>) {
  const { closingIndices, ...record } = asBatch(policy, attemptsOf(pairs));
  const zeros = () => new Float32Array(policy.rows * policy.length);
  const given: SuppliedCredit = {
    oldLogprobs: zeros(),
    refLogprobs: zeros(),
    advantages: zeros(),
    lossMask: zeros(),
    valueMask: zeros(),
    oldValues: zeros(),
    returns: zeros(),
  };
  let loss = 0;
  const setGradient = (side: number, gradient: number) => {
    const closingIndex = closingIndices[side] ?? 0;
    const value = scores[side] ?? 0;
    given.valueMask[closingIndex] = 1;
    given.oldValues[closingIndex] = value;
    // chosen so that (value − return) / (2 · pairs) equals gradient / pairs
    given.returns[closingIndex] = value - 2 * gradient;
  };
  for (let i = 0; i < pairs.length; i++) {
    const preference = preferenceLoss(scores[2 * i] ?? 0, scores[2 * i + 1] ?? 0);
    loss += preference.loss / pairs.length;
    setGradient(2 * i, preference.gradient);
    setGradient(2 * i + 1, -preference.gradient);
  }
  // a step without a token in the policy loss would be skipped; this token has advantage 0 and changes nothing
  given.lossMask[closingIndices[0] ?? 0] = 1;
  return { record, given, rows: Int32Array.from(closingIndices, (_, row) => row), loss };
}

/** The loss of one preference, and its derivative with respect to the score of the better answer. */
interface Preference {
  readonly loss: number; // nats
  readonly gradient: number; // with respect to the worse answer's score it is the opposite
}

/**
 * The negative log-likelihood that the better answer is preferred under Bradley & Terry (1952), as reward models are
 * trained (Ouyang et al. 2022, eq. 1): −log σ(Δ) with Δ = better − worse, and its derivative −(1 − σ(Δ)). Both are
 * finite for every finite Δ, because no exponent is positive. A constant added to both scores changes nothing.
 */
export function preferenceLoss(better: number, worse: number): Preference {
  const delta = better - worse;
  const tail = Math.exp(-Math.abs(delta));
  return {
    loss: Math.max(0, -delta) + Math.log1p(tail),
    gradient: delta >= 0 ? -tail / (1 + tail) : -1 / (1 + tail),
  };
}

/** If `weight` is above 0, pays `preferenceRewards` of the scores on the last action tokens, in place. */
export async function payRewardModelScores(
  rolled: Rollouts,
  rewardModel: RewardModel,
  weight: number,
): Promise<Rollouts> {
  const scores = await rewardModel.score(rolled.record);
  const rewards = preferenceRewards(scores, weight);
  const episodes = rolled.episodes.map((episode, row) => {
    const preference = rewards[row] ?? 0;
    if (weight > 0) payLastAction(rolled.record, row, 'preference', preference);
    const parts = weight > 0 ? { ...episode.parts, preference } : episode.parts;
    return {
      ...episode,
      parts,
      reward: episode.reward + (weight > 0 ? preference : 0),
      preferenceScore: scores[row] ?? null,
    };
  });
  return { ...rolled, episodes };
}
