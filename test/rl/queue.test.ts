import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { modelConfig } from '../../src/model/architecture.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import { evaluatedReset } from '../../src/rl/evaluatedTasks.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { evalCounters, evalSampling, evalTaskSeed } from '../../src/rl/settings.ts';
import { makePolicy, ODD, oddGrammar, sampling } from '../model/policies.ts';
import { fakePolicy } from './fakePolicy.ts';
import { lastingEnv, SETTINGS } from './lastingEnv.ts';
import { batched, refilled } from './noting.ts';
import { NAIVE } from '../model/naiveArithmetic.ts';

/** Tasks of these seeds for so many rows, their counters those of batches that begin at update 1. */
const queue = (seeds: readonly number[], rows: number, greedy = false) => ({
  tasks: seeds.map((seed, i) => ({
    seed,
    environmentSeed: seed,
    counters: { update: 1 + Math.floor(i / rows), rollout: i % rows },
  })),
  settings: SETTINGS,
  sampling: { ...sampling(1), greedy },
});

describe('a queue of tasks', () => {
  it('gives a row whose episode is over the next task in the next chunk', async () => {
    // two rows, a chunk a turn: five tasks of 3, 1, 1, 2 and 1 turns
    const env = lastingEnv(oddGrammar(9), 2);
    const request = { ...queue([3, 1, 1, 2, 1], 2), chunk: 8, begin: env.reset };
    const { chunks, episodes } = await refilled(fakePolicy(2, 16, 9), env, request);
    const [a, b, c, d, e] = ['1/0', '1/1', '2/0', '2/1', '3/0'];
    expect(chunks).toEqual([
      [a, b], // b is over
      [a, c], // c
      [a, d], // a
      [e, d], // both
    ]);
    expect(episodes.map(({ seed, turns }) => [seed, turns])).toEqual([3, 1, 1, 2, 1].map((turns) => [turns, turns]));
    const before = await batched(fakePolicy(2, 16, 9), env, request);
    expect(before.chunks).toEqual([[a, b], [a], [a], [c, d], [d], [e]]);
  });

  it.each([0, 1, 3])('of %i tasks for three rows plays each once', async (count) => {
    const env = lastingEnv(oddGrammar(9), 2);
    const request = { ...queue([2, 1, 3].slice(0, count), 3), chunk: 8, begin: env.reset };
    const { episodes } = await refilled(fakePolicy(3, 16, 9), env, request);
    expect(episodes.map(({ seed }) => seed)).toEqual([2, 1, 3].slice(0, count));
  });

  const SEEDS = [13, 21, 2, 41, 51, 63, 32, 71, 81, 12, 93];
  it.each([
    ['sampled, float32', 'f32', false, 5],
    ['sampled, float32, a token a chunk', 'f32', false, 1],
    ['sampled, float64', 'f64', false, 4],
    ['greedy, float32', 'f32', true, 2],
  ] as const)('draws what batches draw, to the last bit: %s', async (_, precision, greedy, chunk) => {
    const policy = makePolicy({ rows: 4, length: 16, ...(precision === 'f64' && { loops: NAIVE.f64 }) });
    const env = lastingEnv(oddGrammar(ODD.vocab_size), 3);
    const request = { ...queue(SEEDS, 4, greedy), chunk, begin: env.reset };
    const before = await batched(policy, env, request);
    const now = await refilled(policy, env, request);
    expect(now.drawn).toEqual(before.drawn);
    expect(now.episodes).toEqual(before.episodes);
    expect(now.chunks.length).toBeLessThan(before.chunks.length);
    expect(now.drawn.size).toBe(SEEDS.length);
    expect(new Set([...now.drawn.values()].map(String)).size).toBe(SEEDS.length); // log-probabilities tell all apart
  });

  it.each(['number-hunt', 'multi-hop', 'frozen-lake'])(
    'comes to what batches come to in %s, greedy and sampled',
    async (name) => {
      const config = parseConfig({ env: name, evalTasks: 20 });
      const env = createEnv(config);
      const model = modelConfig(config, env.vocabulary.length, false);
      const spec = { model, critic: 'none', rows: 6, length: env.maxTokens, minibatchRows: 6 } as const;
      const policy = createCpuPolicy(spec, learningMath, { seed: 5, reason: '' });
      for (const greedy of [false, true]) {
        const request = {
          tasks: Array.from({ length: 20 }, (_, i) => ({
            seed: evalTaskSeed(3, i),
            environmentSeed: i,
            counters: evalCounters(7, i, policy.rows),
          })),
          settings: envSettings(config),
          sampling: evalSampling(config, 7, greedy),
          chunk: config.decodeChunk,
          begin: evaluatedReset(env),
        };
        const before = await batched(policy, env, request);
        const now = await refilled(policy, env, request);
        expect(JSON.stringify(now.episodes)).toBe(JSON.stringify(before.episodes));
        expect(now.drawn).toEqual(before.drawn);
        expect(now.drawn.size).toBe(20);
        expect(now.chunks.length).toBeLessThanOrEqual(before.chunks.length);
      }
    },
  );
});
