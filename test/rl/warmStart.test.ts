import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { createEnv } from '../../src/envs/index.ts';
import { ENVIRONMENTS, type WarmStartRecipe } from '../../src/config/environments.ts';
import { contradictions } from '../../src/config/contradictions.ts';
import {
  learningRateAt,
  shorterImitation,
  totalOptimizerSteps,
  warmStartRecipe,
} from '../../src/config/imitationRecipe.ts';
import type { ToolEnv } from '../../src/envs/env.ts';
import type { Policy, SuppliedCredit } from '../../src/model/policy.ts';
import { demonstrations, warmStart } from '../../src/rl/warmStart.ts';
import { Role } from '../../src/domain/tokens.ts';
import { fakePolicy } from './fakePolicy.ts';

describe('demonstrations', () => {
  const env = createEnv(parseConfig({ env: 'multi-hop' }));
  const batch = { seed: 4, step: 2, rows: 200, length: env.maxTokens };
  const successes = (quality: number) => {
    const { tokens, lengths, rows, length } = demonstrations([{ env, quality: quality }], batch);
    let followed = 0;
    for (let row = 0; row < rows; row++) {
      const words = [...tokens.slice(row * length, row * length + lengths[row]!)].map((id) => env.vocabulary[id]);
      const lastObserved = words.findLastIndex((word) => word === '</obs>');
      if (words.at(-2) === words[lastObserved - 1]) followed++;
    }
    return followed / rows;
  };

  it('are the same for the same seed and step', () => {
    expect(demonstrations([{ env, quality: 0.4 }], batch).tokens).toEqual(
      demonstrations([{ env, quality: 0.4 }], batch).tokens,
    );
    expect(demonstrations([{ env, quality: 0.4 }], batch).tokens).not.toEqual(
      demonstrations([{ env, quality: 0.4 }], { ...batch, step: 3 }).tokens,
    );
  });

  it('get better with quality', () => {
    expect(successes(1)).toBe(1);
    expect(successes(0.42)).toBeLessThan(0.8);
  });

  it('mix questions of one hop and two, and show none of three, which are out of the domain', () => {
    const { roles, rows, length } = demonstrations([{ env, quality: 0.42 }], batch);
    const counts = new Map<number, number>();
    for (let row = 0; row < rows; row++) {
      const hops = roles.slice(row * length, (row + 1) * length).filter((role) => role === Role.prompt).length - 4;
      counts.set(hops, (counts.get(hops) ?? 0) + 1);
    }
    // a turn that calls is followed by the answer to it and another turn, until one answers
    const record = demonstrations([{ env, quality: 0.42 }], batch);
    const many = record.turns.filter((turn, i) => turn > 1 && record.roles[i] === Role.action).length;
    expect(many).toBeGreaterThan(100);
    expect([...counts.keys()].sort()).toEqual([1, 2]);
    expect(counts.get(2)! / rows).toBeCloseTo(0.8, 1);
  });
});

const imitationOf = (policy: Policy, env: ToolEnv, recipe: WarmStartRecipe) =>
  warmStart({ policy, env, seed: 1, recipe: () => recipe, yieldToEvents: () => Promise.resolve() });

describe('warm start', () => {
  it('learns every row of fresh demonstrations at advantage 1, then forgets the optimizer', async () => {
    const env = createEnv(parseConfig());
    const policy = fakePolicy(8, env.maxTokens, env.vocabulary.length);
    const recipe = { ...ENVIRONMENTS['number-hunt'].recipe, steps: 40 };
    const steps: number[] = [];
    for await (const step of imitationOf(policy, env, recipe)) steps.push(step);
    expect(steps).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    expect(policy.learned[0]).toMatchObject({ objective: { surrogate: 'plain', entropyCoef: 0, klCoef: 0 } });
    const rates = policy.learned.map(({ optimizer }) => optimizer.learningRate);
    expect(Math.max(...rates)).toBeCloseTo(3e-3, 9);
    expect(rates[0]).toBeCloseTo(1.5e-4, 9);
    expect(rates[39]).toBeLessThan(6e-4);
    expect(policy.loaded[0]!.tokens).not.toEqual(policy.loaded[1]!.tokens);
    expect([...policy.loaded[0]!.states].every((state) => state === 0)).toBe(true);
    expect(policy.calls.at(-1)).toBe('writeWeights');
    // to the peak in twenty steps, then down in a line to a tenth of it
    const { warmUp, learningRate } = recipe;
    for (let step = 0; step < warmUp; step++) expect(rates[step]).toBeCloseTo((learningRate * (step + 1)) / warmUp, 12);
    for (let step = warmUp; step < 40; step++)
      expect(rates[step]).toBeCloseTo(learningRate * (1 - (0.9 * (step - warmUp)) / (40 - warmUp)), 12);
  });

  const begin = (rows: number | undefined, culprit = '') => {
    const env = createEnv(parseConfig());
    const policy = fakePolicy(8, env.maxTokens, env.vocabulary.length);
    const credits: SuppliedCredit[] = [];
    const load = policy.load.bind(policy);
    policy.load = (record, credit) => {
      if (credit) credits.push(credit);
      load(record, credit);
    };
    if (culprit) policy.breakNextStep(culprit);
    const recipe = { ...ENVIRONMENTS['number-hunt'].recipe, steps: 2, ...(rows !== undefined && { rows }) };
    const run = async () => {
      for await (const step of imitationOf(policy, env, recipe)) expect(step).toBeGreaterThan(0);
    };
    return { policy, credits, run };
  };

  it('gives the demonstrator’s tokens advantage 1 and a loss, and nobody else’s', async () => {
    const { policy, credits, run } = begin(undefined);
    await run();
    const [record] = policy.loaded;
    const agent = Array.from(record!.roles, (role): number => (role === Role.action ? 1 : 0));
    expect(agent.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(20);
    expect(Array.from(credits[0]!.advantages)).toEqual(agent);
    expect(Array.from(credits[0]!.lossMask)).toEqual(agent);
    for (const part of ['oldLogprobs', 'refLogprobs', 'valueMask', 'oldValues', 'returns'] as const)
      expect(Array.from(credits[0]![part])).toEqual(agent.map(() => 0));
  });

  it('learns from as many rows as the recipe says, and there are', async () => {
    for (const [asked, want] of [
      [undefined, 8],
      [3, 3],
      [99, 8],
    ] as const) {
      const { policy, run } = begin(asked);
      await run();
      expect([...policy.learned[0]!.rows]).toEqual(Array.from({ length: want }, (_, row) => row));
    }
  });

  it('repeats its demonstrations after as many steps as the recipe says, without playing them again', async () => {
    const env = createEnv(parseConfig());
    let begun = 0;
    const counting: ToolEnv = { ...env, demonstration: (...start) => (begun++, env.demonstration(...start)) };
    const policy = fakePolicy(8, env.maxTokens, env.vocabulary.length);
    const recipe = { ...ENVIRONMENTS['number-hunt'].recipe, steps: 5, rows: 3, batches: 2 };
    for await (const step of imitationOf(policy, counting, recipe)) expect(step).toBeGreaterThan(0);
    expect(begun).toBe(2 * 3);
    const [first, second, third, fourth, fifth] = policy.loaded;
    expect(third).toEqual(first);
    expect(fourth).toEqual(second);
    expect(fifth).toEqual(first);
    expect(second!.tokens).not.toEqual(first!.tokens);
  });

  it('stops where weights blow up, naming what did, and leaves the weights alone', async () => {
    const { policy, run } = begin(undefined, 'gradient head');
    await expect(run()).rejects.toThrow(/gradient head became non-finite\. Use a lower learning rate/);
    expect(policy.calls).not.toContain('writeWeights');
  });
});

const MADE = { model: 'sizes', imitationHorizon: 0, demonstrator: 'imperfect' } as const;

describe('imitation alone', () => {
  it('takes the steps and the demonstrator that are asked for, only where weights are imitated now', () => {
    const asked = {
      env: 'sokoban',
      language: 'words',
      model: 'sizes',
      imitationSteps: 7,
      imitationHorizon: 0,
      demonstrator: 'expert',
    } as const;
    expect(warmStartRecipe({ ...asked, warmStart: 'train' })).toMatchObject({ steps: 7, quality: 1, warmUp: 7 });
    expect(warmStartRecipe({ ...asked, warmStart: 'shipped' })).toEqual(ENVIRONMENTS.sokoban.recipe);
    const plain = { ...asked, imitationSteps: 0, demonstrator: 'imperfect', warmStart: 'train' } as const;
    expect(warmStartRecipe(plain)).toEqual(ENVIRONMENTS.sokoban.recipe);
  });

  it('goes on, where it is continued, with the demonstrator and from the rate with which the shipped weights ended', () => {
    const more = { ...MADE, warmStart: 'continued', imitationSteps: 128 } as const;
    const text = warmStartRecipe({ ...more, env: 'calculator', language: 'text' });
    const ended = 2e-3 * (1 - (0.9 * (1500 - 100)) / (2400 - 100));
    expect(text).toMatchObject({ steps: 128, rows: 30, quality: 0.5, warmUp: 13, horizon: 128 });
    expect(text.learningRate).toBeCloseTo(ended, 12);
    const { recipe } = ENVIRONMENTS.calculator;
    const words = warmStartRecipe({ ...more, env: 'calculator', language: 'words' });
    expect(words).toMatchObject({ steps: 128, quality: recipe.quality });
    expect(words.learningRate).toBeCloseTo(recipe.learningRate / 10, 12); // it fell to a tenth
    expect(warmStartRecipe({ ...more, env: 'calculator', language: 'text', demonstrator: 'expert' }).quality).toBe(1);
  });

  it('is given as many optimizer steps as the run beside it, its warm start counted', () => {
    const run = { ...MADE, updates: 60, epochs: 2, minibatches: 2, imitationSteps: 0 } as const;
    const made = { ...run, language: 'words', model: 'sizes' } as const;
    expect(totalOptimizerSteps({ ...made, env: 'calculator', warmStart: 'shipped' })).toBe(500 + 240);
    expect(totalOptimizerSteps({ ...made, env: 'frozen-lake', warmStart: 'none' })).toBe(240);
    const adapted = { ...run, language: 'text', env: 'calculator', model: 'checkpoint', warmStart: 'train' } as const;
    expect(totalOptimizerSteps({ ...adapted, imitationSteps: 40 })).toBe(40 + 240);
  });

  it('beside a checkpoint is of few rows and small steps, whatever the environment', () => {
    const made = { ...MADE, env: 'calculator', language: 'text', model: 'checkpoint' } as const;
    const asked = { ...made, warmStart: 'train' } as const;
    expect(warmStartRecipe({ ...asked, imitationSteps: 0 })).toMatchObject({
      ...{ steps: 60, rows: 3, learningRate: 1e-3 },
      quality: ENVIRONMENTS.calculator.recipe.quality,
    });
    // nothing of it is shipped, so there is nothing to go on from but its own recipe
    const { steps, rows } = warmStartRecipe({ ...made, warmStart: 'continued', imitationSteps: 0 });
    expect({ steps, rows }).toEqual({ steps: 60, rows: 3 });
  });

  it('that ends early takes the same steps until then, so that its knobs give the same weights from the start', () => {
    const words = { ...MADE, env: 'your-environment', language: 'words' } as const;
    const runs = [
      { ...words, warmStart: 'train', imitationSteps: 0 },
      { ...words, warmStart: 'shipped', imitationSteps: 0 }, // as no file fits
      { ...words, warmStart: 'train', imitationSteps: 90, imitationHorizon: 300 },
      { ...words, warmStart: 'continued', imitationSteps: 90, language: 'text' },
      { ...words, warmStart: 'train', imitationSteps: 0, model: 'checkpoint', language: 'text' },
    ] as const;
    for (const run of runs) {
      const whole = warmStartRecipe(run);
      for (const done of [1, 7, 50]) {
        const knobs = shorterImitation(run, done);
        expect(knobs).toMatchObject({ imitationSteps: done });
        const shorter = warmStartRecipe({ ...run, ...knobs });
        expect(shorter.steps).toBe(done);
        for (let step = 0; step < done; step++) expect(learningRateAt(shorter, step)).toBe(learningRateAt(whole, step));
        expect({ ...shorter, horizon: 0, steps: 0 }).toEqual({ ...whole, horizon: 0, steps: 0 });
        // ended again, it is the same run
        expect(shorterImitation({ ...run, ...knobs }, done)).toBeNull();
      }
      expect(shorterImitation(run, whole.steps)).toBeNull();
    }
    // the recipe of the shipped text agent has a warm-up of its own, which no horizon gives
    expect(shorterImitation({ ...words, warmStart: 'continued', imitationSteps: 0, language: 'text' }, 7)).toBeNull();
  });

  it('has a horizon of at least its steps', () => {
    const wrong = (knobs: object) => contradictions({ ...parseConfig({}), warmStart: 'train', ...knobs });
    expect(wrong({ imitationSteps: 40, imitationHorizon: 40 })).toEqual([]);
    expect(wrong({ imitationSteps: 40, imitationHorizon: 39 })).toMatchObject([{ place: 'imitationHorizon' }]);
    expect(wrong({ imitationSteps: 0, imitationHorizon: 39 })).toMatchObject([{ place: 'imitationHorizon' }]);
  });
});
