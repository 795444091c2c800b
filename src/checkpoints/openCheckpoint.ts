import { visible } from '../base/visible.ts';
import type { ByteSource } from '../formats/byteSource.ts';
import { type Gguf, openGguf } from '../formats/gguf.ts';
import { equalPacked, type PackedTensor, readPacked } from '../formats/packedTensor.ts';
import { type Problem, ProblemError } from '../base/problem.ts';
import { openSafetensors, openShards } from '../formats/safetensorsSlices.ts';
import type { ModelConfig } from '../model/architecture.ts';
import { readFloat32, type StoredTensor, type WeightSource } from '../model/weightSource.ts';
import { readModelConfig } from './modelConfigFile.ts';
import { EMBEDDING_NAME, findModelTensors, HEAD_NAME, NO_BIAS, MISMATCH_REMEDY } from './tensorFit.ts';
import { FILE_NAMES } from './checkpointFolder.ts';
import { ggufName, huggingFaceRow } from './ggufNames.ts';
import type { GgufValue } from '../formats/ggufHeader.ts';
import { MAX_HEAD_DIM } from './rope.ts';

const ARCHITECTURES = ['llama', 'qwen2', 'qwen3'];
const REMEDY = 'Choose a GGUF file of a Llama, Qwen2 or Qwen3.';

/**
 * The model that a GGUF file's metadata describes. `ropeFactors` are the values of its tensor `rope_freqs.weight`, null
 * if it has none. Throws ProblemError that lists everything that this project's network cannot compute, and keys that
 * are missing or of the wrong type.
 */
export function ggufModelConfig({ header, tensors }: Gguf, ropeFactors: readonly number[] | null): ModelConfig {
  const { file, metadata } = header;
  const problems: Problem[] = [];
  const report = (place: string, got: GgufValue | undefined, want: string) => {
    problems.push({ file, place, got: shownValue(got), want, remedy: REMEDY });
  };
  const architecture = metadata.get('general.architecture');
  const family = typeof architecture === 'string' ? architecture : '';
  if (!ARCHITECTURES.includes(family)) {
    report('general.architecture', architecture, ARCHITECTURES.join(', '));
    throw new ProblemError(problems);
  }
  const positiveNumber = (key: string, fallback: number | undefined, whole: boolean): number => {
    const value = metadata.get(`${family}.${key}`) ?? fallback;
    if (typeof value === 'number' && Number.isFinite(value) && value > 0 && (!whole || Number.isSafeInteger(value)))
      return value;
    report(`${family}.${key}`, value, whole ? 'a whole number above 0' : 'a number above 0');
    return 1;
  };
  const positiveCount = (key: string, fallback?: number) => positiveNumber(key, fallback, true);
  const hidden_size = positiveCount('embedding_length');
  const heads = positiveCount('attention.head_count');
  const kvHeads = positiveCount('attention.head_count_kv', heads);
  const head_dim = positiveCount('attention.key_length', hidden_size / heads);
  const requireEqual = (key: string, want: number) => {
    const value = metadata.get(`${family}.${key}`) ?? want;
    if (value !== want) report(`${family}.${key}`, value, String(want));
  };
  requireEqual('attention.value_length', head_dim);
  requireEqual('rope.dimension_count', head_dim);
  if (head_dim % 2 !== 0 || head_dim > MAX_HEAD_DIM) {
    report(
      `${family}.attention.key_length`,
      head_dim,
      `an even number up to ${MAX_HEAD_DIM}: halves of a head are rotated`,
    );
    throw new ProblemError(problems); // before anything of such a size is allocated
  }
  if (heads % kvHeads !== 0) report(`${family}.attention.head_count_kv`, kvHeads, `a divisor of ${heads}`);
  const tokens = metadata.get('tokenizer.ggml.tokens');
  const embeddingRows = tensors.get('token_embd.weight')?.shape[0];
  const vocab_size = positiveCount('vocab_size', Array.isArray(tokens) ? tokens.length : embeddingRows);
  const ropeScaling = metadata.get(`${family}.rope.scaling.type`) ?? 'none';
  const linearFactor = ropeScaling === 'linear' ? positiveNumber('rope.scaling.factor', undefined, false) : null;
  if (ropeScaling !== 'none' && ropeScaling !== 'linear')
    report(`${family}.rope.scaling.type`, ropeScaling, 'none or linear');
  if (ropeFactors && (ropeFactors.length !== head_dim / 2 || !ropeFactors.every((x) => x > 0))) {
    report('rope_freqs.weight', `${ropeFactors.length} numbers`, `${head_dim / 2} above 0, half of a head`);
  }
  const model: ModelConfig = {
    vocab_size,
    hidden_size,
    intermediate_size: positiveCount('feed_forward_length'),
    num_hidden_layers: positiveCount('block_count'),
    num_attention_heads: heads,
    num_key_value_heads: kvHeads,
    head_dim,
    rms_norm_eps: positiveNumber('attention.layer_norm_rms_epsilon', undefined, false),
    rope_theta: positiveNumber('rope.freq_base', 10000, false),
    ...((ropeFactors ?? linearFactor) && {
      rope_factors: Array.from({ length: head_dim / 2 }, (_, i) => (ropeFactors?.[i] ?? 1) * (linearFactor ?? 1)),
    }),
    ...(family === 'qwen3' && { qk_norm: true }),
    attention_bias: family === 'qwen2',
    tie_word_embeddings: !tensors.has('output.weight'),
    value_head: false,
  };
  if (problems.length > 0) throw new ProblemError(problems);
  return model;
}

function shownValue(value: GgufValue | undefined): string {
  if (value === undefined) return 'nothing';
  return typeof value === 'object' ? `a list of ${value.length}` : String(value);
}

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
  const ropeFactors = gguf.tensors.get(ROPE_FACTORS);
  const model = ggufModelConfig(gguf, ropeFactors ? [...(await readFloat32(storedTensorOf(ropeFactors)))] : null);
  const modelTensors = new Map([...gguf.tensors].filter(([name]) => name !== ROPE_FACTORS));
  const architecture = gguf.header.metadata.get('general.architecture');
  const rowMapOf = (name: string) => (architecture === 'llama' ? huggingFaceRow(model, name) : undefined);
  return { ...(await openWeights(source.name, model, modelTensors, ggufName, rowMapOf)), gguf };
}
const ROPE_FACTORS = 'rope_freqs.weight';

/**
 * Opens a folder of Transformers. Reads only `config.json`, the headers of its safetensors files, and tensors that must
 * be 0. `sourceOf` gives a file of the folder by name, or null if it is missing. Throws ProblemError as
 * `openGgufCheckpoint` does.
 */
export async function openFolderCheckpoint(sourceOf: (name: string) => ByteSource | null): Promise<OpenedCheckpoint> {
  const [config, singleFile, index] = [
    sourceOf(FILE_NAMES.config),
    sourceOf(FILE_NAMES.weights),
    sourceOf(FILE_NAMES.index),
  ];
  if (!config) throw missingFile(FILE_NAMES.config);
  const model = readModelConfig(await readText(config)).model;
  if (singleFile)
    return { ...(await openWeights(FILE_NAMES.weights, model, await openSafetensors(singleFile))), gguf: null };
  if (!index) throw missingFile(FILE_NAMES.weights);
  const tensors = await openShards(FILE_NAMES.index, await readText(index), sourceOf);
  return { ...(await openWeights(FILE_NAMES.index, model, tensors)), gguf: null };
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
      remedy: MISMATCH_REMEDY,
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
async function openWeights(
  file: string,
  model: ModelConfig,
  tensors: ReadonlyMap<string, PackedTensor>,
  fileName?: (name: string) => string,
  rowMapOf: (name: string) => ((row: number) => number) | undefined = () => undefined,
): Promise<Omit<OpenedCheckpoint, 'gguf'>> {
  const problems: Problem[] = [];
  const report = (place: string, got: string, want: string, tensor?: PackedTensor) => {
    problems.push({ file: tensor?.source.name ?? file, place, got, want, remedy: MISMATCH_REMEDY });
  };
  const { weights, zeroBiases, separateHead, unused } = findModelTensors(model, tensors, report, fileName);
  for (const [name, tensor] of zeroBiases) {
    if ((await readFloat32(storedTensorOf(tensor))).some((x) => x !== 0)) report(name, ...NO_BIAS, tensor);
  }
  if (problems.length > 0) throw new ProblemError(problems);
  const embedding = weights.get(EMBEDDING_NAME);
  const untiedHead = separateHead && embedding && !(await equalPacked(separateHead, embedding)) ? separateHead : null;
  const storedTensors = new Map(
    Array.from(weights, ([name, tensor]) => [name, storedTensorOf(tensor, rowMapOf(name))] as const),
  );
  if (untiedHead) storedTensors.set(HEAD_NAME, storedTensorOf(untiedHead));
  const tied = model.tie_word_embeddings && !untiedHead;
  return {
    model: { ...model, tie_word_embeddings: tied },
    weights: storedTensors,
    remarks: remarksOnTensors(separateHead, untiedHead, unused),
  };
}

/** Sentences about a head beside a tied embedding, and about unused tensors. */
function remarksOnTensors(
  separateHead: PackedTensor | null,
  untiedHead: PackedTensor | null,
  unused: readonly string[],
): readonly string[] {
  const [firstUnused] = unused;
  const remarks: string[] = [];
  if (untiedHead) {
    remarks.push(`${HEAD_NAME} differs from the embedding, so they are not tied, although config.json says so (tie_word_embeddings).`); // prettier-ignore
  } else if (separateHead) remarks.push(`${HEAD_NAME} equals the embedding and is tied to it.`);
  if (firstUnused !== undefined) {
    const moreText = unused.length > 1 ? ` and ${unused.length - 1} more` : '';
    remarks.push(
      `${visible(firstUnused, 120)}${moreText}: not used. Frequencies of rotary positions follow from config.json.`,
    );
  }
  return remarks;
}

/** `outputRow` maps each row of the file to its row in the model, if rows change their order. */
export function storedTensorOf(tensor: PackedTensor, outputRow?: (row: number) => number): StoredTensor {
  const { shape, format, bytes } = tensor;
  return { shape, format, bytes, read: (out) => readPacked(tensor, out, outputRow) };
}
