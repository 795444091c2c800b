import { field, isRecord, readJson } from '../formats/jsonFile.ts';
import { ProblemError } from '../base/problem.ts';
import { decodeSafetensors } from '../formats/safetensors.ts';
import { CheckpointError, type CheckpointTensors, POLICY_WEIGHTS } from '../runs/checkpoint.ts';
import { type PackedRun, unpackedRun } from '../runs/packed.ts';
import { readStoredRun } from '../runs/readStoredRun.ts';
import { environmentFileName, FILES, type Files } from './checkpointFolder.ts';
import { type Foreign, readForeign } from './foreignModel.ts';
import { EXPORT_AGAIN, readMetrics } from './manifestFile.ts';

/** What a folder turned out to be: a run of this project, which goes on bit for bit, or another program's model. */
export type ReadFolder =
  { readonly kind: 'ours'; readonly run: PackedRun } | { readonly kind: 'foreign'; readonly model: Foreign };

/**
 * Reads the files of a checkpoint's folder, of this project or of another program's. Throws ProblemError with the file, the place in it, what
 * was got and wanted and what to do, for each thing that is wrong. Nothing is changed by it; whether the model fits an environment is
 * asked when it is opened there.
 */
export function readCheckpointFiles(files: Files): ReadFolder {
  return files.has(FILES.manifest)
    ? { kind: 'ours', run: readOurs(files) }
    : { kind: 'foreign', model: readForeign(files) };
}

/** The run whose parts are these files. */
function readOurs(files: Files): PackedRun {
  const manifest = readJson(FILES.manifest, files.get(FILES.manifest) ?? NOTHING);
  const checkpoint = isRecord(manifest) ? field(manifest, 'checkpoint') : undefined;
  const has = (name: string) => isRecord(checkpoint) && field(checkpoint, name) !== undefined;
  const missing = [
    ...[FILES.training, FILES.metrics],
    ...(has('base') ? [] : [FILES.weights]),
    ...(has('chatTokenizer') ? [FILES.tokenizer, FILES.template] : []),
  ].filter((name) => !files.has(name));
  if (missing.length > 0) throw absent(missing);
  const metrics = files.get(FILES.metrics) ?? NOTHING;
  const text = (...names: readonly string[]) => {
    const bytes = names.map((name) => files.get(name)).find((found) => found !== undefined);
    return bytes && new TextDecoder().decode(bytes);
  };
  const state = tensorsIn(files, FILES.training);
  const parts = {
    manifest,
    tensors: has('base') ? state : new Map([...state, ...weightsOf(files, state)]),
    points: readMetrics(metrics),
    texts: {
      environment: text(FILES.environment, FILES.pythonEnvironment),
      ...{ tokenizer: text(FILES.tokenizer), template: text(FILES.template) },
    },
  };
  try {
    const run = readStoredRun(parts, metrics);
    unpackedRun(run); // its curves rise
    return run;
  } catch (error) {
    if (error instanceof CheckpointError || error instanceof RangeError) throw ofFile(error);
    throw error;
  }
}

/** The error with the file that it is about. */
function ofFile(error: CheckpointError | RangeError): ProblemError {
  const problem = {
    file: FILES.manifest,
    place: 'checkpoint',
    got: error.message,
    want: 'the state the run was exported with',
  };
  const remedy = 'Export the run again, or take playground.json out of the folder: then its weights alone are read.';
  const [found] = error instanceof CheckpointError ? error.problems : [];
  if (!found?.got) return new ProblemError({ ...problem, remedy });
  const { file, place, got, want } = found;
  return file === ''
    ? new ProblemError({ ...problem, place, got, want, remedy: EXPORT_AGAIN })
    : new ProblemError({
        ...{ file: environmentFileName({ name: file }), got, want },
        remedy: 'Copy the file that the run was saved with.',
      });
}

/** The policy's weights from the model's files: those that the training state has moments of and in their order, which a checksum goes by. */
function weightsOf(files: Files, state: CheckpointTensors): CheckpointTensors {
  const moments = 'policy.adamM.';
  const all = new Map([
    ...tensorsIn(files, FILES.weights),
    ...(files.has(FILES.valueHead) ? tensorsIn(files, FILES.valueHead) : []),
  ]);
  const names = [...state.keys()].filter((name) => name.startsWith(moments)).map((name) => name.slice(moments.length));
  return new Map(
    names.flatMap((name) => {
      const values = all.get(name);
      return values ? [[POLICY_WEIGHTS + name, values] as const] : [];
    }),
  );
}

function tensorsIn(files: Files, file: string): CheckpointTensors {
  const { tensors } = decodeSafetensors(files.get(file) ?? NOTHING, file);
  return new Map(Array.from(tensors, ([name, { values }]) => [name, values] as const));
}

const NOTHING = new Uint8Array();

function absent(names: readonly string[]): ProblemError {
  const remedy = 'Choose the whole folder as it was exported, or its zip.';
  return new ProblemError(names.map((file) => ({ file, what: 'there is no such file.', remedy })));
}
