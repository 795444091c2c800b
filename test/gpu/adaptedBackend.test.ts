import { expect, test } from 'vitest';
import type { BaseCheckpoint } from '../../src/checkpoints/baseCheckpoint.ts';
import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import { PRESETS } from '../../src/config/presets.ts';
import type { ToolEnv } from '../../src/envs/env.ts';
import type { ModelConfig } from '../../src/model/architecture.ts';
import { BackendError } from '../../src/model/policy.ts';
import { openPolicy } from '../../src/session/backend.ts';
import { host } from './host.ts';
import { LLAMA } from './textModels.ts';
import { packedSource } from './textSources.ts';

/** Opens the policy of a run beside a checkpoint; only what opening asks of an environment and a checkpoint is there. */
function opened(model: ModelConfig, set: Partial<RunConfig>, withGpu = true) {
  const config = parseConfig({ ...PRESETS['smollm2-hunt'].set, prompts: 1, groupSize: 2, adapterRank: 2, ...set });
  const env = {
    vocabulary: Array.from({ length: model.vocab_size }, String),
    maxTokens: 12,
    maxTurnTokens: 6,
    maxTurns: 2,
  } as unknown as ToolEnv;
  const base = { model, weights: packedSource(model, 7, () => 'Q4_1') } as unknown as BaseCheckpoint;
  const at = withGpu ? host : { ...host, gpu: undefined };
  return openPolicy(config, env, at, () => undefined, { savedKernels: undefined, base, onProgress: () => undefined });
}

const even = { ...LLAMA, vocab_size: 44 };

test.each([
  ['auto', 'gpu', 'episode'],
  ['gpu', 'gpu', 'turn'],
  ['cpu', 'cpu', 'turn'],
] as const)(
  'with backend %s adapters are trained on the %s where there is a GPU: rows=%s',
  async (backend, kind, rows) => {
    const policy = await opened(even, { backend, rows });
    expect([policy.backend.kind, policy.backend.reason]).toEqual([kind, '']);
    policy.destroy();
  },
);

test('what does not fit the GPU is trained on the CPU, which says why, or refused where the GPU is asked for', async () => {
  const policy = await opened(LLAMA, { backend: 'auto' });
  expect(policy.backend).toMatchObject({ kind: 'cpu', reason: expect.stringContaining('43 tokens') as string });
  policy.destroy();
  await expect(opened(LLAMA, { backend: 'gpu' })).rejects.toThrow(BackendError);
});

test('without WebGPU the CPU says so, and a GPU that is asked for is refused', async () => {
  const policy = await opened(even, { backend: 'auto' }, false);
  expect(policy.backend).toMatchObject({ kind: 'cpu', reason: expect.stringContaining('no WebGPU') as string });
  policy.destroy();
  await expect(opened(even, { backend: 'gpu' }, false)).rejects.toThrow(BackendError);
});
