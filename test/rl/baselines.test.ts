import { describe, expect, it } from 'vitest';
import { FIELDS, parseConfig } from '../../src/config/config.ts';
import { createEnv } from '../../src/envs/index.ts';
import { factsFor } from '../envs/factFiles.ts';
import { PRESETS } from '../../src/config/presets.ts';
import { playerBaselines } from '../../src/rl/playerBaselines.ts';

const TASKS = 256;

async function baselines(knobs: Readonly<Record<string, unknown>>) {
  const config = parseConfig({ evalTasks: TASKS, ...knobs });
  const values = await playerBaselines(createEnv(config, factsFor(config.env)), config, () => Promise.resolve());
  return { expert: values['baseline/expert']!, random: values['baseline/random']! };
}

// Four standard errors of a share p over 256 tasks with four games each: one run in 16,000 is further off.
const near = (p: number) => ({
  from: p - 4 * Math.sqrt((p * (1 - p)) / (4 * TASKS)),
  to: p + 4 * Math.sqrt((p * (1 - p)) / (4 * TASKS)),
});

describe('the random player', () => {
  it.each([
    // four guesses out of 16, drawn with replacement
    [{ env: 'number-hunt', range: 16, maxTurns: 4 }, 1 - (15 / 16) ** 4],
    [{ env: 'number-hunt', range: 7, maxTurns: 2 }, 1 - (6 / 7) ** 2],
    // the same whatever the run's own mask, and whatever the tool says
    [{ env: 'number-hunt', range: 16, maxTurns: 4, grammar: 'off', failureRate: 0 }, 1 - (15 / 16) ** 4],
    // a guess counts only where the tool does not fail
    [{ env: 'number-hunt', range: 16, maxTurns: 4, failureRate: 0.5 }, 1 - (31 / 32) ** 4],
    // eight arms may be named, one of them is right
    [{ env: 'bandit' }, 1 / 8],
    // it calls or answers with even odds, must answer at last, and hits one of twelve
    [{ env: 'multi-hop', entities: 12 }, 1 / 12],
  ])('of %o solves what chance solves', async (knobs, chance) => {
    const { random } = await baselines(knobs);
    expect(random).toBeGreaterThan(near(chance).from);
    expect(random).toBeLessThan(near(chance).to);
  });
});

describe('the random player, whether or not the run is masked,', () => {
  it.each(FIELDS.env.choices)('draws what is legal under the mask in %s, and so plays the same games', async (env) => {
    const knobs = { env, evalTasks: 64, maxTurns: 3 };
    const masked = await baselines({ ...knobs, grammar: 'on' });
    expect(await baselines({ ...knobs, grammar: 'off' })).toEqual(masked);
  });
});

describe('the rule', () => {
  const rule = async (knobs: Readonly<Record<string, unknown>>) => {
    const config = parseConfig({ evalTasks: 64, ...knobs });
    return playerBaselines(createEnv(config, factsFor(config.env)), config, () => Promise.resolve());
  };

  it('of the bandits takes the first arm named, which is the better one in half of the tasks', async () => {
    for (const env of ['bandit', 'bandit-reversed'])
      expect((await rule({ env, evalTasks: 512 }))['baseline/rule']).toBe(0.5);
  });

  it('has no expert where the environment has none', async () => {
    const config = parseConfig({ env: 'bandit', evalTasks: 8 });
    const env = { ...createEnv(config, null), hasExpert: false };
    const values = await playerBaselines(env, config, () => Promise.resolve());
    expect(Object.keys(values)).toEqual(['baseline/rule', 'baseline/random']);
  });

  it('solves a share where there is one, and is not spoken of where there is none', async () => {
    for (const env of FIELDS.env.choices) {
      const values = await rule({ env });
      const config = parseConfig({ env });
      if (createEnv(config, factsFor(env)).ruleDoc === undefined) {
        expect(Object.keys(values)).toEqual(['baseline/expert', 'baseline/random']);
      } else {
        expect(values['baseline/rule']).toBeGreaterThan(0);
        expect(values['baseline/rule']).toBeLessThan(1);
      }
    }
  });

  it('leaves the page a breath every sixteen tasks', async () => {
    const config = parseConfig({ env: 'multi-hop', evalTasks: 50 });
    let breaths = 0;
    await playerBaselines(createEnv(config), config, () => {
      breaths++;
      return Promise.resolve();
    });
    expect(breaths).toBe(3);
  });
});

describe('the expert', () => {
  it.each([
    [{ env: 'number-hunt', range: 16, maxTurns: 4 }, 15 / 16], // halving finds 15 of 16 in four turns
    [{ env: 'number-hunt', range: 16, maxTurns: 5 }, 1],
    [{ env: 'multi-hop' }, 1],
    [{ env: 'frozen-lake', slip: 0, maxTurns: 10 }, 1],
    [{ env: 'sokoban', maxTurns: 10 }, 1],
    [{ env: 'bandit' }, 1],
    [{ env: 'calculator' }, 1],
    [{ env: 'countdown' }, 1],
  ])('of %o, where nothing fails, solves all that can be', async (knobs, best) => {
    const { expert } = await baselines({ ...knobs, evalTasks: 512 });
    expect(expert).toBe(best);
  });

  it.each(FIELDS.env.choices)(
    'of %s is ahead of the random player as its preset has it, and the same when asked again',
    async (env) => {
      const preset = Object.entries(PRESETS).find(([name]) => name === env)?.[1].set;
      const first = await baselines({ ...preset, env, evalTasks: 64 });
      expect(first.expert).toBeGreaterThan(first.random + 0.2);
      expect(await baselines({ ...preset, env, evalTasks: 64 })).toEqual(first);
    },
  );
});
