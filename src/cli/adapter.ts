import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { readFlags } from '../../tools/flags.mjs';
import { mergedFolder } from '../checkpoints/adapter/mergedFolder.ts';
import { mergedGguf } from '../checkpoints/adapter/mergedGguf.ts';
import { MERGED_TYPES, type MergedType } from '../domain/mergedTypes.ts';
import { PEFT_WEIGHTS, readPeft } from '../checkpoints/peft.ts';
import { PEFT_CONFIG } from '../checkpoints/peftConfig.ts';
import { FILE_NAMES, type Files } from '../checkpoints/checkpointFolder.ts';
import { openFolderCheckpoint, openGgufCheckpoint } from '../checkpoints/openCheckpoint.ts';
import { ConfigError } from '../config/configProblem.ts';
import { partNames } from '../base/ggufFiles.ts';
import type { StreamedFile } from '../formats/byteSource.ts';
import { mergedSource } from '../model/mergedSource.ts';
import { callerPath, fileError, namesIn, readWhole, writableFolder, writeWhole, diskSource } from './files.ts';
import { ProblemError } from '../base/problem.ts';
import { program } from './program.ts';

const USAGE = `npm run adapter -- merge --base FILE.gguf|FOLDER --adapter FOLDER --to FILE.gguf|FOLDER [--weights f32|f16]
Makes one model of a checkpoint and an adapter (PEFT's adapter_config.json and adapter_model.safetensors): a GGUF file of a GGUF file, a folder of a folder.`;

const FLAGS = { base: 'value', adapter: 'value', to: 'value', weights: 'value' } as const;

interface MergeArguments {
  readonly base: string;
  readonly adapter: string;
  readonly to: string;
  readonly type: MergedType;
}

const isGguf = (place: string) => place.toLowerCase().endsWith('.gguf');

/** `npm run adapter`: merges an adapter into its model, one tensor at a time, so the model need not fit in memory. */
async function main(args: readonly string[]): Promise<number> {
  const options = readArguments(args);
  const to = callerPath(options.to);
  await refuseExisting(options.to);
  const { files, remarks } = await mergedFiles(options);
  if (!isGguf(options.to)) await writableFolder(to);
  for (const { name, pieces } of files) {
    if (name.includes('/')) await writableFolder(path.join(to, path.dirname(name)));
    await writeWhole(isGguf(options.to) ? to : path.join(to, name), pieces());
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  console.log(JSON.stringify({ kind: 'merge', to: options.to, files: files.map(({ name }) => name), bytes, remarks }));
  return 0;
}

function readArguments(args: readonly string[]): MergeArguments {
  const [command, ...rest] = args;
  if (command !== 'merge') {
    const what = `adapter ${command === undefined ? 'needs to know what to do' : `can’t do ${command}`}.`;
    throw new ConfigError([{ what, remedy: 'Use merge.' }], { usage: USAGE });
  }
  const { given, problems } = readFlags(rest, FLAGS, { words: 0 });
  const { base, adapter, to, weights = 'f32' } = given;
  if (problems.length === 0) {
    const missing = (['base', 'adapter', 'to'] as const).filter((name) => given[name] === undefined);
    problems.push(...missing.map((name) => ({ what: `--${name} is missing.`, remedy: 'Name a path.' })));
  }
  const type = MERGED_TYPES.find((each) => each.toLowerCase() === weights.toLowerCase());
  if (!type) problems.push({ what: `--weights can’t be ${weights}.`, remedy: 'Use f32 or f16.' });
  if (base !== undefined && to !== undefined && isGguf(base) !== isGguf(to)) {
    problems.push(
      isGguf(to)
        ? {
            what: `--to can’t be ${to}: the base is a folder, so name a folder.`,
            remedy: 'Convert that with convert_hf_to_gguf.py of llama.cpp.',
          }
        : {
            what: `--to can’t be ${to}: the base is a GGUF file, so use a name that ends in .gguf.`,
            remedy: 'For a folder, give the model’s folder as --base.',
          },
    );
  }
  if (problems.length > 0 || base === undefined || adapter === undefined || to === undefined || !type) {
    throw new ConfigError(problems, { usage: USAGE });
  }
  return { base, adapter, to, type };
}

/** Throws ProblemError if `to` exists already, unless it is an empty folder and a folder is to be written. */
async function refuseExisting(to: string): Promise<void> {
  const resolved = callerPath(to);
  const existing = await stat(resolved).catch(() => null);
  const empty = existing?.isDirectory() === true && (await readdir(resolved)).length === 0;
  if (existing && !(empty && !isGguf(to))) throw new ProblemError(`--to can’t be ${to}, because it exists already. Use a new name.`); // prettier-ignore
}

/** The files to write, and notes about tensors that were read differently from what the config says. */
interface Merged {
  readonly files: readonly StreamedFile[];
  readonly remarks: readonly string[];
}

async function mergedFiles({ base, adapter, to, type }: MergeArguments): Promise<Merged> {
  const place = callerPath(base);
  if (!isGguf(base)) {
    const sourceOf = (name: string) => diskSource(path.join(place, name));
    const { model, weights, remarks } = await openFolderCheckpoint(sourceOf);
    const read = readPeft(model, await adapterFolder(adapter));
    const merged = mergedSource(weights, model, read.adapters, read.weights);
    return { files: await mergedFolder(sourceOf, merged, type, templatesIn(place)), remarks };
  }
  const source = diskSource(place);
  if (!source) throw fileError(place, 'read', Object.assign(new Error(), { code: 'ENOENT' }));
  const parts = partNames(path.basename(place)).flatMap(
    (name) => diskSource(path.join(path.dirname(place), name)) ?? [],
  );
  const baseModel = await openGgufCheckpoint(source, parts.filter(({ name }) => name !== source.name)); // prettier-ignore
  const read = readPeft(baseModel.model, await adapterFolder(adapter));
  const merged = mergedSource(baseModel.weights, baseModel.model, read.adapters, read.weights);
  return { files: [await mergedGguf(baseModel, merged, type, path.basename(to))], remarks: baseModel.remarks };
}

/** Paths of additional chat templates in the folder. */
function templatesIn(place: string): readonly string[] {
  const folder = 'additional_chat_templates';
  return existsSync(path.join(place, folder))
    ? namesIn(path.join(place, folder)).map((name) => `${folder}/${name}`)
    : [];
}

/** Maximum size of an adapter's file. An adapter of rank 64 for the largest supported model is smaller. */
const MAX_BYTES = 2 ** 30;

/** The files of an adapter's folder. Files that are not needed are listed without content. Throws ProblemError. */
async function adapterFolder(folder: string): Promise<Files> {
  const place = callerPath(folder);
  const files = new Map<string, Uint8Array>();
  for (const name of namesIn(place)) {
    files.set(name, FILES_TO_READ.has(name) ? await readWhole(path.join(place, name), MAX_BYTES) : new Uint8Array());
  }
  return files;
}
const FILES_TO_READ: ReadonlySet<string> = new Set([PEFT_CONFIG, PEFT_WEIGHTS, FILE_NAMES.valueHead]);

await program('adapter', USAGE, main);
