import { describe, expect, test } from 'vitest';
import { ALGORITHM_NAMES, algorithmOf, ALGORITHMS } from '../src/config/algorithms.ts';
import { parseConfig, type RunConfig } from '../src/config/config.ts';
import { contradictions, warnings } from '../src/config/contradictions.ts';
import { ConfigError } from '../src/config/configProblem.ts';
import { problemText } from '../src/base/problem.ts';
import { FIELDS } from '../src/config/fields.ts';
import type { RunEvent } from '../src/wire/commands.ts';
import { openSession, type Session } from '../src/session/session.ts';
import { bareHost } from './bareHost.ts';

const TINY = {
  backend: 'cpu',
  warmStart: 'none',
  prompts: 4,
  groupSize: 4,
  width: 8,
  heads: 2,
  kvHeads: 2,
  ffn: 8,
  evalTasks: 4,
  evalEvery: 0,
  seed: 3,
};

const open = (knobs: Record<string, unknown>) =>
  openSession(parseConfig({ ...TINY, ...knobs }), bareHost, () => undefined);

/** Runs on for some updates; every number must be finite and no step skipped for want of it. */
async function run(session: Session, from: number, updates: number) {
  let last = from;
  while (last < from + updates) {
    const { value } = (await session.events.next()) as { value: RunEvent };
    if (value.type === 'error') throw new Error(value.message);
    if (value.type !== 'metrics') continue;
    last = value.update;
    for (const [name, number] of Object.entries(value.values)) expect(number, name).toSatisfy(Number.isFinite);
  }
  return last;
}

describe('algorithms', () => {
  test('every algorithm is a configuration that runs, and is recognised as itself', () => {
    for (const name of ALGORITHM_NAMES) {
      const config = parseConfig(ALGORITHMS[name].set);
      expect(contradictions(config), name).toEqual([]);
      expect(algorithmOf(config), name).toBe(name);
    }
  });

  test('a knob between two algorithms belongs to none; one that the algorithm does not use may hold anything', () => {
    const grpo = parseConfig(ALGORITHMS.grpo.set);
    expect(algorithmOf({ ...grpo, clipHigh: 0.25 })).toBeNull();
    expect(algorithmOf({ ...grpo, filterShare: 0.7, whiten: 'off', klEstimator: 'k1' })).toBe('grpo');
    expect(algorithmOf({ ...grpo, divideByStd: 'off' })).toBeNull();
  });

  test('no algorithm needs a restart', () => {
    for (const name of ALGORITHM_NAMES) {
      for (const knob of Object.keys(ALGORITHMS[name].set) as (keyof (typeof ALGORITHMS)['ppo']['set'])[]) {
        expect(FIELDS[knob].when, `${name} ${knob}`).not.toBe('restart');
      }
    }
  });

  test.each(ALGORITHM_NAMES)('%s trains for ten updates and every number stays finite', async (name) => {
    const session = await open({ ...ALGORITHMS[name].set, updates: 10 });
    const before = await session.parametersHash();
    expect(await run(session, 0, 10)).toBe(10);
    expect(await session.parametersHash()).not.toBe(before);
    session.dispose();
  });

  test('one run goes through all of them without a restart', async () => {
    const session = await open({ updates: 100, critic: 'separate' });
    let update = 0;
    for (const name of [...ALGORITHM_NAMES, ...ALGORITHM_NAMES.toReversed()]) {
      session.configure(ALGORITHMS[name].set);
      update = await run(session, update, 2);
      expect(algorithmOf(session.config())).toBe(name);
    }
    expect(update).toBe(2 * 2 * ALGORITHM_NAMES.length);
    session.dispose();
  });
});

describe('combinations that make no sense', () => {
  const reason = (knobs: Record<string, unknown>) => {
    try {
      parseConfig(knobs);
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
    }
    return '';
  };

  test('estimators that compare refuse groups of one and say what to use instead', () => {
    for (const estimator of ['grpo', 'rloo', 'reinforce++-baseline']) {
      expect(reason({ estimator, groupSize: 1 })).toMatch(/groupSize: 1, but .* compares rollouts .* reinforce\+\+/);
    }
    expect(reason({ estimator: 'reinforce++', groupSize: 1 })).toBe('');
  });

  test('are data: the knob, what it is, what it stands against, what to do', () => {
    const [problem, ...others] = contradictions({ ...parseConfig(), estimator: 'gae', critic: 'none' });
    expect(problem).toEqual({
      place: 'critic',
      what: 'none, but gae needs a critic.',
      remedy: 'Set critic to shared or separate, or estimator to grpo.',
    });
    expect(others).toEqual([]);
    expect(problemText(problem!)).toBe(
      'critic: none, but gae needs a critic. Set critic to shared or separate, or estimator to grpo.',
    );
    const head = contradictions({ ...parseConfig(), heads: 32, kvHeads: 3 });
    expect(head.map(({ place, what }) => [place, what.split(',')[0]])).toEqual([
      ['heads', '32'],
      ['kvHeads', '3'],
    ]);
    expect(problemText(head[0]!)).toContain('width 32 / heads 32 = 1, must be even');
  });

  test('a filter without groups, a share that keeps nothing, values without a critic', () => {
    expect(reason({ estimator: 'reinforce++', groupSize: 1, filter: 'top-p' })).toMatch(/the filter top-p compares/);
    expect(reason({ prompts: 3, filter: 'top-fraction', filterShare: 0.25 })).toMatch(/keeps none/);
    expect(reason({ estimator: 'bi-level-gae', critic: 'none' })).toMatch(/bi-level-gae needs a critic/);
    expect(reason({ criticWarmup: 2 })).toMatch(/only a separate critic/);
    expect(reason({ preferenceReward: 1 })).toMatch(/rewardModel: off/);
    expect(reason({ informationReward: 0.1, env: 'countdown' })).toMatch(/countdown has no turn that is known/);
    expect(contradictions(parseConfig({ informationReward: 0.1, env: 'multi-hop' }))).toEqual([]);
  });

  const warned = (config: RunConfig) => warnings(config).map(problemText)[0];
  test('KL twice, KL in a group’s scores, k1 in the loss and a stale plain gradient run but are warned of', () => {
    expect(warnings(parseConfig({ estimator: 'gae' }))).toEqual([]);
    expect(warned(parseConfig({ estimator: 'gae', klCoef: 0.1, klRewardCoef: 0.1 }))).toMatch(/penalised twice/);
    expect(warned(parseConfig({ estimator: 'turn-credit' }))).toMatch(/no turn is paid for progress/);
    expect(warnings(parseConfig({ estimator: 'turn-credit', informationReward: 0.1 }))).toEqual([]);
    expect(warned(parseConfig({ klRewardCoef: 0.1 }))).toMatch(/mixes two scales/);
    expect(warned(parseConfig({ klCoef: 0.1, klEstimator: 'k1' }))).toMatch(/expected gradient of zero/);
    expect(warned(parseConfig({ surrogate: 'plain', epochs: 2 }))).toMatch(/used for 4 steps/);
    expect(warned(parseConfig({ topK: 5 }))).toMatch(
      /^topK: rollouts are drawn from a truncated distribution.* to 0 to draw/,
    );
    expect(warned(parseConfig({ topP: 0.9 }))).toMatch(/^topP: .* Set topP to 1/);
    expect(warned(parseConfig({ staleness: 2 }))).toMatch(/^staleness: older weights draw .* Nothing corrects/);
    const encoded = { env: 'number-hunt', language: 'text', retokenize: 'on' };
    expect(warned(parseConfig(encoded))).toMatch(/^retokenize: the update trains encoded tokens/);
    expect(warned(parseConfig({ ...encoded, rows: 'turn' }))).toBeUndefined();
    for (const off of [{ staleness: 2 }, { topK: 5 }, encoded])
      expect(warned(parseConfig({ ...off, correction: 'truncated' }))).toBeUndefined();
  });
});
