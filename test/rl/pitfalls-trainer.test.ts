import { describe, expect, test } from 'vitest';
import { noProgress } from '../../src/domain/progress.ts';
import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import { createEnv } from '../../src/envs/index.ts';
import type { Metrics } from '../../src/domain/metrics.ts';
import type { TrainingEvent } from '../../src/domain/trainingEvent.ts';
import { createKlController } from '../../src/rl/klController.ts';
import { train } from '../../src/rl/trainer.ts';
import { openSession, type Session } from '../../src/session/session.ts';
import { fakePolicy } from './fakePolicy.ts';
import { bareHost } from '../bareHost.ts';

const SMALL = { prompts: 4, groupSize: 4, updates: 100, evalEvery: 0, evalTasks: 4, miEvery: 0, seed: 9 };

/** The trainer on a policy that draws but does not learn. */
function run(knobs: Record<string, unknown>) {
  let config: RunConfig = parseConfig({ ...SMALL, ...knobs });
  const env = createEnv(config);
  const policy = fakePolicy(config.prompts * config.groupSize, env.maxTokens, env.vocabulary.length);
  const events = train({
    policy,
    env,
    rewardModel: null,
    config: () => config,
    now: () => 0,
    yieldToEvents: () => Promise.resolve(),
    lastConfig: null,
    weightQueue: { earlier: [] },
    progress: noProgress(),
  });
  const until = async (wanted: (event: TrainingEvent) => boolean) => {
    const seen: TrainingEvent[] = [];
    for (;;) {
      const { value } = await events.next();
      seen.push(value);
      if (wanted(value)) return seen;
    }
  };
  return {
    policy,
    until,
    configure: (changes: Record<string, unknown>) => (config = parseConfig({ ...config, ...changes })),
  };
}
const metricsOf = (update: number) => (event: TrainingEvent) => event.type === 'metrics' && event.update === update;

/** The real thing, tiny, on the CPU. */
const open = (knobs: Record<string, unknown>) =>
  openSession(
    parseConfig({ ...SMALL, backend: 'cpu', warmStart: 'none', width: 8, heads: 2, kvHeads: 2, ffn: 8, ...knobs }),
    bareHost,
    () => undefined,
  );
async function update(session: Session, number: number): Promise<Metrics> {
  for (;;) {
    const { value } = (await session.events.next()) as { value: TrainingEvent };
    if (value.type === 'metrics' && value.update === number) return value.values;
  }
}

describe('group filters in the loop', () => {
  // nothing is ever paid, so every group is uniform
  const NOTHING = { outcomeReward: 0, processReward: 0, invalidPenalty: 0 };

  test('a batch whose groups are all uniform takes no step; after five in a row the run pauses and says why', async () => {
    const { policy, until } = run({ ...NOTHING, filter: 'drop-uniform' });
    const seen = await until(({ type }) => type === 'running');
    expect(policy.learned).toEqual([]);
    const updates = seen.flatMap((event) => (event.type === 'metrics' ? [event.update] : []));
    expect(updates).toEqual([0, 1, 2, 3, 4, 5]);
    expect(seen.at(-1)).toMatchObject({ type: 'running', running: false, finished: false, update: 5 });
    const error = seen.at(-2)!;
    expect(error).toMatchObject({ type: 'error', fatal: false, fields: ['filter', 'temperature'] });
    // and it can be run on
    await until(metricsOf(6));
  });

  test('without a filter uniform groups are learned from as ever', async () => {
    const { policy, until } = run(NOTHING);
    await until(metricsOf(1));
    expect(policy.learned).toHaveLength(4);
  });

  test('a quarter of the prompts makes a quarter of the minibatches, and only their rows have masks', async () => {
    const { policy, until } = run({ prompts: 8, minibatches: 4, filter: 'top-fraction', filterShare: 0.25, epochs: 1 });
    const seen = await until(metricsOf(1));
    const batch = seen.find((event) => event.type === 'batch');
    if (batch?.type !== 'batch') throw new Error('want a batch');
    const { kept, advantageMask, length } = batch.batch;
    expect(kept.reduce((a, b) => a + b, 0)).toBe(2 * 4);
    expect(policy.learned.map(({ rows }) => rows.length)).toEqual([8]);
    for (const row of policy.learned[0]!.rows) expect(kept[row]).toBe(1);
    kept.forEach((k, row) => {
      const masked = advantageMask.subarray(row * length, (row + 1) * length).some((m) => m !== 0);
      expect(masked).toBe(k === 1);
    });
  });

  test('linear scaling makes advantages smaller by the kept share', async () => {
    const advantage = async (filterScaling: string) => {
      const { until } = run({ prompts: 8, filter: 'top-fraction', filterShare: 0.25, filterScaling });
      const batch = (await until(metricsOf(1))).find((event) => event.type === 'batch');
      if (batch?.type !== 'batch') throw new Error('want a batch');
      return Math.max(...batch.batch.advantages);
    };
    const plain = await advantage('none');
    expect(plain).toBeGreaterThan(0);
    // float32 rounding of one product
    expect((await advantage('linear')) / plain).toBeCloseTo(0.25, 6);
    expect((await advantage('sqrt')) / plain).toBeCloseTo(0.5, 6);
  });

  test('filters see the raw score: KL and whitening cannot make a uniform group look different', async () => {
    const session = await open({ outcomeReward: 0, invalidPenalty: 0, filter: 'top-p', klRewardCoef: 1, updates: 2 });
    const values = await update(session, 1);
    expect(values['rollout/filter_kept_ratio']).toBe(0);
    session.dispose();
  });
});

describe('KL in the reward', () => {
  test('the coefficient starts at the knob, moves by the controller, and starts anew when the knob moves', () => {
    const penalty = createKlController();
    const config = parseConfig({ klRewardCoef: 0.001, klTarget: 0.1, klHorizon: 1e4 });
    expect(penalty.coefficient(config)).toBe(0.001);
    penalty.observe({ 'actor/reward_kl_penalty': 0.2 }, config, 128);
    expect(penalty.coefficient(config)).toBeCloseTo(0.00100256, 12);
    expect(penalty.coefficient({ ...config, klRewardCoef: 0.01 })).toBe(0.01);
    penalty.observe({ 'actor/reward_kl_penalty': 0.2 }, { ...config, klTarget: 0 }, 128);
    expect(penalty.coefficient({ ...config, klRewardCoef: 0.01 })).toBe(0.01);
  });

  test('it is 0 while the policy is its reference, then taken off the reward at agent tokens', async () => {
    const session = await open({ estimator: 'reinforce++', klRewardCoef: 0.5, learningRate: 0.02, outcomeReward: 0 });
    const first = await update(session, 1);
    // the reference is scored by the same arithmetic on the same weights
    expect(first['actor/reward_kl_penalty']).toBe(0);
    let last: Metrics = {};
    for (let n = 2; n <= 6; n++) last = await update(session, n);
    expect(Math.abs(last['actor/reward_kl_penalty']!)).toBeGreaterThan(1e-4);
    expect(last['actor/reward_kl_penalty_coeff']).toBe(0.5);
    expect(last['critic/rewards/mean']).not.toBeCloseTo(last['critic/score/mean']!, 4);
    session.dispose();
  });
});

describe('the critic', () => {
  test('in warm-up the policy’s weights stay bit for bit, and move after it', async () => {
    const session = await open({ estimator: 'gae', critic: 'separate', criticWarmup: 3 });
    const start = await session.parametersHash();
    const losses: number[] = [];
    for (let n = 1; n <= 3; n++) losses.push((await update(session, n))['critic/grad_norm']!);
    expect(await session.parametersHash()).toBe(start);
    expect(losses.every((norm) => norm > 0)).toBe(true);
    await update(session, 4);
    expect(await session.parametersHash()).not.toBe(start);
    session.dispose();
  });

  test('explained variance is left out where returns do not vary, and never NaN', async () => {
    // λ = 1 and a critic that still says 0: every return is 0
    const session = await open({ estimator: 'gae', outcomeReward: 0, processReward: 0, invalidPenalty: 0 });
    const values = await update(session, 1);
    expect('critic/vf_explained_var' in values).toBe(false);
    session.dispose();
    const paid = await open({ estimator: 'gae', processReward: 0.5 });
    expect((await update(paid, 1))['critic/vf_explained_var']).toSatisfy(Number.isFinite);
    paid.dispose();
  });
});

test.each([0.4, 2])(
  'at temperature %f what was drawn is what is scored, and what is learned from',
  async (temperature) => {
    const session = await open({ epochs: 1, minibatches: 1, processReward: 0.5, temperature });
    const values = await update(session, 1);
    // float32 rounding of log-probabilities of a few nats; at another temperature they would be off by a nat
    expect(values['rollout/logprob_mismatch']).toBeLessThan(1e-4);
    expect(values['actor/ppo_kl']).toBe(0);
    session.dispose();
  },
);

test('before the first step the ratio is 1; the KL to the old policy grows with the passes over a batch', async () => {
  const once = await open({ epochs: 1, minibatches: 1, processReward: 0.5 });
  const fresh = await update(once, 1);
  // the same float32 arithmetic scores and learns
  expect(fresh['actor/ppo_kl']).toBe(0);
  expect(fresh['actor/pg_clipfrac']).toBe(0);
  once.dispose();
  const kl = async (epochs: number) => {
    const session = await open({ epochs, minibatches: 1, processReward: 0.5, learningRate: 0.01 });
    const values = await update(session, 1);
    session.dispose();
    return values['actor/ppo_kl_last']!;
  };
  const [two, eight] = [await kl(2), await kl(8)];
  expect(two).toBeGreaterThan(0);
  expect(eight).toBeGreaterThan(1.5 * two);
});

test('the first GRPO step has a loss of 0 and a gradient that is not', async () => {
  const session = await open({
    epochs: 1,
    minibatches: 1,
    processReward: 0.5,
    entropyCoef: 0,
    aggregation: 'seq-mean-token-mean',
  });
  const values = await update(session, 1);
  // Σ over a group of (S − mean) is 0; float32 advantages leave rounding
  expect(Math.abs(values['actor/pg_loss']!)).toBeLessThan(1e-6);
  expect(values['actor/grad_norm']).toBeGreaterThan(1e-3);
  session.dispose();
});

test('the rollouts of a group play the same task, and groups play different ones', async () => {
  const { until } = run({ env: 'multi-hop', prompts: 4, groupSize: 4 });
  const batch = (await until(metricsOf(1))).find((event) => event.type === 'batch');
  if (batch?.type !== 'batch') throw new Error('want a batch');
  const asked = new Map<number, Set<string>>();
  for (const { group, question } of batch.batch.episodes) {
    asked.set(group, (asked.get(group) ?? new Set()).add(question));
  }
  expect([...asked.values()].map((questions) => questions.size)).toEqual([1, 1, 1, 1]);
  expect(new Set([...asked.values()].flatMap((questions) => [...questions])).size).toBe(4);
});
