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

/** A checkpoint whose headers have been read: its model, and where its weights are. */
export interface OpenedCheckpoint {
  readonly model: ModelConfig;
  readonly weights: WeightSource;
  readonly gguf: Gguf | null; // with its vocabulary and chat template
  readonly remarks: readonly string[]; // sentences about tensors that are read differently than config.json says, or are not needed
}

/**
 * Opens a GGUF file, with the other `parts` of its model. Reads only headers, and tensors that must be 0. Throws ProblemError that lists every problem
 * with file and place: a model that this project cannot compute, and tensors that are missing, have another shape, or don't belong to the model.
 */
export async function openGgufCheckpoint(
  source: ByteSource,
  parts: readonly ByteSource[] = [],
): Promise<OpenedCheckpoint> {
  const gguf = await openGguf(source, parts);
  const factors = gguf.tensors.get(ROPE);
  const model = ggufModelConfig(gguf, factors ? [...(await widened(storedTensorOf(factors)))] : null);
  const others = new Map([...gguf.tensors].filter(([name]) => name !== ROPE));
  const kind = gguf.header.metadata.get('general.architecture');
  const rows = (name: string) => (kind === 'llama' ? sourceRow(model, name) : undefined);
  return { ...(await fitting(source.name, model, others, ggufName, rows)), gguf };
}
const ROPE = 'rope_freqs.weight';

/**
 * Opens a folder of Transformers. Reads only `config.json`, the headers of its safetensors files, and tensors that must be 0. `sourceOf` gives a file of
 * the folder by name, or null if it is missing. Throws ProblemError as `openGgufCheckpoint` does.
 */
export async function openFolderCheckpoint(sourceOf: (name: string) => ByteSource | null): Promise<OpenedCheckpoint> {
  const [config, one, index] = [sourceOf(FILES.config), sourceOf(FILES.weights), sourceOf(FILES.index)];
  if (!config) throw absent(FILES.config);
  const model = readConfig(await whole(config)).model;
  if (one) return { ...(await fitting(FILES.weights, model, await openSafetensors(one))), gguf: null };
  if (!index) throw absent(FILES.weights);
  const tensors = await openShards(FILES.index, await whole(index), sourceOf);
  return { ...(await fitting(FILES.index, model, tensors)), gguf: null };
}

/** Larger files are no text of a checkpoint. */
const MOST_TEXT = 1 << 26;

async function whole(source: ByteSource): Promise<Uint8Array> {
  if (source.size <= MOST_TEXT) return source.read(0, source.size);
  throw new ProblemError([
    { file: source.name, place: '', got: `${source.size} bytes`, want: `at most ${MOST_TEXT}`, remedy: OTHER_FILES },
  ]);
}

function absent(file: string): ProblemError {
  const remedy = 'Save the model with save_pretrained(folder), or choose a GGUF file.';
  return new ProblemError({ file, what: 'there is no such file.', remedy });
}

/**
 * The tensors of `model`, by Hugging Face name, and what the model is then: a head that differs from the embedding makes it untied, whatever
 * its config says, as in Transformers. Throws ProblemError with tensors that are missing, of another shape, or more.
 */
async function fitting(
  file: string,
  model: ModelConfig,
  tensors: ReadonlyMap<string, PackedTensor>,
  fileName?: (name: string) => string,
  rowsOf: (name: string) => ((row: number) => number) | undefined = () => undefined,
): Promise<Omit<OpenedCheckpoint, 'gguf'>> {
  const problems: Problem[] = [];
  const wrong = (place: string, got: string, want: string, tensor?: PackedTensor) => {
    problems.push({ file: tensor?.source.name ?? file, place, got, want, remedy: OTHER_FILES });
  };
  const { weights, zeros, head, unused } = fittingTensors(model, tensors, wrong, fileName);
  for (const [name, tensor] of zeros) {
    if ((await widened(storedTensorOf(tensor))).some((x) => x !== 0)) wrong(name, ...NO_BIAS, tensor);
  }
  if (problems.length > 0) throw new ProblemError(problems);
  const embedding = weights.get(EMBEDDING);
  const own = head && embedding && !(await equalPacked(head, embedding)) ? head : null;
  const source = new Map(
    Array.from(weights, ([name, tensor]) => [name, storedTensorOf(tensor, rowsOf(name))] as const),
  );
  if (own) source.set(HEAD, storedTensorOf(own));
  const tied = model.tie_word_embeddings && !own;
  return { model: { ...model, tie_word_embeddings: tied }, weights: source, remarks: remarksOn(head, own, unused) };
}

/** What a person should know of tensors that were not simply read. */
function remarksOn(head: PackedTensor | null, own: PackedTensor | null, unused: readonly string[]): readonly string[] {
  const [first] = unused;
  const remarks: string[] = [];
  if (own) {
    remarks.push(`${HEAD} differs from the embedding, so they are not tied, although config.json says so (tie_word_embeddings).`); // prettier-ignore
  } else if (head) remarks.push(`${HEAD} equals the embedding and is tied to it.`);
  if (first !== undefined) {
    const others = unused.length > 1 ? ` and ${unused.length - 1} more` : '';
    remarks.push(`${visible(first, 120)}${others}: not used. Frequencies of rotary positions follow from config.json.`);
  }
  return remarks;
}

/** A file's tensor as one of a model; `rowOf` says where its rows go, where they change places. */
export function storedTensorOf(tensor: PackedTensor, rowOf?: (row: number) => number): StoredTensor {
  const { shape, format, bytes } = tensor;
  return { shape, format, bytes, read: (out) => readPacked(tensor, out, rowOf) };
}
