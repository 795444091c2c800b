import { expect, test, vi } from 'vitest';
import { createCpuPolicy } from '../src/model/cpu/cpuPolicy.ts';
import { parseConfig } from '../src/config/config.ts';
import { modelConfig } from '../src/model/architecture.ts';
import { learningMath } from '../src/rl/plainLearningMath.ts';
import { openRewardModel } from '../src/session/openRewardModel.ts';
import { TINY } from './checkpoints/runs.ts';

test('a reward model begins with the weights the policy began with, which are given: the policy is not read again', async () => {
  const config = parseConfig({ ...TINY, rewardModel: 'on' });
  const model = modelConfig(config, 20, false);
  const spec = { model, critic: 'none', rows: 4, length: 16, minibatchRows: 4 } as const;
  const policy = createCpuPolicy(spec, learningMath, { seed: 5, reason: '' });
  const first = (await policy.readState()).policy.weights;
  const read = vi.spyOn(policy, 'readState');
  const judge = openRewardModel(policy, config, null, first);
  expect(read).not.toHaveBeenCalled();
  const { weights } = (await judge!.state()).network;
  for (const [name, values] of first) expect(weights.get(name)).toEqual(values);
  expect(weights.get('value_head.weight')?.every((x) => x === 0)).toBe(true);
  expect(first.get('model.embed_tokens.weight')?.some((x) => x !== 0)).toBe(true);
  judge?.destroy();
  policy.destroy();
});
