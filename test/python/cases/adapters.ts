// Writes adapters and merged models as this project writes them, what it reads in adapters that PEFT saved, log-probabilities with adapters merged, and, of
// small models, gradients and steps of training.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { mergedFolder } from '../../../src/checkpoints/adapter/mergedFolder.ts';
import { mergedGguf } from '../../../src/checkpoints/adapter/mergedGguf.ts';
import { peftFiles, readPeft } from '../../../src/checkpoints/peft.ts';
import { openFolderCheckpoint, openGgufCheckpoint } from '../../../src/checkpoints/openCheckpoint.ts';
import type { Files } from '../../../src/checkpoints/checkpointFolder.ts';
import { ProblemError } from '../../../src/base/problem.ts';
import { openCpuTextModel } from '../../../src/model/cpu/cpuTextModel.ts';
import { mergedSource } from '../../../src/model/mergedSource.ts';
import type { WeightSource } from '../../../src/model/weightSource.ts';
import type { ModelConfig } from '../../../src/model/architecture.ts';
import { ADAPTERS, drawnAdapters, wholeOf } from '../../adapters/made.ts';
import { copySmall, onDisk } from '../packages.ts';
import { NAIVE } from '../../model/naiveArithmetic.ts';

const out = process.argv[2] ?? '.';
const TINY = ['llama', 'qwen2', 'qwen3'];
const TEXT = Array.from({ length: 40 }, (_, i) => (i * i * 7 + 3 * i) % 96);
const inFolder = (folder: string) => (file: string) => {
  const at = path.join(folder, file);
  return existsSync(at) ? onDisk(at) : null;
};
const filesIn = (folder: string): Files =>
  new Map(readdirSync(folder).map((name) => [name, new Uint8Array(readFileSync(path.join(folder, name)))]));

/** Writes files into a folder of the cases. */
function write(folder: string, files: Iterable<readonly [string, string | Uint8Array]>): void {
  mkdirSync(path.join(out, folder), { recursive: true });
  for (const [name, content] of files) writeFileSync(path.join(out, folder, name), content);
}

/** Writes a model with weights of its own, all of it in float32. */
async function writeMerged(to: string, models: string, weights: WeightSource): Promise<void> {
  const files = await mergedFolder(inFolder(models), weights, 'F32');
  write(to, await Promise.all(files.map(async (file) => [file.name, await wholeOf(file)] as const)));
}

/** log p of each token of the text after the first. */
async function logprobs(model: ModelConfig, weights: WeightSource): Promise<readonly number[]> {
  const reader = await openCpuTextModel(model, weights, { loops: NAIVE.f64, rows: 1, length: 64 });
  await reader.begin([TEXT.slice(0, 1)]);
  const scored = await reader.score(0, TEXT.slice(1));
  reader.destroy();
  return scored;
}

copySmall('models', out);
copySmall('peft', out);
for (const [seed, name] of TINY.entries()) {
  const folder = path.join(out, 'models', name);
  const { model, weights } = await openFolderCheckpoint(inFolder(folder));
  const own = drawnAdapters(model, ADAPTERS, seed);
  write(`ours/${name}`, peftFiles(model, ADAPTERS, own, folder));
  const merged = mergedSource(weights, model, ADAPTERS, own);
  await writeMerged(`merged/${name}`, folder, merged);
  const read = readPeft(model, filesIn(path.join(out, 'peft', name)));
  await writeMerged(`merged-peft/${name}`, folder, mergedSource(weights, model, read.adapters, read.weights));
  write(`ours/${name}`, [
    ['logprobs.json', JSON.stringify({ text: TEXT, logprobs: await logprobs(model, merged) })],
    ['read.json', JSON.stringify({ ...read, weights: [...read.weights.keys()] })],
  ]);
}

const opened = await openGgufCheckpoint(onDisk('test/weights/small.gguf'));
const own = drawnAdapters(opened.model, ADAPTERS, 7);
const merged = mergedSource(opened.weights, opened.model, ADAPTERS, own);
write('ours/gguf', peftFiles(opened.model, ADAPTERS, own, null));
for (const type of ['F32', 'F16'] as const) {
  write('gguf', [[`${type}.gguf`, await wholeOf(await mergedGguf(opened, merged, type, `${type}.gguf`))]]);
}

/** What is said of an adapter that is refused. */
function refusal(model: ModelConfig, files: Files): string {
  try {
    readPeft(model, files);
    return '';
  } catch (error) {
    if (error instanceof ProblemError) return error.message;
    throw error;
  }
}
const llama = (await openFolderCheckpoint(inFolder(path.join(out, 'models', 'llama')))).model;
const refused = readdirSync(path.join(out, 'peft')).filter((name) => !TINY.includes(name));
const said = refused.map((name) => [name, refusal(llama, filesIn(path.join(out, 'peft', name)))] as const);
write('.', [['refused.json', JSON.stringify(Object.fromEntries(said))]]);
