import type { ModelConfig } from '../../src/model/architecture.ts';
import { createCpuPolicy, type CpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import type { ReferenceLoops } from '../../src/model/cpu/arithmetic.ts';
import type { Sampling } from '../../src/model/decoding.ts';
import type { SuppliedCredit, Policy, PolicySpec } from '../../src/model/policy.ts';
import type { CreditSettings, ObjectiveSettings, OptimizerSettings } from '../../src/model/learningSettings.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { Purpose, random, streamKey } from '../../src/base/rng.ts';
import { Role, type Grammar, type TokenRecord } from '../../src/domain/tokens.ts';

/** A small model with everything that can go wrong in it: grouped queries, biases, sizes that no tile divides. */
export const ODD: ModelConfig = {
  vocab_size: 13,
  hidden_size: 12,
  intermediate_size: 19,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 6,
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  attention_bias: true,
  tie_word_embeddings: false,
  value_head: false,
};

/** Two states: in 0 all is legal, in 1 only the first six tokens, and token 5 ends the turn in state 2. */
export function oddGrammar(vocabulary: number): Grammar {
  const next = new Int32Array(3 * vocabulary);
  for (let v = 0; v < vocabulary; v++) {
    next[vocabulary + v] = v < 5 ? 1 : v === 5 ? 2 : -1;
    next[2 * vocabulary + v] = v < 6 ? 1 : -1;
  }
  return { states: 3, vocabulary, next, stop: Uint8Array.of(0, 0, 1) };
}

export const OBJECTIVE: ObjectiveSettings = {
  surrogate: 'clipped',
  clipLow: 0.2,
  clipHigh: 0.2,
  dualClip: 3,
  klEstimator: 'k3',
  klTimesRatio: 'off',
  observationLoss: 0,
  teacherCoef: 0,
  klCoef: 0,
  entropyCoef: 0,
  valueCoef: 0.5,
  valueClip: 10,
  aggregation: 'token-mean',
};

export const OPTIMIZER: OptimizerSettings = {
  learningRate: 0.01,
  criticLearningRate: 0.01,
  beta1: 0.9,
  beta2: 0.99,
  eps: 1e-8,
  weightDecay: 0.01,
  maxGradNorm: 1,
  criticOnly: false,
};

export const CREDIT: CreditSettings = {
  estimator: 'gae',
  gamma: 1,
  lambda: 1,
  turnGamma: 1,
  stateWeight: 1,
  divideByStd: true,
  whiten: true,
  remask: true,
  klCoef: 0,
  klEstimator: 'k1',
  scale: 1,
  trainTurns: 'all',
  choicesOnly: false,
  masks: { advantage: true, whiten: true, value: true, klReward: true, policy: true, regularizer: true },
};

export const sampling = (update = 1): Sampling => ({
  key: streamKey(7, Purpose.trainSample),
  update,
  temperature: 0.8,
  greedy: false,
  topK: 0,
  topP: 1,
});

/** A policy whose biases and norms are away from their initial zeros and ones, so that a test sees them. */
export function makePolicy(
  options: {
    model?: Partial<ModelConfig>;
    critic?: PolicySpec['critic'];
    rows?: number;
    length?: number;
    loops?: ReferenceLoops;
    share?: boolean;
    teacher?: boolean;
  } = {},
): CpuPolicy {
  const critic = options.critic ?? 'none';
  const model = { ...ODD, value_head: critic === 'shared', ...options.model };
  const rows = options.rows ?? 5;
  const policy = createCpuPolicy(
    { model, critic, rows, length: options.length ?? 17, minibatchRows: rows, teacher: options.teacher ?? false },
    learningMath,
    { seed: 11, reason: '', share: options.share ?? true, ...(options.loops && { loops: options.loops }) },
  );
  const draw = random(2, Purpose.weights);
  for (const pool of Object.values(policy.weightPool())) {
    if (pool) for (let i = 0; i < pool.length; i++) pool[i] = pool[i]! + 0.1 * draw.normal();
  }
  return policy;
}

/** Rows of different lengths: prompts of two to four tokens, then turns of the agent and observations in turn. */
export function randomRecord(rows: number, length: number, vocabulary: number): TokenRecord {
  const draw = random(4, Purpose.demonstration);
  const tokens = new Int32Array(rows * length);
  const roles = new Uint8Array(rows * length);
  for (let b = 0; b < rows; b++) {
    const end = length - 2 * b;
    const prompt = 2 + draw.int(3);
    for (let t = 0; t < end; t++) {
      tokens[b * length + t] = draw.int(vocabulary);
      roles[b * length + t] = t < prompt ? Role.prompt : (t - prompt) % 5 < 3 ? Role.action : Role.observation;
    }
  }
  return { tokens, roles, states: new Uint8Array(rows * length) };
}

/** As `randomRecord`, but the rows of a group begin alike: in each the first `shared` tokens are those of its first row. */
export function alikeRecord(
  rows: number,
  length: number,
  vocabulary: number,
  group: number,
  shared: number,
): TokenRecord {
  const record = randomRecord(rows, length, vocabulary);
  for (const array of [record.tokens, record.roles]) {
    for (let b = 0; b < rows; b++) {
      const leader = (b - (b % group)) * length;
      array.set(array.slice(leader, leader + shared), b * length);
    }
  }
  return record;
}

/** Every row id of a policy. */
export const everyRow = (policy: CpuPolicy) => Int32Array.from({ length: policy.rows }, (_, b) => b);

/** What a loop of forced prompts, drawn turns and forced observations recorded. */
export interface Rollout {
  readonly tokens: number[][];
  readonly sampled: number[][]; // log-probabilities as drawn, 0 at forced tokens
  readonly states: number[][];
  readonly roles: number[][];
}

/**
 * A fake environment: two turns of at most five drawn tokens in grammar state 1, an observation of two tokens between them, K
 * tokens per chunk. What is drawn must not depend on K.
 */
export async function rollOut(policy: Policy, grammar: Grammar, chunk: number, how = sampling()): Promise<Rollout> {
  const { rows } = policy;
  policy.setGrammar(grammar);
  policy.begin(how);
  const made: Rollout = {
    tokens: Array.from({ length: rows }, () => []),
    sampled: Array.from({ length: rows }, () => []),
    states: Array.from({ length: rows }, () => []),
    roles: Array.from({ length: rows }, () => []),
  };
  const waiting = Array.from({ length: rows }, (_, b) => [1 + (b % 3), 2, ...(b % 2 ? [3] : [])]);
  const state = new Int32Array(rows).fill(1);
  const drawn = new Int32Array(rows);
  const turn = new Int32Array(rows);
  while (turn.some((n) => n < 2)) {
    const forced = new Int32Array(rows * chunk);
    const forcedCounts = new Int32Array(rows);
    const forcedRoles = new Int32Array(rows);
    const states = new Int32Array(rows);
    const budgets = new Int32Array(rows);
    for (let b = 0; b < rows; b++) {
      const ids = waiting[b]!.splice(0, chunk);
      forced.set(ids, b * chunk);
      forcedCounts[b] = ids.length;
      forcedRoles[b] = turn[b] === 0 ? Role.prompt : Role.observation;
      states[b] = waiting[b]!.length > 0 || turn[b]! >= 2 ? -1 : state[b]!;
      budgets[b] = 5 - drawn[b]!;
      for (const id of ids) {
        made.tokens[b]!.push(id);
        made.sampled[b]!.push(0);
        made.states[b]!.push(0);
        made.roles[b]!.push(forcedRoles[b]!);
      }
    }
    const got = await policy.decode({ maxTokens: chunk, forced, forcedCounts, forcedRoles, states, budgets });
    for (let b = 0; b < rows; b++) {
      for (let i = 0; i < got.counts[b]!; i++) {
        const id = got.tokens[b * chunk + i]!;
        made.tokens[b]!.push(id);
        made.sampled[b]!.push(got.logprobs[b * chunk + i]!);
        made.states[b]!.push(state[b]!);
        made.roles[b]!.push(Role.action);
        state[b] = grammar.next[state[b]! * grammar.vocabulary + id]!;
        drawn[b]!++;
      }
      if (states[b]! >= 0 && (grammar.stop[state[b]!] === 1 || drawn[b] === 5)) {
        turn[b]!++;
        drawn[b] = 0;
        state[b] = 1;
        if (turn[b] === 1) waiting[b] = [7, 8 + (b % 2)];
      }
    }
  }
  return made;
}

/** Random credit with the masks of the given roles. */
export function someCredit(
  record: TokenRecord,
  lossRoles: number[],
  change: Partial<SuppliedCredit> = {},
): SuppliedCredit {
  const draw = random(9, Purpose.environment);
  const size = record.tokens.length;
  const numbers = (shift: number) => Float32Array.from({ length: size }, () => shift + 0.3 * draw.normal());
  const mask = Float32Array.from(record.roles, (role) => (lossRoles.includes(role) ? 1 : 0));
  return {
    oldLogprobs: numbers(-2.5),
    refLogprobs: numbers(-2.5),
    advantages: numbers(0),
    oldValues: numbers(0),
    returns: numbers(0.5),
    lossMask: mask,
    valueMask: mask,
    ...change,
  };
}

/** A policy with a record and random credit in it; the masks hold tokens of the given roles. */
export function loaded(options: Parameters<typeof makePolicy>[0] = {}, lossRoles: number[] = [Role.action]): CpuPolicy {
  const policy = makePolicy(options);
  const record = randomRecord(policy.rows, policy.length, policy.model.vocab_size);
  policy.load(record, someCredit(record, lossRoles));
  return policy;
}
