import { expect, test } from 'vitest';
import { openGpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { roughWeights } from './policies.ts';
import { spellingHunt, expectDrawnAfterEncoded } from '../rl/retokenizedRows.ts';

test('a turn is drawn after the encoded tokens of the turns before it, and all tokens are those that the CPU draws', async () => {
  const { spec, play } = spellingHunt({ retokenize: 'on' });
  const gpu = await openGpuPolicy(navigator.gpu, spec, { seed: 5 });
  gpu.writeWeights(roughWeights(spec.model, 4));
  const onGpu = await play(gpu);
  gpu.destroy();
  expectDrawnAfterEncoded(onGpu, 1e-4); // f32 with a cache against f32 without
  const cpu = createCpuPolicy(spec, learningMath, { seed: 5, reason: '' });
  cpu.writeWeights(roughWeights(spec.model, 4));
  const { record } = (await play(cpu)).played;
  expect(onGpu.played.record.tokens).toEqual(record.tokens);
  expect(onGpu.played.record.drifted).toEqual(record.drifted);
});
