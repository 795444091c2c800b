// Writes what this project reads in checkpoints of others: a digest of each tensor as float32, log-probabilities of texts in float64 and
// in float32, and what it says of files that it refuses.
import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  type OpenedCheckpoint,
  openFolderCheckpoint,
  openGgufCheckpoint,
} from '../../../src/checkpoints/openCheckpoint.ts';
import type { ByteSource } from '../../../src/formats/byteSource.ts';
import { openGguf } from '../../../src/formats/gguf.ts';
import { readPacked } from '../../../src/formats/packedTensor.ts';
import { ProblemError } from '../../../src/base/problem.ts';
import { type CpuTextModelOptions, openCpuTextModel } from '../../../src/model/cpu/cpuTextModel.ts';
import { openGpuTextModel } from '../../../src/model/gpu/text/gpuTextModel.ts';
import type { TextModel } from '../../../src/model/textModel.ts';
import { readFloat32 } from '../../../src/model/weightSource.ts';
import { codecFromGguf } from '../../../src/text/ggufVocabulary.ts';
import { copySmall, dawn, onDisk, smollm2 } from '../packages.ts';
import { NAIVE } from '../../model/naiveArithmetic.ts';

const out = process.argv[2] ?? '.';
const digest = (values: Float32Array) => createHash('sha256').update(new Uint8Array(values.buffer)).digest('hex');
const write = (name: string, value: unknown) => writeFileSync(path.join(out, name), JSON.stringify(value));

const TINY_TEXT = Array.from({ length: 80 }, (_, i) => (i * i * 7 + 3 * i) % 96);
const TEXTS = [
  '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n<|im_start|>user\nHow much is 17 + 25, and which is larger, 9.11 or 9.9?<|im_end|>\n<|im_start|>assistant\n17 + 25 is 42',
  'def fibonacci(n):\n    if n < 2:\n        return n\n    return fibonacci(n - 1) + fibonacci(n - 2)\n\nDie Würde des Menschen ist unantastbar. 你好，世界！ The capital of France is',
];
const WAYS: Readonly<Record<string, Partial<CpuTextModelOptions>>> = {
  f64: { loops: NAIVE.f64 },
  f32: { packWeights: false, float16Cache: false },
  packed: { float16Cache: false },
  drawn: {}, // as pages draw: keys and values in halves too
};
/** Left to `npm run test:weekly` for SmolLM2: float64 takes half a minute, and `drawn` has packed weights, too. */
const WEEKLY = ['f64', 'packed'];

/** Tokens of a text that a row begins with; the others are scored. */
const BEGUN = 16;
/** As many as a GPU tells of a token's likeliest. */
const TOLD = 256;

/** Writes log p of the tokens that could follow the first 16 of each text, and of each token of the text after those; both by how they were computed. */
async function writeLogprobs(
  name: string,
  { model, weights }: OpenedCheckpoint,
  texts: readonly (readonly number[])[],
) {
  const ways: Record<string, unknown> = {};
  for (const [way, options] of Object.entries(WAYS)) {
    if (name === 'smollm2' && WEEKLY.includes(way) && !process.env['SLOW_CASES']) continue;
    const start = performance.now();
    const reader = await openCpuTextModel(model, weights, { ...options, rows: texts.length, length: 128 });
    ways[way] = { ...(await said(reader, texts, model.vocab_size)), seconds: (performance.now() - start) / 1000 };
  }
  // a driver in software compiles for a minute a model: CI has the GPU against float64, in test/gpu/textModel.test.ts
  const gpu = process.env[name === 'smollm2' ? 'SMOLLM2_GPU' : 'SLOW_CASES'] ? await dawn() : null;
  if (gpu) {
    const start = performance.now();
    const room = { rows: texts.length, length: 128, float16Cache: false };
    const reader = await openGpuTextModel(gpu, model, weights, room);
    const told = Math.min(TOLD, model.vocab_size);
    ways['gpu'] = { ...(await said(reader, texts, told)), seconds: (performance.now() - start) / 1000 };
  }
  write(`${name}.logprobs.json`, { texts, begun: BEGUN, ways });
}

/** What a model says of texts; gives its memory back. */
async function said(reader: TextModel, texts: readonly (readonly number[])[], most: number) {
  await reader.begin(texts.map((ids) => ids.slice(0, BEGUN)));
  const rows = texts.map((_, row) => row);
  const likeliest = (await reader.likeliest(rows, most)).map(({ ids, logprobs }) => ({ ids, logprobs }));
  const scored: (readonly number[])[] = [];
  for (const [row, ids] of texts.entries()) scored.push(await reader.score(row, ids.slice(BEGUN)));
  reader.destroy();
  return { likeliest, scored };
}

async function digests({ weights }: OpenedCheckpoint): Promise<Readonly<Record<string, string>>> {
  const all: Record<string, string> = {};
  for (const [name, tensor] of weights) all[name] = digest(await readFloat32(tensor));
  return all;
}

copySmall('models', out);
const folder = (name: string) => (file: string) => {
  const at = path.join(out, 'models', name, file);
  return existsSync(at) ? onDisk(at) : null;
};
for (const name of ['llama', 'qwen2', 'qwen3']) {
  const opened = await openFolderCheckpoint(folder(name));
  write(`${name}.tensors.json`, await digests(opened));
  await writeLogprobs(name, opened, [TINY_TEXT]);
}

const file = onDisk(smollm2());
const { tensors, header } = await openGguf(file);
const packed: Record<string, string> = {};
for (const tensor of tensors.values()) {
  const bytes = new Uint8Array(tensor.bytes);
  await readPacked(tensor, bytes);
  const values = new Float32Array((bytes.length / tensor.format.blockBytes) * tensor.format.blockWeights);
  tensor.format.toFloat32(values, bytes);
  packed[tensor.name] = digest(values);
}
write('smollm2.tensors.json', packed);
const codec = codecFromGguf(header);
await writeLogprobs(
  'smollm2',
  await openGgufCheckpoint(file),
  TEXTS.slice(process.env['SLOW_CASES'] ? 0 : 1).map((text) => codec.encode(text)), // each takes PyTorch and this project ten seconds
);

/** What is said of a checkpoint that is refused. */
async function refusal(open: () => Promise<OpenedCheckpoint>): Promise<string> {
  try {
    await digests(await open());
    return '';
  } catch (error) {
    if (error instanceof ProblemError) return error.message;
    throw error;
  }
}
const cut = (source: ByteSource, size: number): ByteSource => ({ ...source, size });
const qwen3 = folder('qwen3');
const weightsOf = (change: (source: ByteSource) => ByteSource) => (name: string) => {
  const source = qwen3(name);
  return source && name.endsWith('.safetensors') ? change(source) : source;
};
write('refused.json', {
  'GGUF that was cut off': await refusal(() => openGgufCheckpoint(cut(file, file.size - 1000))),
  'GGUF whose header was cut off': await refusal(() => openGgufCheckpoint(cut(file, 100_000))),
  'safetensors that was cut off': await refusal(() =>
    openFolderCheckpoint(weightsOf((source) => cut(source, source.size - 1000))),
  ),
  'folder of GPT-2': await refusal(() => openFolderCheckpoint(folder('foreign'))),
  'folder whose weights are a GGUF': await refusal(() => openFolderCheckpoint(weightsOf(() => file))),
  'GGUF that is a safetensors file': await refusal(() => openGgufCheckpoint(qwen3('model.safetensors') ?? file)),
  'folder with a shard missing': await refusal(() =>
    openFolderCheckpoint((name) => (name.includes('00002') ? null : folder('llama')(name))),
  ),
});
