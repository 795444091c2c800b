import { field, isRecord, type JsonRecord } from '../formats/jsonFile.ts';
import { FormatError } from '../formats/formatProblem.ts';
import { decodeSafetensors, type SafeTensor } from '../formats/safetensors.ts';
import { CheckpointError, readCheckpoint, type Tensors } from '../runs/checkpoint.ts';
import type { PackedRun } from '../runs/packed.ts';
import { unpackedRun } from '../runs/packed.ts';
import { FILES, type Files } from './checkpointFolder.ts';
import { type Foreign, readForeign } from './foreignModel.ts';
import { readManifest, readMetrics } from './manifestFile.ts';
import { networkOf, pairsOf, poolOf } from './trainingState.ts';

/** What a folder turned out to be: a run of this project, which goes on bit for bit, or another program's model. */
export type ReadFolder =
  { readonly kind: 'ours'; readonly run: PackedRun } | { readonly kind: 'foreign'; readonly model: Foreign };

/**
 * Reads the files of a checkpoint's folder, of this project or of another program's. Throws FormatError with the file, the place in it, what
 * was got and wanted and what to do, for each thing that is wrong. Nothing is changed by it; whether the model fits an environment is
 * asked when it is opened there.
 */
export function readCheckpointFiles(files: Files): ReadFolder {
  return files.has(FILES.manifest)
    ? { kind: 'ours', run: readOurs(files) }
    : { kind: 'foreign', model: readForeign(files) };
}

function readOurs(files: Files): PackedRun {
  const needs = (...names: readonly string[]) => {
    const missing = names.filter((name) => !files.has(name));
    if (missing.length > 0) throw absent(missing);
  };
  needs(FILES.training, FILES.metrics);
  const metrics = files.get(FILES.metrics) ?? NOTHING;
  const { run, checkpoint, steps, rewardModel } = readManifest(
    files.get(FILES.manifest) ?? NOTHING,
    metrics,
    files.get(FILES.environment) ?? files.get(FILES.pythonEnvironment),
  );
  const adapts = field(checkpoint, 'base') !== undefined;
  if (!adapts) needs(FILES.weights);
  const points = readMetrics(metrics);
  const state = tensorsIn(files, FILES.training);
  const policy = {
    weights: adapts ? poolOf(state, 'policy', 'weights') : weightsOf(files, poolOf(state, 'policy', 'adamM')),
    adamM: poolOf(state, 'policy', 'adamM'),
    adamV: poolOf(state, 'policy', 'adamV'),
    steps: steps['policy'],
  };
  const critic = steps['critic'] === null ? null : networkOf(state, 'critic', steps['critic']);
  const { steps: fitSteps, ...counts } = rewardModel ?? {};
  const judge = rewardModel && {
    network: networkOf(state, 'reward_model', fitSteps),
    memory: { ...counts, ...pairsOf(state) },
  };
  try {
    const start = poolOf(state, 'policy', 'start');
    const began = start.size > 0 && { start };
    const spoken = chatTokenizerOf(files, checkpoint);
    const read = readCheckpoint({
      ...checkpoint,
      ...began,
      ...spoken,
      networks: { policy, critic },
      rewardModel: judge,
    });
    const packed = { ...run, checkpoint: read, points };
    unpackedRun(packed); // its curves rise
    if (run.update === read.progress.update) return packed;
    throw new CheckpointError(`Its run is at update ${run.update}, its checkpoint at ${read.progress.update}.`);
  } catch (error) {
    if (!(error instanceof CheckpointError) && !(error instanceof RangeError)) throw error;
    throw new FormatError([
      {
        ...{
          file: FILES.manifest,
          place: 'checkpoint',
          got: error.message,
          want: 'the state the run was exported with',
        },
        remedy: 'Export the run again, or take playground.json out of the folder: then its weights alone are read.',
      },
    ]);
  }
}

/** The chat tokenizer of a text run. Tokenizer and template are files of the folder. Null if the run uses words. */
function chatTokenizerOf(files: Files, checkpoint: JsonRecord): JsonRecord | null {
  const chatTokenizer = field(checkpoint, 'chatTokenizer');
  if (!isRecord(chatTokenizer)) return null;
  const missing = [FILES.tokenizer, FILES.template].filter((file) => !files.has(file));
  if (missing.length > 0) throw absent(missing);
  const text = (file: string) => new TextDecoder().decode(files.get(file));
  return { chatTokenizer: { ...chatTokenizer, tokenizer: text(FILES.tokenizer), template: text(FILES.template) } };
}

/** The policy's weights, those it has moments of and in their order, which a checksum goes by. */
function weightsOf(files: Files, order: Tensors): Tensors {
  const head = files.has(FILES.valueHead) ? [...tensorsIn(files, FILES.valueHead)] : [];
  const all = new Map([...tensorsIn(files, FILES.weights), ...head]);
  const weights = new Map<string, Float32Array>();
  for (const name of order.keys()) {
    const values = all.get(name)?.values;
    if (values instanceof Float32Array) weights.set(name, values);
  }
  return weights;
}

function tensorsIn(files: Files, name: string): ReadonlyMap<string, SafeTensor> {
  return decodeSafetensors(files.get(name) ?? NOTHING, name).tensors;
}

const NOTHING = new Uint8Array();

function absent(names: readonly string[]): FormatError {
  const remedy = 'Choose the whole folder as it was exported, or its zip.';
  return new FormatError(names.map((file) => ({ file, place: '', got: 'no such file', want: 'one', remedy })));
}
