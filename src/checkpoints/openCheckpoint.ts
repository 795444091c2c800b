import { visible } from '../base/visible.ts';
import type { ByteSource } from '../formats/byteSource.ts';
import { type Gguf, openGguf } from '../formats/gguf.ts';
import { equalPacked, type PackedTensor, readPacked } from '../formats/packedTensor.ts';
import { type Problem, ProblemError } from '../base/problem.ts';
import { openSafetensors, openShards } from '../formats/safetensorsSlices.ts';
import type { ModelConfig } from '../model/architecture.ts';
import { widened, type StoredTensor, type WeightSource } from '../model/weightSource.ts';
import { readConfig } from './modelConfigFile.ts';
import { EMBEDDING, fittingTensors, HEAD, NO_BIAS, OTHER_FILES } from './tensorFit.ts';
import { FILES } from './checkpointFolder.ts';
import { ggufModelConfig } from './ggufConfig.ts';
import { ggufName, sourceRow } from './ggufNames.ts';

/** A checkpoint with its headers read: its model, and where to read its weights. */
export interface OpenedCheckpoint {
  readonly model: ModelConfig;
  readonly weights: WeightSource;
  readonly gguf: Gguf | null; // with its vocabulary and chat template
  /** Sentences about tensors that are read differently than config.json says, or are not needed. */
  readonly remarks: readonly string[];
}

/**
 * Opens a GGUF file, with the other `parts` of its model. Reads only headers, and tensors that must be 0. Throws
 * ProblemError that lists every problem with file and place: a model that this project cannot compute, and tensors that
 * are missing, have another shape, or don't belong to the model.
 */
export async function openGgufCheckpoint(
  source: ByteSource,
  parts: readonly ByteSource[] = [],
): Promise<OpenedCheckpoint> {
  const gguf = await openGguf(source, parts);
  const factors = gguf.tensors.get(ROPE_FACTORS);
  const model = ggufModelConfig(gguf, factors ? [...(await widened(storedTensorOf(factors)))] : null);
  const others = new Map([...gguf.tensors].filter(([name]) => name !== ROPE_FACTORS));
  const kind = gguf.header.metadata.get('general.architecture');
  const rows = (name: string) => (kind === 'llama' ? sourceRow(model, name) : undefined);
  return { ...(await openFitting(source.name, model, others, ggufName, rows)), gguf };
}
const ROPE_FACTORS = 'rope_freqs.weight';

/**
 * Opens a folder of Transformers. Reads only `config.json`, the headers of its safetensors files, and tensors that must
 * be 0. `sourceOf` gives a file of the folder by name, or null if it is missing. Throws ProblemError as
 * `openGgufCheckpoint` does.
 */
export async function openFolderCheckpoint(sourceOf: (name: string) => ByteSource | null): Promise<OpenedCheckpoint> {
  const [config, singleFile, index] = [sourceOf(FILES.config), sourceOf(FILES.weights), sourceOf(FILES.index)];
  if (!config) throw missingFile(FILES.config);
  const model = readConfig(await readText(config)).model;
  if (singleFile)
    return { ...(await openFitting(FILES.weights, model, await openSafetensors(singleFile))), gguf: null };
  if (!index) throw missingFile(FILES.weights);
  const tensors = await openShards(FILES.index, await readText(index), sourceOf);
  return { ...(await openFitting(FILES.index, model, tensors)), gguf: null };
}

/** Text files of a checkpoint may not be larger. */
const MAX_TEXT_BYTES = 1 << 26;

async function readText(source: ByteSource): Promise<Uint8Array> {
  if (source.size <= MAX_TEXT_BYTES) return source.read(0, source.size);
  throw new ProblemError([
    {
      file: source.name,
      place: '',
      got: `${source.size} bytes`,
      want: `at most ${MAX_TEXT_BYTES}`,
      remedy: OTHER_FILES,
    },
  ]);
}

function missingFile(file: string): ProblemError {
  const remedy = 'Save the model with save_pretrained(folder), or choose a GGUF file.';
  return new ProblemError({ file, what: 'there is no such file.', remedy });
}

/**
 * Finds the tensors of `model` by Hugging Face name. If the head differs from the embedding, the model is untied,
 * whatever config.json says, as in Transformers. Throws ProblemError that lists tensors that are missing, have another
 * shape, or don't belong to the model.
 */
async function openFitting(
  file: string,
  model: ModelConfig,
  tensors: ReadonlyMap<string, PackedTensor>,
  fileName?: (name: string) => string,
  rowsOf: (name: string) => ((row: number) => number) | undefined = () => undefined,
): Promise<Omit<OpenedCheckpoint, 'gguf'>> {
  const problems: Problem[] = [];
  const report = (place: string, got: string, want: string, tensor?: PackedTensor) => {
    problems.push({ file: tensor?.source.name ?? file, place, got, want, remedy: OTHER_FILES });
  };
  const { weights, zeros, head, unused } = fittingTensors(model, tensors, report, fileName);
  for (const [name, tensor] of zeros) {
    if ((await widened(storedTensorOf(tensor))).some((x) => x !== 0)) report(name, ...NO_BIAS, tensor);
  }
  if (problems.length > 0) throw new ProblemError(problems);
  const embedding = weights.get(EMBEDDING);
  const ownHead = head && embedding && !(await equalPacked(head, embedding)) ? head : null;
  const source = new Map(
    Array.from(weights, ([name, tensor]) => [name, storedTensorOf(tensor, rowsOf(name))] as const),
  );
  if (ownHead) source.set(HEAD, storedTensorOf(ownHead));
  const tied = model.tie_word_embeddings && !ownHead;
  return { model: { ...model, tie_word_embeddings: tied }, weights: source, remarks: remarksOn(head, ownHead, unused) };
}

/** Sentences about a head beside a tied embedding, and about unused tensors. */
function remarksOn(
  head: PackedTensor | null,
  ownHead: PackedTensor | null,
  unused: readonly string[],
): readonly string[] {
  const [first] = unused;
  const remarks: string[] = [];
  if (ownHead) {
    remarks.push(`${HEAD} differs from the embedding, so they are not tied, although config.json says so (tie_word_embeddings).`); // prettier-ignore
  } else if (head) remarks.push(`${HEAD} equals the embedding and is tied to it.`);
  if (first !== undefined) {
    const others = unused.length > 1 ? ` and ${unused.length - 1} more` : '';
    remarks.push(`${visible(first, 120)}${others}: not used. Frequencies of rotary positions follow from config.json.`);
  }
  return remarks;
}

/**
 * Makes a file's tensor readable as a model's tensor. `rowOf` maps each row to its new row, if rows change their order.
 */
export function storedTensorOf(tensor: PackedTensor, rowOf?: (row: number) => number): StoredTensor {
  const { shape, format, bytes } = tensor;
  return { shape, format, bytes, read: (out) => readPacked(tensor, out, rowOf) };
}
