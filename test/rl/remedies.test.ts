import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { remediesFor } from '../../src/rl/monitor.ts';

const BASE = { epochs: 4, entropyCoef: 0, learningRate: 2e-3, turnCost: 0.1, klCoef: 0.1, prompts: 8 } as const;
const changes = (knobs: object = {}) => remediesFor(parseConfig({ ...BASE, ...knobs })).map((each) => each.changes);

describe('ways out of the trap', () => {
  test('are these five, with a label for each', () => {
    expect(changes()).toEqual([
      { entropyCoef: 0.02 },
      { turnCost: 0 },
      { epochs: 1 },
      { learningRate: 1e-3 },
      { filter: 'top-fraction', filterShare: 0.25, clipHigh: 0.28, klCoef: 0, klRewardCoef: 0 },
    ]);
    for (const { label } of remediesFor(parseConfig(BASE))) expect(label).toMatch(/^[A-Z].{8,}/);
    expect(new Set(remediesFor(parseConfig(BASE)).map(({ label }) => label)).size).toBe(5);
  });

  test('double the entropy that is rewarded, to 1 at most', () => {
    expect(changes({ entropyCoef: 0.05 })[0]).toEqual({ entropyCoef: 0.1 });
    expect(changes({ entropyCoef: 0.7 })[0]).toEqual({ entropyCoef: 1 });
    expect(changes({ entropyCoef: 1 })[0]).toEqual({ turnCost: 0 });
  });

  test('keep at least one prompt, and are left out where they would change nothing or contradict', () => {
    expect(changes({ prompts: 2 }).at(-1)).toMatchObject({ filterShare: 0.5 });
    const done = { epochs: 1, turnCost: 0, filter: 'top-fraction', filterShare: 0.25, clipHigh: 0.28, klCoef: 0 };
    expect(changes(done)).toEqual([{ entropyCoef: 0.02 }, { learningRate: 1e-3 }]);
    expect(changes({ estimator: 'gae', critic: 'separate', groupSize: 1 }).at(-1)).toEqual({ learningRate: 1e-3 });
    // one of its changes is enough to offer it
    expect(changes({ ...done, clipHigh: 0.2 }).at(-1)).toMatchObject({ clipHigh: 0.28 });
  });
});
