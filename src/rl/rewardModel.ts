import type { GivenCredit, NetworkState, Policy } from '../model/policy.ts';
import type { ObjectiveSettings, OptimizerSettings } from '../model/learningSettings.ts';
import type { Attempt, Preferences, RewardModelMemory } from '../domain/preferences.ts';
import { Purpose, random } from '../base/rng.ts';
import { freeGrammar, Role, type TokenRecord } from '../domain/tokens.ts';
import { preferenceLoss } from './bradleyTerry.ts';
import { attemptOf, type Labeller, labelled, type Pair } from './labeller.ts';
import { preferenceSet } from './preferenceSet.ts';
import type { EpisodeRecord } from './episodeRecord.ts';
import type { Rollouts } from './rollout.ts';

/** How the reward model is fitted. */
export interface RewardModelOptions {
  readonly seed: number;
  readonly steps?: number; // optimizer steps of one fit
  readonly learningRate?: number;
  readonly heldOut?: number; // newest held-out pairs that agreement is measured on
}

/** A scalar r of a whole rollout, fitted to preferences between rollouts, as RLHF does it. */
export interface RewardModel {
  /** Shows a batch to the simulated labeller and remembers its choices. */
  readonly observe: (rolled: Rollouts, labeller: Labeller) => void;
  /** Remembers a person's choice. Throws on a rollout that is empty, too long or not of this vocabulary. */
  readonly prefer: (better: Attempt, worse: Attempt) => void;
  /** A few optimizer steps on what is remembered; how well it then agrees with what was held out. */
  readonly fit: () => Promise<Preferences>;
  /** r of every row of a batch (B). */
  readonly score: (record: EpisodeRecord) => Promise<Float64Array>;
  /** As it is, to go on from later. */
  readonly state: () => Promise<RewardModelState>;
  /** Goes on from there. Throws RangeError, and changes nothing, on a pair that is no pair of rollouts; the network has to fit. */
  readonly restore: (state: RewardModelState) => void;
  readonly destroy: () => void;
}

/** A reward model as it is saved: its network with optimizer, and all it remembers. */
export interface RewardModelState {
  readonly network: NetworkState;
  readonly memory: RewardModelMemory;
}

// Twice the steps take twice the time and agree .03 better on number hunt, no better on multi-hop (40 updates, noise .1).
const DEFAULTS = { steps: 2, learningRate: 3e-3, heldOut: 64 } as const;

/** Only the value loss is left: d(total)/d(value) is then (value − return) / values. */
export const VALUES_ONLY: ObjectiveSettings = {
  surrogate: 'plain',
  clipLow: 0,
  clipHigh: 0,
  dualClip: 0,
  klEstimator: 'k3',
  klCoef: 0,
  entropyCoef: 0,
  valueCoef: 1,
  valueClip: 1e9,
  aggregation: 'token-mean',
};
const ADAM: Omit<OptimizerSettings, 'learningRate'> = {
  criticLearningRate: 0,
  beta1: 0.9,
  beta2: 0.999,
  eps: 1e-8,
  weightDecay: 0.01,
  maxGradNorm: 1,
  criticOnly: false,
};
// A value stands before a token, so the one after the last token needs a token to stand before. It is never read.
const CLOSING_TOKEN = 1;

/**
 * A reward model on `policy`: any network with a value head and room for one token more than the longest rollout; it is the
 * model's alone from here on. r is the value after the last token. Each step takes policy.rows / 2 pairs.
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
    const scores = await scoreAll(sides(pairs));
    const agreed = pairs.map((_, i) => agrees((scores[2 * i] ?? 0) - (scores[2 * i + 1] ?? 0)));
    return agreed.reduce((sum, one) => sum + one, 0) / pairs.length;
  };

  return {
    observe(rolled, labeller) {
      preferences.addLabelled(labelled(rolled, labeller, seed, observed++));
    },
    prefer(better, worse) {
      for (const attempt of [better, worse]) check(attempt, policy);
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
        // before there is a pair: what a model that tells nothing apart scores
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
      const remembered = preferenceSet(memory);
      for (const attempt of sides(remembered.all())) check(attempt, policy);
      policy.writeState({ policy: network, critic: null });
      preferences = remembered;
      ({ observed, fits } = memory);
    },
    destroy: () => policy.destroy(),
  };
}

/** What a reward model remembers once a person has made a choice: what `prefer` makes of it, in a saved state. */
export function withChoice(memory: RewardModelMemory, pair: Pair): RewardModelMemory {
  const preferences = preferenceSet(memory);
  preferences.addPersons(pair);
  return { ...memory, ...preferences.memory() };
}

function agrees(difference: number): number {
  return difference === 0 ? 1 / 2 : difference > 0 ? 1 : 0;
}

/** The rollouts of pairs in the order the rows of a batch hold them. */
function sides(pairs: readonly Pair[]): readonly Attempt[] {
  return pairs.flatMap(({ better, worse }) => [better, worse]);
}

function check({ tokens, roles }: Attempt, { length, model }: Policy): void {
  if (tokens.length === 0 || tokens.length >= length || roles.length !== tokens.length) {
    throw new RangeError(
      `prefer: got ${tokens.length} tokens, ${roles.length} roles; want as many, 1 to ${length - 1}.`,
    );
  }
  if (roles.includes(Role.pad)) throw new RangeError('prefer: got padding in a rollout; want its tokens only.');
  const strange = tokens.find((token) => token < 0 || token >= model.vocab_size);
  if (strange !== undefined) {
    throw new RangeError(`prefer: got token ${strange}; want ids from 0 to ${model.vocab_size - 1}.`);
  }
}

/** A batch of whole rollouts, one a row, each with a closing token; `closings` are its (B,T) places. */
function laidOut({ rows, length }: Policy, attempts: readonly Attempt[]): TokenRecord & { closings: Int32Array } {
  const tokens = new Int32Array(rows * length);
  const roles = new Uint8Array(rows * length);
  const closings = Int32Array.from(attempts, (attempt, row) => {
    const start = row * length;
    const closing = start + attempt.tokens.length;
    tokens.set(attempt.tokens, start);
    roles.set(attempt.roles, start);
    tokens[closing] = CLOSING_TOKEN;
    roles[closing] = Role.observation;
    return closing;
  });
  return { tokens, roles, states: new Uint8Array(rows * length), closings };
}

/** r of at most B rollouts; leaves them in the policy's batch. */
async function scoreRows(policy: Policy, attempts: readonly Attempt[]): Promise<Float64Array> {
  const { tokens, roles, states, closings } = laidOut(policy, attempts);
  policy.load({ tokens, roles, states });
  await policy.score(1, { reference: false, values: true });
  const { values } = await policy.report();
  return Float64Array.from(closings, (place) => values[place] ?? 0);
}

/** One optimizer step on the mean loss of the pairs; returns that loss, before the step. */
async function fitStep(policy: Policy, pairs: readonly Pair[], learningRate: number): Promise<number> {
  const scores = await scoreRows(policy, sides(pairs));
  const { loss, given, rows, record } = pairBatch(policy, pairs, scores);
  policy.load(record, given);
  await policy.learn(rows, VALUES_ONLY, { ...ADAM, learningRate }, 1);
  return loss;
}

/** The batch that teaches a policy the mean Bradley–Terry loss of pairs, given the scores of both sides (2 × pairs). */
export function pairBatch(policy: Policy, pairs: readonly Pair[], scores: ArrayLike<number>) {
  const { closings, ...record } = laidOut(policy, sides(pairs));
  const none = () => new Float32Array(policy.rows * policy.length);
  const given: GivenCredit = {
    oldLogprobs: none(),
    refLogprobs: none(),
    advantages: none(),
    lossMask: none(),
    valueMask: none(),
    oldValues: none(),
    returns: none(),
  };
  let loss = 0;
  const aim = (side: number, gradient: number) => {
    const place = closings[side] ?? 0;
    const value = scores[side] ?? 0;
    given.valueMask[place] = 1;
    given.oldValues[place] = value;
    // (value − return) / (2 · pairs) is to be gradient / pairs
    given.returns[place] = value - 2 * gradient;
  };
  for (let i = 0; i < pairs.length; i++) {
    const preference = preferenceLoss(scores[2 * i] ?? 0, scores[2 * i + 1] ?? 0);
    loss += preference.loss / pairs.length;
    aim(2 * i, preference.gradient);
    aim(2 * i + 1, -preference.gradient);
  }
  // a step without a token in the policy loss is skipped; this one has no advantage and moves nothing
  given.lossMask[closings[0] ?? 0] = 1;
  return { record, given, rows: Int32Array.from(closings, (_, row) => row), loss };
}
