import { field, isRecord } from '../base/jsonRecord.ts';
import { readJson } from '../formats/jsonFile.ts';
import { ProblemError } from '../base/problem.ts';
import { decodeSafetensors } from '../formats/safetensors.ts';
import { CheckpointError, type CheckpointTensors, POLICY_WEIGHTS_PREFIX } from '../runs/checkpoint.ts';
import { type PackedRun, unpackedRun } from '../runs/packed.ts';
import { readStoredRun } from '../runs/readStoredRun.ts';
import { environmentFileName, FILE_NAMES, type Files } from './checkpointFolder.ts';
import { type ImportedModel, readForeign } from './foreignModel.ts';
import { EXPORT_AGAIN_REMEDY, readMetrics } from './manifestFile.ts';

/** The contents of a folder: a run of this project, which can continue bit for bit, or another program's model. */
export type ReadFolder =
  | { readonly kind: 'ours'; readonly run: PackedRun }
  | { readonly kind: 'foreign'; readonly model: ImportedModel };

/**
 * Reads the files of a checkpoint's folder, of this project or of another program. Throws ProblemError that lists
 * everything that is wrong, with file and place. Doesn't check whether the model fits an environment; that happens when
 * a run is opened with it.
 */
export function readCheckpointFiles(files: Files): ReadFolder {
  return files.has(FILE_NAMES.manifest)
    ? { kind: 'ours', run: readOwnRun(files) }
    : { kind: 'foreign', model: readForeign(files) };
}

function readOwnRun(files: Files): PackedRun {
  const manifest = readJson(FILE_NAMES.manifest, files.get(FILE_NAMES.manifest) ?? NO_BYTES);
  const checkpoint = isRecord(manifest) ? field(manifest, 'checkpoint') : undefined;
  const has = (name: string) => isRecord(checkpoint) && field(checkpoint, name) !== undefined;
  const missing = [
    ...[FILE_NAMES.training, FILE_NAMES.metrics],
    ...(has('base') ? [] : [FILE_NAMES.weights]),
    ...(has('chatTokenizer') ? [FILE_NAMES.tokenizer, FILE_NAMES.template] : []),
  ].filter((name) => !files.has(name));
  if (missing.length > 0) throw missingFiles(missing);
  const metrics = files.get(FILE_NAMES.metrics) ?? NO_BYTES;
  const text = (...names: readonly string[]) => {
    const bytes = names.map((name) => files.get(name)).find((found) => found !== undefined);
    return bytes && new TextDecoder().decode(bytes);
  };
  const state = tensorsIn(files, FILE_NAMES.training);
  const storedParts = {
    manifest,
    tensors: has('base') ? state : new Map([...state, ...policyWeights(files, state)]),
    points: readMetrics(metrics),
    texts: {
      environment: text(FILE_NAMES.environment, FILE_NAMES.pythonEnvironment),
      ...{ tokenizer: text(FILE_NAMES.tokenizer), template: text(FILE_NAMES.template) },
    },
  };
  try {
    const run = readStoredRun(storedParts, metrics);
    unpackedRun(run); // throws if a curve's updates do not ascend
    return run;
  } catch (error) {
    if (error instanceof CheckpointError || error instanceof RangeError) throw problemWithFile(error);
    throw error;
  }
}

/** Converts an error to a problem with the file that it is about. */
function problemWithFile(error: CheckpointError | RangeError): ProblemError {
  const problem = {
    file: FILE_NAMES.manifest,
    place: 'checkpoint',
    got: error.message,
    want: 'the state the run was exported with',
  };
  const remedy = 'Export the run again, or take playground.json out of the folder: then its weights alone are read.';
  const [firstProblem] = error instanceof CheckpointError ? error.problems : [];
  if (!firstProblem?.got) return new ProblemError({ ...problem, remedy });
  const { file, place, got, want } = firstProblem;
  return file === ''
    ? new ProblemError({ ...problem, place, got, want, remedy: EXPORT_AGAIN_REMEDY })
    : new ProblemError({
        ...{ file: environmentFileName({ name: file }), got, want },
        remedy: 'Copy the file that the run was saved with.',
      });
}

/** Takes from the model's files only those with moments in the training state, in their order, because a checksum depends on it. */
function policyWeights(files: Files, state: CheckpointTensors): CheckpointTensors {
  const momentPrefix = 'policy.adamM.';
  const modelTensors = new Map([
    ...tensorsIn(files, FILE_NAMES.weights),
    ...(files.has(FILE_NAMES.valueHead) ? tensorsIn(files, FILE_NAMES.valueHead) : []),
  ]);
  const names = [...state.keys()]
    .filter((name) => name.startsWith(momentPrefix))
    .map((name) => name.slice(momentPrefix.length));
  return new Map(
    names.flatMap((name) => {
      const values = modelTensors.get(name);
      return values ? [[POLICY_WEIGHTS_PREFIX + name, values] as const] : [];
    }),
  );
}

function tensorsIn(files: Files, file: string): CheckpointTensors {
  const { tensors } = decodeSafetensors(files.get(file) ?? NO_BYTES, file);
  return new Map(Array.from(tensors, ([name, { values }]) => [name, values] as const));
}

const NO_BYTES = new Uint8Array();

function missingFiles(names: readonly string[]): ProblemError {
  const remedy = 'Choose the whole folder as it was exported, or its zip.';
  return new ProblemError(names.map((file) => ({ file, what: 'there is no such file.', remedy })));
}
