import { field, isRecord, readJson } from '../formats/jsonFile.ts';
import { ProblemError } from '../base/problem.ts';
import { decodeSafetensors } from '../formats/safetensors.ts';
import { CheckpointError, type CheckpointTensors, POLICY_WEIGHTS } from '../runs/checkpoint.ts';
import { type PackedRun, unpackedRun } from '../runs/packed.ts';
import { readStoredRun } from '../runs/readStoredRun.ts';
import { environmentFileName, FILES, type Files } from './checkpointFolder.ts';
import { type Foreign, readForeign } from './foreignModel.ts';
import { EXPORT_AGAIN, readMetrics } from './manifestFile.ts';

/** The contents of a folder: a run of this project, which can continue bit for bit, or another program's model. */
export type ReadFolder =
  { readonly kind: 'ours'; readonly run: PackedRun } | { readonly kind: 'foreign'; readonly model: Foreign };

/**
 * Reads the files of a checkpoint's folder, of this project or of another program. Throws ProblemError that lists
 * everything that is wrong, with file and place. Doesn't check whether the model fits an environment; that happens when
 * a run is opened with it.
 */
export function readCheckpointFiles(files: Files): ReadFolder {
  return files.has(FILES.manifest)
    ? { kind: 'ours', run: readOwnRun(files) }
    : { kind: 'foreign', model: readForeign(files) };
}

/** Reads a run that this project exported. */
function readOwnRun(files: Files): PackedRun {
  const manifest = readJson(FILES.manifest, files.get(FILES.manifest) ?? NO_BYTES);
  const checkpoint = isRecord(manifest) ? field(manifest, 'checkpoint') : undefined;
  const has = (name: string) => isRecord(checkpoint) && field(checkpoint, name) !== undefined;
  const missing = [
    ...[FILES.training, FILES.metrics],
    ...(has('base') ? [] : [FILES.weights]),
    ...(has('chatTokenizer') ? [FILES.tokenizer, FILES.template] : []),
  ].filter((name) => !files.has(name));
  if (missing.length > 0) throw missingFiles(missing);
  const metrics = files.get(FILES.metrics) ?? NO_BYTES;
  const text = (...names: readonly string[]) => {
    const bytes = names.map((name) => files.get(name)).find((found) => found !== undefined);
    return bytes && new TextDecoder().decode(bytes);
  };
  const state = tensorsIn(files, FILES.training);
  const parts = {
    manifest,
    tensors: has('base') ? state : new Map([...state, ...policyWeights(files, state)]),
    points: readMetrics(metrics),
    texts: {
      environment: text(FILES.environment, FILES.pythonEnvironment),
      ...{ tokenizer: text(FILES.tokenizer), template: text(FILES.template) },
    },
  };
  try {
    const run = readStoredRun(parts, metrics);
    unpackedRun(run); // throws if a curve's updates do not ascend
    return run;
  } catch (error) {
    if (error instanceof CheckpointError || error instanceof RangeError) throw withFile(error);
    throw error;
  }
}

/** Converts an error to a problem with the file that it is about. */
function withFile(error: CheckpointError | RangeError): ProblemError {
  const problem = {
    file: FILES.manifest,
    place: 'checkpoint',
    got: error.message,
    want: 'the state the run was exported with',
  };
  const remedy = 'Export the run again, or take playground.json out of the folder: then its weights alone are read.';
  const [problemFound] = error instanceof CheckpointError ? error.problems : [];
  if (!problemFound?.got) return new ProblemError({ ...problem, remedy });
  const { file, place, got, want } = problemFound;
  return file === ''
    ? new ProblemError({ ...problem, place, got, want, remedy: EXPORT_AGAIN })
    : new ProblemError({
        ...{ file: environmentFileName({ name: file }), got, want },
        remedy: 'Copy the file that the run was saved with.',
      });
}

/**
 * The policy's weights from the model's files. Only those with moments in the training state, in the same order,
 * because a checksum depends on it.
 */
function policyWeights(files: Files, state: CheckpointTensors): CheckpointTensors {
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
  const { tensors } = decodeSafetensors(files.get(file) ?? NO_BYTES, file);
  return new Map(Array.from(tensors, ([name, { values }]) => [name, values] as const));
}

const NO_BYTES = new Uint8Array();

function missingFiles(names: readonly string[]): ProblemError {
  const remedy = 'Choose the whole folder as it was exported, or its zip.';
  return new ProblemError(names.map((file) => ({ file, what: 'there is no such file.', remedy })));
}
