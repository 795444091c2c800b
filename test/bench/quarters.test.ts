import { expect, test } from 'vitest';
import { quarters } from '../../bench/quarters.mjs';
import { parseConfig } from '../../src/config/config.ts';
import { envSettings } from '../../src/envs/index.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { rollout } from '../../src/rl/rollout.ts';
import { Purpose, streamKey } from '../../src/base/rng.ts';
import { Role } from '../../src/domain/tokens.ts';
import { modelOf } from '../../bench/peer.mjs';

const [V, T, B] = [16, 16, 4];

test('the benchmark’s environment fills each row: a quarter of prompt, a turn, its answer backwards, a turn, paid by its lower half', async () => {
  const model = modelOf({ V, C: 8, L: 1, H: 2, T, B, F: 24, lr: 1e-3 });
  const spec = { model, critic: 'none', rows: B, length: T, minibatchRows: B } as const;
  const policy = createCpuPolicy(spec, learningMath, { seed: 5, reason: '' });
  const { record, episodes } = await rollout(
    policy,
    quarters(V, T),
    {
      ...{
        tasks: [3, 3, 4, 4].map((seed) => ({ seed, environmentSeed: 0 })),
        groups: Int32Array.of(0, 0, 1, 1),
        chunk: 64,
        settings: envSettings(parseConfig()),
      },
      sampling: { key: streamKey(5, Purpose.trainSample), update: 1, temperature: 1, greedy: false, topK: 0, topP: 1 },
    },
    () => Promise.resolve(),
  );
  const roles = [Role.prompt, Role.action, Role.observation, Role.action].flatMap((role) =>
    Array<number>(4).fill(role),
  );
  for (const [row, { reward, stop, turns }] of episodes.entries()) {
    const tokens = record.tokens.slice(row * T, (row + 1) * T);
    expect([...record.roles.slice(row * T, (row + 1) * T)]).toEqual(roles);
    expect([...tokens.slice(8, 12)]).toEqual([...tokens.slice(4, 8)].reverse());
    const drawn = [...tokens.slice(4, 8), ...tokens.slice(12)];
    expect(reward).toBe(drawn.filter((id) => id < V / 2).length / 8);
    expect([stop, turns]).toEqual(['answered', 2]);
  }
  // rollouts of one prompt share it and part in what they draw
  expect(record.tokens.slice(0, 4)).toEqual(record.tokens.slice(T, T + 4));
  expect(record.tokens.slice(4, T)).not.toEqual(record.tokens.slice(T + 4, 2 * T));
  expect(new Set(episodes.map(({ reward }) => reward)).size).toBeGreaterThan(1);
  policy.destroy();
});

test('lengths that cannot be quartered are refused', () => {
  expect(() => quarters(V, 18)).toThrow('18 tokens are not a multiple of 4');
});
