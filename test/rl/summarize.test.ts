import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { PolicyReport, StepStats } from '../../src/model/policyReport.ts';
import type { EpisodeView } from '../../src/domain/episode.ts';
import { invariants } from '../../src/rl/invariants.ts';
import { episodeRecord } from '../../src/rl/episodeRecord.ts';
import { creditSettings } from '../../src/rl/settings.ts';
import { batchView, type UpdateMeasurements, summarize } from '../../src/rl/summarize.ts';
import { Role } from '../../src/domain/tokens.ts';
import { PLAIN } from './worked.ts';

// Four rollouts of five tokens, two of each prompt: P prompt, a the agent's, s the agent's where one token is legal, o answer.
const ROWS = ['Paoa.', 'Psa..', 'Psoa.', 'Paaaa'];
const [B, T] = [4, 5];
const PAID = [1, -0.5, 0.25, 0]; // on the last token of each row
const LETTERS = { P: Role.prompt, a: Role.action, s: Role.action, o: Role.observation, '.': Role.pad } as const;

function record() {
  const made = episodeRecord(B, T);
  ROWS.forEach((row, r) => {
    const written = row.replaceAll('.', '');
    const o = written.indexOf('o');
    Array.from(written).forEach((letter, t) => {
      const turn = letter === 'P' ? 0 : o >= 0 && t > o ? 2 : 1;
      const role = LETTERS[letter as keyof typeof LETTERS];
      const drawn = role === Role.action;
      const logprob = drawn ? -0.1 * (r + 1) : 0;
      const origin = { role, turn, grammarState: drawn ? 1 : 0, logprob, onlyLegal: letter === 's' };
      made.push(r, 10 * r + t, drawn ? { ...origin, drawnLogprob: logprob + 0.05 } : origin);
    });
    if (PAID[r] !== 0) made.pay(r, written.length - 1, r === 1 ? 'format' : 'outcome', PAID[r]!);
  });
  return made;
}

const EPISODE = {
  ...{ seed: 1, environmentSeed: 1, question: '', names: new Map(), preferenceScore: null, scores: null },
  ...{ turns: 1, toolCalls: 0, invalidTurns: 0, waited: 0, success: false, stop: 'answered', reward: 0 },
} as unknown as EpisodeView;
const NOTHING = {
  outcome: 0,
  process: 0,
  call: 0,
  format: 0,
  turnCost: 0,
  think: 0,
  preference: 0,
  information: 0,
} as EpisodeView['parts'];

const EPISODES: EpisodeView[] = [
  { ...EPISODE, row: 0, group: 0, parts: { ...NOTHING, outcome: 1 }, success: true, turns: 2, toolCalls: 1 },
  { ...EPISODE, row: 1, group: 0, parts: { ...NOTHING, format: -0.5 }, invalidTurns: 1, preferenceScore: 2 },
  { ...EPISODE, row: 2, group: 1, parts: { ...NOTHING, outcome: 0.25 }, turns: 2, toolCalls: 1, waited: 3 },
  { ...EPISODE, row: 3, group: 1, parts: NOTHING, stop: 'tokens', preferenceScore: 1 },
];

/** One number for each token, by its letter. */
const each = (of: Partial<Record<string, number>>) => Float32Array.from(ROWS.join(''), (letter) => of[letter] ?? 0);
const AGENT = { a: 1, s: 1 };

const STEP: StepStats = {
  observationLoss: 2,
  teacherKl: 3,
  ...{ policyLoss: 1, entropy: 2, kl: 3, clipFraction: 0.25, clipFractionLower: 0.125, approxKl: 0.5, valueLoss: 4 },
  ...{
    total: 5,
    gradNorm: 6,
    criticGradNorm: 7,
    tokens: 8,
    computedTokens: 30,
    trainedTokens: 100,
    skipped: '',
    culprit: '',
  },
};
const OTHER: StepStats = {
  observationLoss: 4,
  teacherKl: 5,
  ...{ policyLoss: 3, entropy: 4, kl: 5, clipFraction: 0.75, clipFractionLower: 0.375, approxKl: 1.5, valueLoss: 8 },
  ...{
    total: 9,
    gradNorm: 10,
    criticGradNorm: 11,
    tokens: 8,
    computedTokens: 12,
    trainedTokens: 20,
    skipped: '',
    culprit: '',
  },
};

function report(): PolicyReport {
  const agent = each(AGENT);
  return {
    logprobs: record().logprobs.map((l) => (l === 0 ? 0 : l - 0.01)),
    refLogprobs: record().logprobs.map((l) => (l === 0 ? 0 : l - 0.21)),
    entropies: each({ a: 0.6, s: 0 }),
    values: each({ a: 0.5, s: 0.5, o: 9 }),
    advantages: each({ a: 2, s: -1, o: 9 }),
    returns: each({ a: 1, s: 0, o: 9 }),
    rewards: each({ a: 0.1 }),
    ...{ lossMask: agent, regularizerMask: agent, valueMask: agent, advantageMask: agent, whitenMask: agent },
    observationMask: each({ o: 1 }),
    gradWeights: each({ a: -0.5, s: 0.25 }),
    policyWeights: each({ a: -0.5, s: 0.25 }),
    earlierEpochs: [],
    steps: [STEP, OTHER, { ...STEP, gradNorm: NaN, skipped: 'non-finite' }],
  };
}

function measured(knobs: Record<string, unknown> = {}, more: Partial<UpdateMeasurements> = {}): UpdateMeasurements {
  const config = parseConfig({ estimator: 'grpo', klCoef: 0, ...knobs });
  return {
    rollouts: { record: record(), groups: Int32Array.of(0, 0, 1, 1), episodes: EPISODES },
    filtered: {
      ...{ groups: Int32Array.of(0, 0, 1, 1), keptGroups: 2, totalGroups: 2, uniformGroups: 0, scale: 1 },
      spread: new Map(),
    },
    report: report(),
    config,
    credit: creditSettings(config, 0, 1),
    learningRate: 7e-4, // of a rate that is still rising
    times: { rollout: 300, environment: 100, learn: 700 },
    countersBefore: { dispatches: 1, submits: 2, readbacks: 3, uploadBytes: 4, creations: 5 },
    countersAfter: { dispatches: 11, submits: 22, readbacks: 33, uploadBytes: 44, creations: 55 },
    ...more,
  };
}

/** Close to the worked numbers: float32 holds what is averaged. */
function says(metrics: Record<string, number | undefined>, want: Record<string, number>) {
  for (const [name, value] of Object.entries(want)) expect(metrics[name], name).toBeCloseTo(value, 6);
}

describe('what is said of an update', () => {
  test('rewards: means over rollouts, spread within prompts, parts that were paid', () => {
    const metrics = summarize(measured());
    says(metrics, {
      'critic/score/mean': 0.75 / 4,
      'critic/score/min': -0.5,
      'critic/score/max': 1,
      // two of a prompt: |difference| / √2
      'rollout/in_group_reward_std': (1.5 / Math.SQRT2 + 0.25 / Math.SQRT2) / 2,
      'rollout/zero_std_groups': 0,
      'reward/outcome': 1.25 / 4,
      'reward/format': -0.5 / 4,
      'reward_model/score': 1.5, // of the two it judged
    });
    expect(Object.keys(metrics).filter((name) => name.startsWith('reward/'))).toEqual([
      'reward/outcome',
      'reward/format',
    ]);
    const unjudged = EPISODES.map((episode) => ({ ...episode, preferenceScore: null }));
    expect(summarize(measured({}, { rollouts: { ...measured().rollouts, episodes: unjudged } }))).not.toHaveProperty([
      'reward_model/score',
    ]);
  });

  test('rollouts: turns, calls, waiting, lengths and who wrote how much', () => {
    says(summarize(measured()), {
      'rollout/success': 1 / 4,
      'rollout/invalid_turns': 1 / 4,
      'rollout/truncated': 1 / 4,
      'response_length/mean': 12 / 4, // 10 of the agent, 2 of tools
      'action/ratio': 10 / 12,
      'num_turns/mean': 6 / 4,
      'tool_call_counts/mean': 2 / 4,
      'rollout/waited_turns': 3 / 4,
      'rollout/single_choices': 2 / 10,
      'rollout/choice_entropy': 0.6,
      'rollout/logprob_mismatch': 0.01,
    });
  });

  test('steps: means over those that changed something, the last one by itself', () => {
    const metrics = summarize(measured());
    says(metrics, {
      'actor/pg_loss': 2,
      'actor/entropy': 3,
      'actor/pg_clipfrac': 0.5,
      'actor/pg_clipfrac_lower': 0.25,
      'actor/ppo_kl': 1,
      'actor/ppo_kl_last': 1.5,
      'actor/loss': 7,
      'actor/grad_norm': 8,
      'critic/vf_loss': 6,
      'critic/grad_norm': 9,
      'actor/lr': 7e-4,
    });
    expect(metrics).not.toHaveProperty(['actor/kl_loss']);
    says(summarize(measured({ klCoef: 0.1 })), { 'actor/kl_loss': 4 });
    const none = { ...report(), steps: [{ ...STEP, skipped: 'empty' as const }] };
    expect(summarize(measured({}, { report: none }))).not.toHaveProperty(['actor/pg_loss']);
  });

  test('credit: over the advantage mask; a critic’s explained variance over its own', () => {
    const grpo = summarize(measured());
    says(grpo, { 'critic/advantages/mean': (8 * 2 - 2) / 10, 'rollout/entropy': 0.48 });
    expect(grpo).not.toHaveProperty(['critic/vf_explained_var']);
    // returns 1 ×8, 0 ×2: variance .16; return − value is .5 and −.5: as large
    says(summarize(measured({ estimator: 'gae', critic: 'separate' })), { 'critic/vf_explained_var': 0 });
    const near = { ...report(), values: each({ a: 0.9, s: 0.1 }) };
    says(summarize(measured({ estimator: 'gae', critic: 'separate' }, { report: near })), {
      'critic/vf_explained_var': 1 - (0.04 * 0.16) / 0.16,
    });
    const flat = { ...report(), returns: each({ a: 1, s: 1 }) };
    expect(summarize(measured({ estimator: 'gae', critic: 'separate' }, { report: flat }))).not.toHaveProperty([
      'critic/vf_explained_var',
    ]);
  });

  test('counters are what the update added, speed is tokens over both stages', () => {
    says(summarize(measured()), {
      ...{ 'engine/dispatches': 10, 'engine/submits': 20, 'engine/readbacks': 30, 'engine/upload_bytes': 40 },
      ...{ 'engine/creations': 50, 'engine/tokens_per_second': 16, 'time/rollout': 0.3, 'time/learn': 0.7 },
      ...{ 'engine/computed_tokens': 42, 'engine/trained_tokens': 120 },
      'time/environment': 0.1,
      'time/update': 1,
    });
    const { computedTokens: _, ...uncounted } = STEP;
    const partly = summarize(measured({}, { report: { ...report(), steps: [STEP, uncounted] } }));
    expect(partly).not.toHaveProperty(['engine/computed_tokens']);
    expect(partly).not.toHaveProperty(['engine/trained_tokens']);
    says(summarize(measured({}, { times: { rollout: 0, environment: 0, learn: 0 } })), {
      'engine/tokens_per_second': 0,
    });
  });

  test('what top-k or top-p cut away, and the share a filter kept, where there is one', () => {
    const plain = summarize(measured());
    expect(plain).not.toHaveProperty(['rollout/truncation_kl']);
    expect(plain).not.toHaveProperty(['rollout/filter_kept_ratio']);
    says(summarize(measured({ topK: 3 })), { 'rollout/truncation_kl': 0.05 });
    says(summarize(measured({ topP: 0.9 })), { 'rollout/truncation_kl': 0.05 });
    const half = { ...measured().filtered, groups: Int32Array.of(-1, -1, 1, 1), keptGroups: 1 };
    says(summarize(measured({ filter: 'drop-uniform' }, { filtered: half })), { 'rollout/filter_kept_ratio': 0.5 });
  });

  test('the share of tokens that drifted, in place of the mismatch that would be a bug, where turns of text are encoded again', () => {
    const drifts = ['rollout/drifted_tokens'];
    expect(summarize(measured())).not.toHaveProperty(drifts);
    expect(summarize(measured({ retokenize: 'on' }))).not.toHaveProperty(drifts); // tokens are words
    const text = { language: 'text', env: 'number-hunt', retokenize: 'on' };
    says(summarize(measured(text)), { 'rollout/drifted_tokens': 0, 'rollout/logprob_mismatch': 0.01 });
    const { rollouts } = measured();
    const drifted = Uint8Array.from(each({ s: 1 })); // two of ten
    const metrics = summarize(measured(text, { rollouts: { ...rollouts, record: { ...rollouts.record, drifted } } }));
    says(metrics, { 'rollout/drifted_tokens': 0.2 });
    expect(metrics).not.toHaveProperty(['rollout/logprob_mismatch']);
  });

  test('KL in the reward: its mean over rollouts, its coefficient, and the rewards it left', () => {
    const config = parseConfig({ klRewardEstimator: 'k1' });
    const paid = summarize(measured({ klRewardEstimator: 'k1' }, { credit: creditSettings(config, 0.5, 1) }));
    says(paid, {
      'actor/reward_kl_penalty': 0.2, // old − reference at every token of the agent
      'actor/reward_kl_penalty_coeff': 0.5,
      'critic/rewards/mean': 0.8 / 4,
    });
    expect(summarize(measured())).not.toHaveProperty(['actor/reward_kl_penalty']);
  });
});

describe('what must hold of an update', () => {
  const KEPT = Uint8Array.of(1, 1, 1, 1);

  test('is zero where masks fit the agent’s tokens', () => {
    expect(invariants(record(), report(), KEPT, PLAIN)).toEqual({
      ...{ 'mask/observation_weights': 0, 'mask/observation_share': 0 },
      ...{ 'mask/reward_outside': 0, 'mask/length_mismatch': 0 },
    });
  });

  test('counts observation tokens the policy loss moved, and their share of all weight', () => {
    // two observations of weight .75 beside eight of .5 and two of .25
    const moved = { ...report(), gradWeights: each({ a: -0.5, s: 0.25, o: 0.75 }) };
    says(invariants(record(), { ...moved, policyWeights: each({ o: 0.75 }) }, KEPT, PLAIN), {
      'mask/observation_weights': 2,
      'mask/observation_share': 1.5 / 6,
    });
    // an entropy bonus moves them too, and is not the policy loss
    says(invariants(record(), { ...moved, policyWeights: each({}) }, KEPT, PLAIN), {
      'mask/observation_weights': 0,
      'mask/observation_share': 1.5 / 6,
    });
    expect(invariants(record(), { ...report(), gradWeights: each({}) }, KEPT, PLAIN)['mask/observation_share']).toBe(0);
  });

  test('sums reward that no estimator sees, per rollout that counts', () => {
    const blind = { ...report(), advantageMask: each({}), lossMask: each({}) };
    says(invariants(record(), blind, KEPT, PLAIN), { 'mask/reward_outside': 1.75 / 4 });
    says(invariants(record(), blind, Uint8Array.of(0, 1, 1, 1), PLAIN), { 'mask/reward_outside': 0.75 / 3 });
    expect(invariants(record(), blind, Uint8Array.of(0, 0, 0, 0), PLAIN)['mask/reward_outside']).toBe(0);
  });

  test.each(['lossMask', 'regularizerMask', 'advantageMask', 'whitenMask'] as const)(
    '%s that holds a prompt’s or padding’s token, or leaves an agent’s out, misfits',
    (name) => {
      const misfits = (mask: Float32Array, choicesOnly = false) =>
        invariants(record(), { ...report(), [name]: mask }, KEPT, { ...PLAIN, choicesOnly })['mask/length_mismatch'];
      expect(misfits(each({ ...AGENT, o: 1 }))).toBe(0); // an observation may count where its switch says so
      expect(misfits(each({ ...AGENT, P: 1 }))).toBe(4);
      expect(misfits(each({ ...AGENT, '.': 1 }))).toBe(3);
      expect(misfits(each({ a: 1 }))).toBe(2);
      expect(misfits(each({ s: 1 }))).toBe(4);
    },
  );

  test('a token that the off-policy correction rejects must be out of the losses, and out of no mask of credit', () => {
    const rejected = Uint8Array.from(each({ s: 1 }));
    const [all, choices] = [each(AGENT), each({ a: 1 })];
    const misfits = (masks: object) =>
      invariants(record(), { ...report(), ...masks }, KEPT, PLAIN, rejected)['mask/length_mismatch'];
    expect(misfits({ lossMask: choices, regularizerMask: choices })).toBe(0);
    expect(misfits({ lossMask: choices, regularizerMask: all })).toBe(2);
    expect(misfits({ lossMask: choices, regularizerMask: choices, advantageMask: choices })).toBe(2);
  });

  test('a whitening mask with one token of each turn fits only where turns are whitened', () => {
    const whitened = { ...report(), whitenMask: each({ a: 1 }) };
    expect(invariants(record(), whitened, KEPT, PLAIN)['mask/length_mismatch']).toBe(2);
    expect(invariants(record(), whitened, KEPT, { ...PLAIN, estimator: 'turn-gae' })['mask/length_mismatch']).toBe(0);
  });

  test('choices of one are left out where that is asked for, and only there', () => {
    const choices = each({ a: 1 });
    const left = { lossMask: choices, regularizerMask: choices, advantageMask: choices, whitenMask: choices };
    expect(
      invariants(record(), { ...report(), ...left }, KEPT, { ...PLAIN, choicesOnly: true })['mask/length_mismatch'],
    ).toBe(0);
    expect(invariants(record(), report(), KEPT, { ...PLAIN, choicesOnly: true })['mask/length_mismatch']).toBe(2);
    // what a choice of one is paid is handed on, so it is not lost
    const paid = record();
    paid.pay(1, 1, 'outcome', 3);
    expect(
      invariants(paid, { ...report(), ...left }, KEPT, { ...PLAIN, choicesOnly: true })['mask/reward_outside'],
    ).toBe(0);
    expect(invariants(paid, { ...report(), ...left }, KEPT, PLAIN)['mask/reward_outside']).toBeCloseTo(3 / 4, 12);
  });
});

test('a batch as it is drawn holds what was paid, who is kept, and values of a critic only', () => {
  const { rollouts, filtered, report: told } = measured();
  const half = { ...filtered, groups: Int32Array.of(-1, 0, 1, 1) };
  const seen = batchView(7, rollouts, half, told, parseConfig({ estimator: 'grpo' }));
  expect(seen.update).toBe(7);
  expect([...seen.kept]).toEqual([0, 1, 1, 1]);
  expect(Object.keys(seen.parts).sort()).toEqual(['format', 'outcome']);
  expect(seen.values.every((v) => v === 0)).toBe(true);
  expect(seen.values).toHaveLength(B * T);
  expect(seen).not.toHaveProperty('drawnLogprobs');
  const critic = parseConfig({ estimator: 'gae', critic: 'separate' });
  expect(batchView(7, rollouts, half, told, critic).values).toBe(told.values);
  expect(batchView(7, rollouts, half, told, parseConfig({ topP: 0.9 })).drawnLogprobs).toBe(
    rollouts.record.drawnLogprobs,
  );
  expect(batchView(7, rollouts, half, told, parseConfig({ topK: 2 })).drawnLogprobs).toBe(
    rollouts.record.drawnLogprobs,
  );
});
