import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import { contradictions } from '../../src/config/contradictions.ts';
import { problemText } from '../../src/base/problem.ts';
import { example, exampleVocabulary } from './example.ts';
import { longBatch, longVocabulary } from './longText.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import type { Health } from '../../src/domain/health.ts';
import type { TrainingEvent } from '../../src/domain/trainingEvent.ts';
import type { RunEvent } from '../../src/wire/commands.ts';

/** With this seed the made-up run speaks text, and its batches are long ones. */
export const TEXT_SEED = 64_000;

/** A made-up run for tests of the page: shaped like training, computes nothing. */
export function fakeReady(config: RunConfig): RunEvent {
  return {
    type: 'ready',
    config,
    update: 0,
    backend: {
      kind: 'cpu',
      adapter: 'made up',
      software: false,
      storage: 'f32',
      reason: 'this run is made up, for tests',
    },
    vocabulary: config.seed === TEXT_SEED ? longVocabulary : exampleVocabulary,
    parameters: 27_616,
    memoryBytes: 7_300_000,
  };
}

/** With this seed the made-up run falls into the Echo Trap after a few updates. */
const TRAP_SEED = 13;

/** The events of one made-up update. */
export function fakeUpdate(update: number, wave = 0, config = parseConfig()): TrainingEvent[] {
  const success = 0.25 + 0.6 / (1 + Math.exp(-(update - 40) / 12)) + 0.05 * Math.sin(update * 1.7 + wave);
  return [
    { type: 'phase', phase: 'sampling', update, done: 0, total: 0 },
    { type: 'phase', phase: 'updating', update, done: 1, total: 4 },
    {
      type: 'batch',
      batch: config.seed === TEXT_SEED ? longBatch(update) : { ...batchUnder(config.filter), update },
      config,
    },
    {
      type: 'metrics',
      update,
      values: {
        'critic/score/mean': success,
        'rollout/success': success,
        'actor/entropy': 0.9 / (1 + update / 40),
        'actor/grad_norm': 0.8 + 0.5 * Math.abs(Math.sin(update * 12.9)),
        'rollout/in_group_reward_std': 0.45 / (1 + update / 60),
        'actor/ppo_kl': 0.004 * Math.sin(update * 3.3) + 0.006,
        'engine/tokens_per_second': 3120,
        'engine/dispatches': 412,
        'engine/submits': 11,
        'engine/readbacks': 5,
        'time/update': 0.3,
        'mask/observation_weights': config.lossMask === 'off' && config.advantageMask === 'off' ? 812 : 0,
        'mask/observation_share': config.lossMask === 'off' && config.advantageMask === 'off' ? 0.31 : 0,
        'mask/reward_outside': 0,
        'mask/length_mismatch': 0,
        'rollout/echo_share': 0.3 + 0.2 * Math.sin(update / 9),
        'rollout/zero_std_groups': 0.2,
        'rollout/repeated_actions': 0.05,
        'collapse/retrieval_accuracy': 0.6,
        'collapse/retrieval_chance_level': 0.1,
        'collapse/mi_seq_estimate': 1.2,
        ...(config.rewardModel === 'on' && { 'reward_model/score': 0.02 * update }),
        ...(update % 10 === 0 && { 'eval/success': success + 0.03 }),
      },
    },
    { type: 'health', update, health: fakeHealth(update, config.seed === TRAP_SEED) },
    ...(config.rewardModel === 'on' ? [fakePreferences(update, 0)] : []),
  ];
}

/** What the made-up monitor says. */
export function fakeHealth(update: number, trapped: boolean): Health {
  if (!trapped || update < 3) return { state: 'ok', since: 0, kind: null, evidence: [], remedies: [] };
  const spread = {
    sign: 'spread',
    text: 'The rewards of one prompt’s rollouts differ by 0.02, 5 % of the 0.41 of the first 10.',
    alarming: update >= 6,
  } as const;
  const echo = {
    sign: 'echo',
    text: '62 % of a prompt’s rollouts are the same word for word.',
    alarming: false,
  } as const;
  return {
    state: update >= 6 ? 'trap' : 'watch',
    since: update >= 6 ? 6 : 3,
    kind: 'blind',
    evidence: [spread, echo],
    remedies: [
      { label: 'Reward entropy', changes: { entropyCoef: 0.05 } },
      { label: 'StarPO-S', changes: { filter: 'top-fraction', clipHigh: 0.28 } },
    ],
  };
}

/** What the made-up reward model says of itself. */
export function fakePreferences(update: number, clicks: number): Extract<TrainingEvent, { type: 'preferences' }> {
  return {
    type: 'preferences',
    update,
    preferences: { pairs: 64 * update + clicks, clicks, loss: 0.5, agreement: 0.8 },
  };
}

const batches = new Map<RunConfig['filter'], BatchView>();

/** The batch of every update under a filter: made once, for it takes longer than all the rest. */
function batchUnder(filter: RunConfig['filter']): BatchView {
  const batch = batches.get(filter) ?? fakeBatch(0, filter);
  batches.set(filter, batch);
  return batch;
}

/** Sixteen groups made from the example's rollouts. */
function fakeBatch(update: number, filter: RunConfig['filter'], groups = 16): BatchView {
  const rows = example.rows * groups;
  const ints = (from: Int32Array) =>
    Int32Array.from({ length: from.length * groups }, (_, i) => from[i % from.length] ?? 0);
  const bytes = (from: Uint8Array) =>
    Uint8Array.from({ length: from.length * groups }, (_, i) => from[i % from.length] ?? 0);
  const floats = (from: Float32Array) =>
    Float32Array.from({ length: from.length * groups }, (_, i) => from[i % from.length] ?? 0);
  return {
    update,
    rows,
    length: example.length,
    tokens: ints(example.tokens),
    roles: bytes(example.roles),
    states: bytes(example.states),
    singles: bytes(example.singles),
    turns: bytes(example.turns),
    lengths: ints(example.lengths),
    sampledLogprobs: floats(example.sampledLogprobs),
    logprobs: floats(example.logprobs),
    entropies: floats(example.entropies),
    values: floats(example.values),
    rewards: floats(example.rewards),
    advantages: floats(example.advantages),
    returns: floats(example.returns),
    lossMask: floats(example.lossMask),
    gradWeights: floats(example.gradWeights),
    parts: Object.fromEntries(Object.entries(example.parts).map(([part, from]) => [part, floats(from)])),
    refLogprobs: floats(example.refLogprobs),
    advantageMask: floats(example.advantageMask),
    policyWeights: floats(example.policyWeights),
    kept: Uint8Array.from({ length: rows }, (_, row) =>
      filter === 'none' || Math.floor(row / example.rows) % 2 === 1 ? 1 : 0,
    ),
    episodes: Array.from({ length: rows }, (_, row) => {
      const episode = example.episodes[row % example.rows];
      if (!episode) throw new Error('the example has no episodes');
      return { ...episode, row, group: Math.floor(row / example.rows) };
    }),
  };
}

/** What a worker says to a configuration that cannot run. */
export function fakeRefusal(config: RunConfig): RunEvent | null {
  const problems = contradictions(config);
  if (problems.length === 0) return null;
  return {
    type: 'error',
    message: problems.map(problemText).join('\n'),
    hint: 'Change the knobs named.',
    fatal: false,
    fields: [],
  };
}
