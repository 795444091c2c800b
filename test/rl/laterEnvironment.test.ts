import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { openAll, openEpisode } from '../../src/envs/stepper.ts';
import { evaluate } from '../../src/rl/evaluate.ts';
import { playerBaselines } from '../../src/rl/playerBaselines.ts';
import { rollout } from '../../src/rl/rollout.ts';
import { trainingTasks } from '../../src/rl/trainer.ts';
import { laterEnv, withoutRetrieved } from '../envs/laterEnv.ts';
import { fakePolicy } from './fakePolicy.ts';

const ROWS = 24;
const yieldToEvents = () => Promise.resolve();

describe.each([
  { env: 'number-hunt', processReward: 0.3, decodeChunk: 3 },
  { env: 'multi-hop', failureRate: 0.2, latency: 0.5, grammar: 'off', rewardOnLastAction: 'off' },
])('an environment that answers later: %o', (knobs) => {
  const config = parseConfig({ evalTasks: 30, ...knobs });
  const now = createEnv(config);
  const policy = () => fakePolicy(ROWS, now.maxTokens, now.vocabulary.length);

  it.each([[[]], [now.reset(1, envSettings(config)).expert()]])(
    'plays the rollouts of one that answers at once, the agent’s first tokens being %j',
    async (agentPrefix) => {
      const { env, crossings } = laterEnv(now);
      const request = { ...trainingTasks({ rows: ROWS }, config, 3), agentPrefix };
      const [first, second] = [
        await rollout(policy(), now, request, yieldToEvents),
        await rollout(policy(), env, request, yieldToEvents),
      ];
      const { push, pay, clear, ...arrays } = first.record;
      for (const method of [push, pay, clear]) expect(method).toBeTypeOf('function');
      expect(second.record).toMatchObject(arrays);
      expect(second.episodes).toEqual(first.episodes);
      expect(crossings.opened).toEqual([ROWS]);
      expect(crossings.left.size).toBe(ROWS);
      expect(Math.max(...crossings.answered)).toBeGreaterThan(ROWS / 4); // turns that end together are one crossing
      expect(crossings.answered.every((count) => count > 0)).toBe(true);
    },
  );

  it('is evaluated like one that answers at once, and has no players of its own to compare with', async () => {
    const { env, crossings } = laterEnv(now);
    const first = await evaluate(policy(), withoutRetrieved(now), config, 0, { yieldToEvents });
    const second = await evaluate(policy(), env, config, 0, { yieldToEvents });
    expect(second).toEqual(first);
    const opened = crossings.opened.reduce((sum, count) => sum + count, 0);
    expect(crossings.left.size).toBe(opened);
    expect(await playerBaselines(env, config, yieldToEvents)).toEqual({});
  });

  it('draws nothing while a turn waits, and refuses who can’t wait with what can', async () => {
    const { env } = laterEnv(now);
    const table = { env, settings: envSettings(config) };
    const [stepper] = await openAll(table, [{ seed: 5, environmentSeed: 5 }]);
    if (!stepper) throw new Error('no episode');
    while (stepper.pendingTurn === null) stepper.take(stepper.allowed()[0]!);
    expect([stepper.budget, stepper.allowed(), stepper.stop]).toEqual([0, [], null]);
    expect(() => stepper.take(2)).toThrow(RangeError);
    expect(() => openEpisode(table, { seed: 5, environmentSeed: 5 })).toThrow(/training, evaluation and branches/);
  });
});
