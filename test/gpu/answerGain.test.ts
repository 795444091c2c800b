import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { createEnv } from '../../src/envs/index.ts';
import { modelConfig } from '../../src/model/architecture.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import { openGpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import { payInformationGain } from '../../src/rl/informationGain.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { rollout } from '../../src/rl/rollout.ts';
import { trainingTasks } from '../../src/rl/trainer.ts';

test('the gain in the right answer’s log-probability is that of the CPU, and the drawn batch is there again', async () => {
  const small = { prompts: 4, groupSize: 4, layers: 1, width: 16, heads: 2, kvHeads: 2, ffn: 32 };
  const config = parseConfig({ env: 'multi-hop', temperature: 0.7, ...small });
  const env = createEnv(config);
  const model = modelConfig(config, env.vocabulary.length, false);
  const spec = { model, critic: 'none', rows: 16, length: env.maxTokens, minibatchRows: 16 } as const;
  const gpu = await openGpuPolicy(navigator.gpu, spec, { seed: 5 });
  const cpu = createCpuPolicy(spec, learningMath, { seed: 5, reason: '' });
  const request = trainingTasks(cpu, config, 1);
  const { temperature } = config;
  const options = { weight: 1, temperature, grammar: env.grammar(true), onLastAction: true };
  const gains: number[][] = [];
  for (const policy of [gpu, cpu]) {
    const paid = await payInformationGain(
      policy,
      await rollout(policy, env, request, () => Promise.resolve()),
      options,
    );
    gains.push(paid.episodes.map(({ parts }) => parts.information));
    await policy.score(temperature, { reference: false, values: false });
    const { logprobs } = await policy.report();
    const drawn = [...logprobs.keys()].filter((at) => paid.record.logprobs[at] !== 0);
    for (const at of drawn) expect(Math.abs(logprobs[at]! - paid.record.logprobs[at]!)).toBeLessThan(1e-4);
    policy.destroy();
  }
  const differences = gains[0]!.map((gain, row) => Math.abs(gain - gains[1]![row]!));
  expect(Math.max(...differences)).toBeLessThan(1e-4);
  expect(Math.max(...gains[0]!.map(Math.abs))).toBeGreaterThan(1e-2);
});
