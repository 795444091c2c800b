import { beforeAll, expect, test } from 'vitest';
import { FILE_NAMES, type Files } from '../../src/checkpoints/checkpointFolder.ts';
import { foreignCheckpoint } from '../../src/checkpoints/foreignModel.ts';
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

/** The folder with other tensors, and other fields of config.json. */
function changed(change: (tensors: Map<string, SafeTensor>) => void, fields: Readonly<Record<string, unknown>> = {}) {
  const files = new Map(foreign('llama'));
  const tensors = new Map<string, SafeTensor>(decodeSafetensors(files.get(FILE_NAMES.weights)!).tensors);
  change(tensors);
  files.set(FILE_NAMES.weights, new Uint8Array(encodeSafetensors(tensors)));
  const config = JSON.parse(new TextDecoder().decode(files.get(FILE_NAMES.config))) as Record<string, unknown>;
  return files.set(FILE_NAMES.config, new TextEncoder().encode(JSON.stringify({ ...config, ...fields })));
}
const readForeign = (files: Files) => {
  const read = readCheckpointFiles(files);
  if (read.kind !== 'foreign') throw new Error('want another program’s model');
  return read.model;
};

test('a head of its own is kept although config.json ties it, and one that equals the embedding is not', () => {
  const withHead = (added: number) =>
    changed((tensors) => {
      const { shape, values } = tensors.get('model.embed_tokens.weight')!;
      const head = Float32Array.from(values);
      head[0]! += added;
      tensors.set('lm_head.weight', { shape, values: head });
    });
  const [own, same] = [readForeign(withHead(1)), readForeign(withHead(0))];
  expect([own.model.tie_word_embeddings, same.model.tie_word_embeddings]).toEqual([false, true]);
  const [head, embedding] = ['lm_head.weight', 'model.embed_tokens.weight'].map((name) => own.weights.get(name)!);
  expect(head![0]! - embedding![0]!).toBeCloseTo(1, 5);
  expect(head!.slice(1)).toEqual(embedding!.slice(1));
  expect(same.weights.has('lm_head.weight')).toBe(false);
  const { config, vocabulary } = run.checkpoint;
  expect(foreignCheckpoint(own, config, vocabulary).begun.tieEmbeddings).toBe('off');
});

test('a Qwen3 is read, and refused as the start of a run here for what it is', () => {
  const qwen3 = changed(
    (tensors) => {
      for (const name of [...tensors.keys()].filter((each) => each.endsWith('.bias'))) tensors.delete(name);
      for (const name of ['q_norm', 'k_norm']) {
        tensors.set(`model.layers.0.self_attn.${name}.weight`, { shape: [8], values: new Float32Array(8).fill(1) });
      }
    },
    { architectures: ['Qwen3ForCausalLM'], model_type: 'qwen3', attention_bias: false },
  );
  const { config, vocabulary } = run.checkpoint;
  expect(() => foreignCheckpoint(readForeign(qwen3), config, vocabulary)).toThrow(
    'config.json: architectures: found Qwen3ForCausalLM, expected Llama or Qwen2',
  );
});

test('a Llama’s biases of o_proj are written, as Transformers makes them, and a Qwen2 has none; both are marked as PyTorch’s', () => {
  const [llama, qwen2] = (['llama', 'qwen2'] as const).map((form) =>
    decodeSafetensors(checkpointFiles(run, form).get(FILE_NAMES.weights)!),
  );
  const biases = ({ tensors }: NonNullable<typeof llama>) =>
    [...tensors.keys()].filter((name) => name.includes('bias'));
  const read = ['q_proj', 'k_proj', 'v_proj'].map((name) => `model.layers.0.self_attn.${name}.bias`).sort();
  expect(biases(qwen2!).sort()).toEqual(read);
  expect(biases(llama!).sort()).toEqual([...read, 'model.layers.0.self_attn.o_proj.bias'].sort());
  for (const file of [llama, qwen2]) expect(file!.metadata).toMatchObject({ format: 'pt' });
});

test.each(['mine.ts', 'mine.py'])(
  'a run’s own environment comes back from its folder, %s, and a changed one is named',
  (name) => {
    const environment = { name, text: '// or # something' };
    const files = checkpointFiles({ ...run, environment });
    const read = readCheckpointFiles(files);
    if (read.kind !== 'ours') throw new Error('want a run of this project');
    expect(read.run.environment).toEqual(environment);
    const file = name.endsWith('.py') ? FILE_NAMES.pythonEnvironment : FILE_NAMES.environment;
    const other = new Map([...files, [file, new TextEncoder().encode('// or # something else')]]);
    expect(() => readCheckpointFiles(other)).toThrow(
      new RegExp(`^${file}: .*Copy the file that the run was saved with`, 's'),
    );
  },
);

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
