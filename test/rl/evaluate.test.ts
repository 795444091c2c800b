import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { PRESETS } from '../../src/config/presets.ts';
import { countSolved, evaluate } from '../../src/rl/evaluate.ts';
import { distinctSeeds, evaluatedReset, evaluatedTasks } from '../../src/rl/evaluatedTasks.ts';
import { evalTaskSeed } from '../../src/rl/settings.ts';
import { Purpose, streamKey } from '../../src/base/rng.ts';
import { factsFor } from '../envs/factFiles.ts';
import { fakePolicy } from './fakePolicy.ts';

async function evaluated(knobs: Record<string, unknown>, update: number) {
  const config = parseConfig({ evalTasks: 20, updates: 8, ...knobs });
  const env = createEnv(config, factsFor(config.env));
  const policy = fakePolicy(12, env.maxTokens, env.vocabulary.length);
  const { values, solved } = await evaluate(policy, env, config, update, { yieldToEvents: () => Promise.resolve() });
  return { values, solved, policy, config };
}

const USUAL = [
  'eval/tasks',
  'eval/all_tasks',
  'eval/success',
  'eval/success_sampled',
  'eval/malformed',
  'eval/malformed_sampled',
  'eval/calls',
  'eval/score',
];

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

  it.each([
    'number-hunt',
    'bandit',
    'multi-hop',
    'calculator',
    'countdown',
    'frozen-lake',
    'sokoban',
    'document-search',
  ])(
    'of %s says of each different task whether greedy play solved it, under the name it has in every run',
    async (env) => {
      const first = await evaluated({ env }, 3);
      const solved = [...first.solved.values()];
      expect(solved).toHaveLength(first.values['eval/tasks']!);
      expect(solved.filter((is) => is).length / solved.length).toBeCloseTo(first.values['eval/success']!, 12);
      // another run with the same seed meets the same tasks, whatever it learns by
      const other = await evaluated({ env, evalTasks: 20, estimator: 'rloo', learningRate: 1e-4 }, 8);
      expect([...other.solved.keys()]).toEqual([...first.solved.keys()]);
    },
  );

  it('draws from a stream that training never uses, and learns nothing', async () => {
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

  it('says which share of the turns were malformed, greedy and sampled: all of a player who writes what is no turn', async () => {
    const { values } = await evaluated({ env: 'multi-hop', grammar: 'off' }, 3);
    const { values: masked } = await evaluated({ env: 'multi-hop' }, 3);
    for (const name of ['eval/malformed', 'eval/malformed_sampled'] as const) {
      expect(values[name], name).toBe(1);
      expect(masked[name], name).toBeLessThan(1);
    }
  });

  it('counts the calls that a tool answered, an episode: none of a player who writes what is no turn', async () => {
    const { values } = await evaluated({ env: 'number-hunt', grammar: 'off' }, 3);
    const { values: masked } = await evaluated({ env: 'number-hunt', maxTurns: 4 }, 3);
    expect(values['eval/calls']).toBe(0);
    // the same number in all four turns, but for the one task of sixteen where the first is right
    expect(masked['eval/calls']).toBe((15 * 4 + 1) / 16);
  });

  // multi-hop has more tasks than can be drawn; the preset Countdown holds out 21
  it.each([
    ['countdown', 20, 20, 0],
    ['countdown', 21, 21, 1],
    ['countdown', 22, 21, 1],
    ['multi-hop', 20, 20, 0],
    ['number-hunt', 4, 16, 1],
  ] as const)(
    'of %s with evalTasks %i plays %i tasks, which are all there are: %i',
    async (env, evalTasks, tasks, all) => {
      const knobs = env === 'countdown' ? PRESETS.countdown.set : { env };
      const { values } = await evaluated({ ...knobs, evalTasks }, 3);
      expect([values['eval/tasks'], values['eval/all_tasks']]).toEqual([tasks, all]);
    },
  );

  it('gives a task the same random environment every time, whatever the run gives its rollouts', async () => {
    const metByRun: string[] = [];
    for (const [randomness, update] of [
      ['own', 1],
      ['own', 5],
      ['group', 5],
    ] as const) {
      const config = parseConfig({ env: 'frozen-lake', evalTasks: 6, randomness });
      const env = createEnv(config);
      const met: (readonly [number, number | undefined])[] = [];
      const { heldOut, shifted } = env.splits;
      const reset = (...[seed, now, given]: Parameters<typeof env.reset>) => {
        if (given !== undefined) met.push([seed, given]);
        return heldOut!.reset(seed, now, given);
      };
      const noted = { ...env, splits: { heldOut: { ...heldOut!, reset }, shifted } };
      const policy = fakePolicy(6, env.maxTokens, env.vocabulary.length);
      await evaluate(policy, noted, config, update, { yieldToEvents: () => Promise.resolve() });
      expect(new Set(met.map(([, given]) => given)).size).toBe(6);
      metByRun.push(JSON.stringify(met));
    }
    expect(new Set(metByRun).size).toBe(1);
  });

  it.each([
    ['number-hunt', { range: 16, evalTasks: 128 }, 16, 128],
    ['number-hunt', { range: 16, evalTasks: 9 }, 16, 16], // a share of all tasks is of all
    ['number-hunt', { range: 10, evalTasks: 128 }, 10, 120],
    ['bandit', { evalTasks: 20 }, 8, 16],
    ['multi-hop', { evalTasks: 20 }, 20, 20],
    ['multi-hop', { evalTasks: 20, oneHopShare: 1 }, 20, 20],
  ] as const)(
    'of %s %o counts %i tasks, each once greedy, and %i episodes at the temperature',
    async (env, knobs, tasks, sampled) => {
      const { values, policy } = await evaluated({ env, ...knobs }, 3);
      expect(values['eval/tasks']).toBe(tasks);
      expect(policy.calls.filter((call) => call === 'beginRow')).toHaveLength(tasks + sampled);
      expect(values['eval/success']! * tasks).toBeCloseTo(Math.round(values['eval/success']! * tasks), 9);
    },
  );

  it.each(['countdown', 'your-facts', 'document-search'])('of %s counts a task that is drawn twice once', (name) => {
    const config = parseConfig({ ...PRESETS[name as 'countdown'].set, evalTasks: 1024 });
    const env = createEnv(config, factsFor(config.env));
    const begin = evaluatedReset(env);
    const seeds = distinctSeeds(env, begin, config);
    const keys = new Set(seeds.map((seed) => begin(seed, envSettings(config)).key));
    expect(keys.size).toBe(seeds.length);
    // nothing new in as many draws again
    const more = Array.from({ length: 3000 }, (_, i) => begin(evalTaskSeed(11, i), envSettings(config)).key);
    expect(seeds.length).toBeLessThan(1024);
    expect(new Set(more).size).toBeLessThanOrEqual(seeds.length + 1);
  });

  it('finds the same usual numbers whether or not it is full', async () => {
    const [short, full] = await Promise.all(
      ['held-out', 'full'].map((evaluation) => evaluated({ env: 'multi-hop', evaluation }, 0)),
    );
    expect(full!.values).toMatchObject(short!.values);
  });
});

it('rounds of a sampled evaluation play the same tasks, each round with dice of its own', () => {
  const config = parseConfig({ evalTasks: 7, seed: 3 });
  const rounds = evaluatedTasks([50, 60, 70], config, 'rounds');
  expect(rounds.map(({ seed }) => seed)).toEqual([50, 60, 70, 50, 60, 70]);
  expect(new Set(rounds.map(({ environmentSeed }) => environmentSeed)).size).toBe(6);
  expect(rounds.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
  // the first round is the greedy evaluation's, dice and all
  expect(evaluatedTasks([50, 60, 70], config, 'once')).toEqual(rounds.slice(0, 3));
});

it('counts how often each training task is solved: each is played equally often, with draws of its own', async () => {
  const config = parseConfig({ env: 'number-hunt', range: 4, maxTurns: 1 });
  const env = createEnv(config, factsFor(config.env));
  const policy = fakePolicy(12, env.maxTokens, env.vocabulary.length);
  const size = { tasks: 3, tries: 40 };
  const solved = await countSolved(policy, env, config, size, () => Promise.resolve());
  expect(policy.calls.filter((call) => call === 'beginRow').length).toBeGreaterThanOrEqual(120);
  expect(solved).toHaveLength(3);
  // a policy that guesses solves each of them at times, and none always
  for (const count of solved) expect(count).toBeGreaterThan(0);
  for (const count of solved) expect(count).toBeLessThan(40);
});
