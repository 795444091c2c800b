import { beforeAll, expect, test } from 'vitest';
import { FILES, type Files } from '../../src/checkpoints/folder.ts';
import { checkpointFiles } from '../../src/checkpoints/write.ts';
import type { PackedRun } from '../../src/runs/packed.ts';
import { answerFolder } from '../../src/session/folders.ts';
import { open, packed, to } from './runs.ts';

let run: PackedRun;
beforeAll(async () => {
  const running = await open({ attentionBias: 'on' });
  await to(running, 1);
  run = await packed(running);
});

/** The folder of a model with biases, as another program would leave it. */
const foreign = (form: 'llama' | 'qwen2'): Files => {
  const files = new Map(checkpointFiles(run, form));
  files.delete(FILES.manifest);
  return files;
};

test.each([
  ['llama', 'LlamaForCausalLM'],
  ['qwen2', 'Qwen2ForCausalLM'],
] as const)('a %s with biases begins a run here and is told by its own name', async (form, kind) => {
  const { config } = run.checkpoint;
  const task = { kind: 'import', name: 'theirs', content: foreign(form), config, facts: null } as const;
  const answer = await answerFolder(task, { shippedFile: () => Promise.resolve(null) });
  if (answer.kind !== 'imported') throw new Error(answer.kind === 'refused' ? answer.message : answer.kind);
  expect(answer.foreign).toEqual({ kind, widened: [] });
  expect(answer.run.name).toBe('theirs');
  expect(answer.run.update).toBe(0);
  const name = 'model.layers.0.self_attn.q_proj.bias';
  const trained = run.checkpoint.networks.policy.weights.get(name);
  expect(trained?.some((x) => x !== 0)).toBe(true);
  expect(answer.run.checkpoint.networks.policy.weights.get(name)).toEqual(trained);
});
