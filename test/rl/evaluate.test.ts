import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config.ts';
import { createEnv } from '../../src/envs/index.ts';
import { evaluate } from '../../src/rl/evaluate.ts';
import { Purpose, streamKey } from '../../src/rng.ts';
import { factsFor } from '../envs/factFiles.ts';
import { fakePolicy } from './fakePolicy.ts';

async function evaluated(knobs: Record<string, unknown>, update: number) {
  const config = parseConfig({ evalTasks: 20, updates: 8, ...knobs });
  const env = createEnv(config, factsFor(config.env));
  const policy = fakePolicy(12, env.maxTokens, env.vocabulary.length);
  const values = await evaluate(policy, env, config, update, () => Promise.resolve());
  return { values, policy, config };
}

const USUAL = ['eval/success', 'eval/success_sampled', 'eval/score'];

describe('an evaluation', () => {
  it.each([
    ['multi-hop', 'held-out', 0, [...USUAL, 'eval/naive_rag']],
    ['multi-hop', 'held-out', 3, USUAL],
    ['multi-hop', 'full', 0, [...USUAL, 'eval/naive_rag', 'eval/success_shifted']],
    ['multi-hop', 'full', 3, USUAL],
    ['multi-hop', 'full', 8, [...USUAL, 'eval/success_shifted']],
    ['world-facts', 'full', 0, [...USUAL, 'eval/naive_rag', 'eval/success_entities', 'eval/success_shifted']],
    ['world-facts', 'full', 8, [...USUAL, 'eval/success_entities', 'eval/success_shifted']],
    ['number-hunt', 'full', 0, [...USUAL, 'eval/success_shifted']],
    ['number-hunt', 'full', 8, [...USUAL, 'eval/success_shifted']],
  ])('of %s, %s, at update %i says %j', async (env, evaluation, update, want) => {
    const { values } = await evaluated({ env, evaluation }, update);
    expect(Object.keys(values)).toEqual(want);
    for (const value of Object.values(values)) expect(value).toBeGreaterThanOrEqual(0);
  });

  it('T59 draws from a stream that training never uses, and learns nothing', async () => {
    const { policy, config } = await evaluated({ env: 'multi-hop', evaluation: 'full' }, 0);
    expect(policy.samplings.length).toBe(4); // plays of 20 tasks in rows of 12
    for (const { key } of policy.samplings) expect(key).toBe(streamKey(config.seed, Purpose.evalSample));
    expect(new Set(policy.calls)).toEqual(new Set(['begin', 'beginRow', 'decode']));
    const greedy = policy.samplings.map((sampling) => sampling.greedy);
    expect(greedy).toEqual([true, false, true, true]);
  });

  // a bandit whose player likes one of the eight arms best, whatever is on offer: in a quarter of the tasks that arm is the right one
  const success = async (temperature: number) => {
    const { values } = await evaluated({ env: 'bandit', evalTasks: 200, temperature }, 0);
    return { greedy: values['eval/success']!, sampled: values['eval/success_sampled']!, score: values['eval/score']! };
  };

  it('samples at the temperature of training: the colder, the more like greedy', async () => {
    const [frozen, cold, hot] = [await success(0.05), await success(0.5), await success(5)];
    expect(frozen.sampled).toBe(frozen.greedy);
    expect(cold.sampled).not.toBe(frozen.sampled);
    // eight arms almost alike, one of them right: four standard errors of a share of 200
    expect(Math.abs(hot.sampled - 1 / 8)).toBeLessThan(4 * Math.sqrt(7 / 64 / 200));
    expect(frozen.sampled).toBeGreaterThan(1 / 8 + 4 * Math.sqrt(7 / 64 / 200));
  });

  it('tells greedy success and its reward, which no temperature changes, from sampled success', async () => {
    const [cold, hot] = [await success(0.5), await success(5)];
    expect(cold.greedy).toBe(hot.greedy);
    expect(cold.score).toBe(hot.score);
    expect(cold.sampled).not.toBe(hot.sampled);
  });

  it('gives a task the same luck every time, whatever the run gives its rollouts', async () => {
    const lucks: string[] = [];
    for (const [luck, update] of [
      ['own', 1],
      ['own', 5],
      ['group', 5],
    ] as const) {
      const config = parseConfig({ env: 'frozen-lake', evalTasks: 6, luck });
      const env = createEnv(config);
      const met: (readonly [number, number | undefined])[] = [];
      const noted = {
        ...env,
        reset: (...[seed, settings, given]: Parameters<typeof env.reset>) => {
          met.push([seed, given]);
          return env.reset(seed, settings, given);
        },
      };
      const policy = fakePolicy(6, env.maxTokens, env.vocabulary.length);
      await evaluate(policy, noted, config, update, () => Promise.resolve());
      expect(new Set(met.map(([, given]) => given)).size).toBe(6);
      lucks.push(JSON.stringify(met));
    }
    expect(new Set(lucks).size).toBe(1);
  });

  it('T59 finds the same usual numbers whether or not it is full', async () => {
    const [short, full] = await Promise.all(
      ['held-out', 'full'].map((evaluation) => evaluated({ env: 'multi-hop', evaluation }, 0)),
    );
    expect(full!.values).toMatchObject(short!.values);
  });
});
