import type { DecodeChunk, DecodedChunk, DrawCounters, Sampling } from '../../src/model/decoding.ts';
import type { Policy } from '../../src/model/policy.ts';
import type { PolicyReport, StepStats } from '../../src/model/policyReport.ts';
import type { Credit } from '../../src/model/learningMath.ts';
import type { ObjectiveSettings, OptimizerSettings } from '../../src/model/learningSettings.ts';
import { modelConfig, parameters } from '../../src/model/architecture.ts';
import { parseConfig } from '../../src/config/config.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { creditSettings } from '../../src/rl/settings.ts';
import { uniform } from '../../src/base/rng.ts';
import { freeGrammar, type Grammar, Role, type TokenRecord } from '../../src/domain/tokens.ts';

const STEP: StepStats = {
  policyLoss: 0.5,
  entropy: 1,
  kl: 0,
  clipFraction: 0,
  clipFractionLower: 0,
  approxKl: 0,
  observationLoss: 0,
  teacherKl: 0,
  valueLoss: 0,
  total: 0.5,
  gradNorm: 2,
  criticGradNorm: 0,
  tokens: 10,
  skipped: '',
  culprit: '',
};

/** A policy without a network: its distribution depends on the previous token only. It records what it is asked. */
export interface FakePolicy extends Policy {
  readonly calls: string[];
  readonly chunks: DecodeChunk[];
  readonly samplings: Sampling[];
  readonly scored: { temperature: number; reference: boolean; values: boolean }[];
  readonly learned: {
    rows: Int32Array;
    objective: ObjectiveSettings;
    optimizer: OptimizerSettings;
    temperature: number;
  }[];
  readonly loaded: TokenRecord[];
  /** The next report says this of its first step. */
  breakNextStep: (culprit: string) => void;
}

export function fakePolicy(rows: number, length: number, vocabulary: number): FakePolicy {
  let grammar: Grammar = freeGrammar(vocabulary);
  let sampling: Sampling | null = null;
  let counters: DrawCounters[] = [];
  let broken = '';
  const cells = rows * length;
  const tokens = new Int32Array(cells);
  const roles = new Uint8Array(cells);
  const states = new Uint8Array(cells);
  const lengths = new Int32Array(rows);
  let credited: Credit = learningMath.credit(
    { rows: 0, length, roles: new Uint8Array(cells), values: [], oldLogprobs: [], refLogprobs: [] },
    { rewards: new Float32Array(cells), groups: new Int32Array(rows) },
    creditSettings(parseConfig(), 0, 1),
  );
  let pending: StepStats[] = [];
  let readbacks = 0;
  const calls: string[] = [];
  const chunks: DecodeChunk[] = [];
  const samplings: Sampling[] = [];
  const scored: FakePolicy['scored'] = [];
  const learned: FakePolicy['learned'] = [];
  const loaded: TokenRecord[] = [];

  /** Log-probabilities of the legal tokens in a state after a token, at a temperature. */
  const distribution = (previous: number, state: number, temperature: number) => {
    const logits = Array.from({ length: vocabulary }, (_, v) =>
      (grammar.next[state * vocabulary + v] ?? -1) >= 0 ? (3 * uniform(9, previous, v, 0)) / temperature : -Infinity,
    );
    const sum = logits.reduce((total, z) => total + Math.exp(z), 0);
    return logits.map((z) => z - Math.log(sum));
  };
  const write = (row: number, token: number, role: Role, state: number) => {
    const at = lengths[row]!;
    if (at >= length) throw new Error(`row ${row} is full`);
    tokens[row * length + at] = token;
    roles[row * length + at] = role;
    states[row * length + at] = state;
    lengths[row] = at + 1;
  };
  const draw = (row: number, state: number) => {
    if (!sampling) throw new Error('decode before begin');
    const logprobs = distribution(tokens[row * length + lengths[row]! - 1]!, state, sampling.temperature);
    if (sampling.greedy) return { token: logprobs.indexOf(Math.max(...logprobs)), logprobs };
    const { update, rollout } = counters[row]!;
    let left = uniform(sampling.key, update, rollout, lengths[row]!);
    let token = logprobs.findIndex((logprob) => (left -= Math.exp(logprob)) < 0);
    if (token < 0) token = logprobs.findLastIndex(Number.isFinite);
    return { token, logprobs };
  };

  return {
    calls,
    chunks,
    samplings,
    scored,
    learned,
    loaded,
    breakNextStep: (culprit) => void (broken = culprit),
    backend: { kind: 'cpu', adapter: 'fake', software: false, storage: 'f32', reason: '' },
    model: modelConfig(parseConfig(), vocabulary, false),
    parameters: parameters(modelConfig(parseConfig(), vocabulary, false)),
    rows,
    length,
    memoryBytes: 0,
    setGrammar(next) {
      grammar = next;
    },
    begin(next) {
      calls.push('begin');
      samplings.push(next);
      sampling = next;
      counters = Array.from({ length: rows }, (_, rollout) => ({ update: next.update, rollout }));
      for (const array of [tokens, roles, states, lengths]) array.fill(0);
    },
    beginRow(row, next) {
      calls.push('beginRow');
      counters[row] = next;
      lengths[row] = 0;
    },
    decode(chunk): Promise<DecodedChunk> {
      readbacks++;
      calls.push('decode');
      chunks.push(chunk);
      const out = {
        counts: new Int32Array(rows),
        tokens: new Int32Array(rows * chunk.maxTokens),
        logprobs: new Float32Array(rows * chunk.maxTokens),
      };
      for (let row = 0; row < rows; row++) {
        const forced = chunk.forcedCounts[row]!;
        for (let k = 0; k < forced; k++) {
          write(row, chunk.forced[row * chunk.maxTokens + k]!, chunk.forcedRoles[row] as Role, 0);
        }
        let state = chunk.states[row]!;
        if (state < 0) continue;
        const most = Math.min(chunk.budgets[row]!, chunk.maxTokens - forced);
        for (let k = 0; k < most && grammar.stop[state] === 0; k++) {
          const { token, logprobs } = draw(row, state);
          write(row, token, Role.action, state);
          out.tokens[row * chunk.maxTokens + k] = token;
          out.logprobs[row * chunk.maxTokens + k] = logprobs[token]!;
          out.counts[row] = k + 1;
          state = grammar.next[state * vocabulary + token]!;
        }
      }
      return Promise.resolve(out);
    },
    load(record) {
      calls.push('load');
      loaded.push(record);
    },
    score(temperature, want) {
      calls.push('score');
      scored.push({ temperature, ...want });
    },
    credit(input, settings) {
      calls.push('credit');
      const zeros = new Float32Array(cells);
      const batch = { rows, length, roles, values: zeros, oldLogprobs: zeros, refLogprobs: zeros };
      credited = learningMath.credit(batch, input, settings);
    },
    learn(stepRows, objective, optimizer, temperature) {
      calls.push('learn');
      learned.push({ rows: stepRows, objective, optimizer, temperature });
      pending.push(broken ? { ...STEP, skipped: 'non-finite', culprit: broken } : STEP);
      broken = '';
    },
    endEpoch: () => void calls.push('endEpoch'),
    report(): Promise<PolicyReport> {
      readbacks++;
      calls.push('report');
      const steps = pending;
      pending = [];
      const zeros = () => new Float32Array(cells);
      const logprobs = zeros();
      const temperature = scored.at(-1)?.temperature ?? 1;
      roles.forEach((role, i) => {
        if (role === Role.action) logprobs[i] = distribution(tokens[i - 1]!, states[i]!, temperature)[tokens[i]!]!;
      });
      const { masks } = credited;
      return Promise.resolve({
        logprobs,
        refLogprobs: logprobs,
        entropies: zeros(),
        values: zeros(),
        advantages: Float32Array.from(credited.advantages),
        returns: Float32Array.from(credited.returns),
        rewards: Float32Array.from(credited.rewards),
        lossMask: masks.policy,
        regularizerMask: masks.regularizer,
        valueMask: masks.value,
        advantageMask: masks.advantage,
        whitenMask: masks.whiten,
        observationMask: masks.observation,
        gradWeights: zeros(),
        policyWeights: zeros(),
        earlierEpochs: [],
        steps,
      });
    },
    freezeReference: () => void calls.push('freezeReference'),
    readState: () =>
      Promise.resolve({
        policy: { weights: new Map(), adamM: new Map(), adamV: new Map(), steps: 0 },
        critic: null,
      }),
    writeState: () => void calls.push('writeState'),
    writeWeights: () => void calls.push('writeWeights'),
    counters: () => ({ dispatches: 0, submits: 0, readbacks, uploadBytes: 0, creations: 0 }),
    whenIdle: () => Promise.resolve(),
    startProfile: () => undefined,
    profile: () => Promise.reject(new Error('a fake has nothing to profile')),
    destroy: () => void calls.push('destroy'),
  };
}
