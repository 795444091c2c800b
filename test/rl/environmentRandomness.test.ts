import { describe, expect, it } from 'vitest';
import { FIELDS, parseConfig, type RunConfig } from '../../src/config/config.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { hasRandomness } from '../../src/config/environmentRandomness.ts';
import { groupRelative } from '../../src/rl/advantages.ts';
import { trainingTasks } from '../../src/rl/trainer.ts';
import { factsFor } from '../envs/factFiles.ts';

const GROUP = 16;
const RISKY_CHANCE = 0.25;
const SAFE = 0.1;

/** Mean advantage (over std) of those who chose the risky arm, a group of 16, half of them risky, the k luckiest paid 1. */
function meanOfRisky(paid: number): number {
  const scores = Array.from({ length: GROUP }, (_, i) => (i >= GROUP / 2 ? SAFE : i < paid ? 1 : 0));
  const advantages = groupRelative(scores, new Int32Array(GROUP), 'mean-over-std');
  return advantages.subarray(0, GROUP / 2).reduce((sum, a) => sum + a, 0) / (GROUP / 2);
}

function binomial(n: number, k: number): number {
  let ways = 1;
  for (let i = 0; i < k; i++) ways = (ways * (n - i)) / (i + 1);
  return ways * RISKY_CHANCE ** k * (1 - RISKY_CHANCE) ** (n - k);
}

/** The same by playing: the tasks of training, their environment, the group's advantages. */
function meanPlayed(randomness: RunConfig['randomness']): number {
  const config = parseConfig({ env: 'bandit', prompts: 16, groupSize: GROUP, randomness, seed: 3 });
  const env = createEnv(config);
  const settings = envSettings(config);
  const word = (text: string) => env.vocabulary.indexOf(text);
  let sum = 0;
  let count = 0;
  for (let update = 1; update <= 100; update++) {
    const { tasks, groups } = trainingTasks({ rows: 256 }, config, update);
    const scores = tasks.map((task, row) => {
      const episode = env.reset(task.seed, settings, task.environmentSeed);
      const view = episode.view();
      if (view.kind !== 'bandit') throw new Error('want a bandit');
      const arm = row % 2 === 0 ? view.risky : view.safe;
      return episode.step(['<answer>', arm, '</answer>'].map(word), settings).parts.outcome;
    });
    groupRelative(scores, groups, 'mean-over-std').forEach((advantage, row) => {
      if (row % 2 !== 0) return;
      sum += advantage;
      count++;
    });
  }
  return sum / count;
}

describe('the expected advantage of the risky arm, worth .25 against .1', () => {
  // standard error over 1,600 groups: .021 where a group shares its environment seed, .010 else
  it('is −.48 where a group shares one environmentSeed: it looks worse than it is whenever the dice say no', () => {
    const exact = RISKY_CHANCE * meanOfRisky(8) + (1 - RISKY_CHANCE) * meanOfRisky(0);
    expect(exact).toBeCloseTo(-0.484, 3);
    expect(Math.abs(meanPlayed('group') - exact)).toBeLessThan(0.07);
  });

  it('is +.12 where each rollout has its own', () => {
    const exact = Array.from({ length: 9 }, (_, k) => binomial(8, k) * meanOfRisky(k)).reduce((a, b) => a + b, 0);
    expect(exact).toBeCloseTo(0.121, 3);
    expect(Math.abs(meanPlayed('own') - exact)).toBeLessThan(0.04);
  });
});

describe('the environment seeds of a batch', () => {
  const tasksOf = (randomness: RunConfig['randomness'], update: number) =>
    trainingTasks({ rows: 32 }, parseConfig({ prompts: 4, groupSize: 8, randomness, seed: 5 }), update).tasks;

  it('is each rollout’s own by default, and another in each update', () => {
    expect(parseConfig().randomness).toBe('own');
    const seeds = [1, 2, 3].flatMap((update) => tasksOf('own', update).map(({ environmentSeed }) => environmentSeed));
    expect(new Set(seeds).size).toBe(96);
    expect(tasksOf('own', 2)).toEqual(tasksOf('own', 2));
  });

  it('is the group’s where that is asked for, and the tasks are the same either way', () => {
    const shared = tasksOf('group', 2);
    expect(new Set(shared.map(({ environmentSeed }) => environmentSeed)).size).toBe(4);
    shared.forEach(({ environmentSeed }, row) =>
      expect(environmentSeed).toBe(shared[row - (row % 8)]!.environmentSeed),
    );
    expect(tasksOf('own', 2).map(({ seed }) => seed)).toEqual(shared.map(({ seed }) => seed));
  });
});

const DICE = [{}, { failureRate: 0.5 }, { latency: 1 }, { distractors: 3 }, { slip: 0.6 }, { slip: 0 }];
const CASES = FIELDS.env.choices.flatMap((env) => DICE.map((knobs) => ({ env, ...knobs })));

describe.each(CASES)('%o', (knobs) => {
  const config = parseConfig(knobs);
  const env = createEnv(config, factsFor(config.env));
  const settings = envSettings(config);
  const played = (seed: number, environmentSeed?: number) => {
    const episode = env.reset(seed, settings, environmentSeed);
    const turns = [];
    for (let over = false; !over;) {
      const turn = episode.step(episode.expert(), settings);
      turns.push(turn);
      over = turn.stop !== null;
    }
    return { task: [episode.prompt, episode.question], turns: JSON.stringify(turns) };
  };

  it('throws dice where the page says so; what they give follows from the environment seed, the task does not', () => {
    let others = 0;
    for (let seed = 0; seed < 40; seed++) {
      const [a, again, b] = [played(seed, 100 + seed), played(seed, 100 + seed), played(seed, 900 + seed)];
      expect(again).toEqual(a);
      expect(b.task).toEqual(a.task);
      expect(played(seed)).toEqual(played(seed, seed)); // without an environment seed, the task's own
      if (b.turns !== a.turns) others++;
    }
    expect(others > 0).toBe(hasRandomness(config));
  });
});
