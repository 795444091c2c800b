import { beforeAll, expect, test } from 'vitest';
import { FILE_NAMES, type Files } from '../../src/checkpoints/checkpointFolder.ts';
import { openFolderCheckpoint } from '../../src/checkpoints/openCheckpoint.ts';
import { readCheckpointFiles } from '../../src/checkpoints/read.ts';
import { checkpointFiles } from '../../src/checkpoints/write.ts';
import { bytesInMemory } from '../../src/formats/byteSource.ts';
import { decodeSafetensors, encodeSafetensors, type SafeTensor } from '../../src/formats/safetensors.ts';
import { parameters } from '../../src/model/architecture.ts';
import { storedTensor, readFloat32 } from '../../src/model/weightSource.ts';
import type { PackedRun } from '../../src/runs/packed.ts';
import { answerFolder } from '../../src/session/folderAnswers.ts';
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
  files.delete(FILE_NAMES.manifest);
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

/** What `openFolderCheckpoint` makes of a folder in memory. */
const opened = (files: Files) =>
  openFolderCheckpoint((name) => {
    const bytes = files.get(name);
    return bytes ? bytesInMemory(name, bytes) : null;
  });
const withBias = (value: number): Files => {
  const files = new Map(foreign('llama'));
  const tensors = new Map<string, SafeTensor>(
    decodeSafetensors(files.get(FILE_NAMES.weights) ?? new Uint8Array()).tensors,
  );
  tensors.set('model.layers.0.self_attn.o_proj.bias', { shape: [16], values: new Float32Array(16).fill(value) });
  return files.set(FILE_NAMES.weights, new Uint8Array(encodeSafetensors(tensors)));
};

test('both readers take a Llama whose bias of o_proj is 0, as ours is written, and refuse one that would have to be added', async () => {
  const { model, weights } = await opened(foreign('llama'));
  expect([...weights.keys()]).toEqual(parameters(model).map(({ name }) => name));
  const name = 'model.layers.0.self_attn.q_proj.bias';
  expect(await readFloat32(storedTensor(weights, name))).toEqual(run.checkpoint.networks.policy.weights.get(name));
  const message =
    'model.safetensors: model.layers.0.self_attn.o_proj.bias: found a bias that is not 0, expected none, or zeros';
  await expect(opened(withBias(0))).resolves.toBeDefined();
  await expect(opened(withBias(0.5))).rejects.toThrow(message);
  expect(() => readCheckpointFiles(withBias(0))).not.toThrow();
  expect(() => readCheckpointFiles(withBias(0.5))).toThrow(message);
});
