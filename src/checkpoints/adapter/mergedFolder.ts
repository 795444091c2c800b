import type { ByteSource } from '../../formats/byteSource.ts';
import { safetensorsStream } from '../../formats/safetensors.ts';
import type { StreamedFile } from '../../formats/streamedFile.ts';
import type { WeightSource } from '../../model/weightSource.ts';
import { readConfig } from '../modelConfigFile.ts';
import { HEAD } from '../tensorFit.ts';
import { bytesOf, FILES } from '../checkpointFolder.ts';
import { outputBiases } from '../model.ts';
import type { MergedType } from '../../domain/mergedTypes.ts';
import { bytesAs, sizeOf, WIDTH } from './mergedWeights.ts';

/** Files that are copied unchanged, because they don't depend on the weights. */
const COPIED_FILES = [
  ...[FILES.tokenizer, FILES.tokenizerConfig, FILES.template, FILES.generation, 'chat_template.json'],
  ...['special_tokens_map.json', 'added_tokens.json', 'vocab.json', 'merges.txt', 'tokenizer.model', 'LICENSE'],
];

/** The weights' type in config.json: `torch_dtype` in Transformers 4, `dtype` in 5. */
const DTYPE = /("(?:torch_dtype|dtype)"\s*:\s*)"[^"]*"/g;
/** The setting in config.json that ties the head to the embedding. */
const TIED = /("tie_word_embeddings"\s*:\s*)true\b/g;
const TORCH_DTYPES: Readonly<Record<MergedType, string>> = { F32: 'float32', F16: 'float16' };

/**
 * Writes merged weights (`mergedSource`) as a folder, for a model that was opened from a folder. All weights are in one
 * file, as `type`. The tokenizer is copied. config.json gets the new type. If the model has its own head, config.json
 * is also set to untied, because Transformers 4 trusts that setting. config.json comes last, so that a folder
 * that was cut off can't be opened. `sourceOf` is as in `openFolderCheckpoint`. `names` are the names of the folder's
 * files; further chat templates among them are copied too. Throws ProblemError if there is no config.json.
 */
export async function mergedFolder(
  sourceOf: (name: string) => ByteSource | null,
  weights: WeightSource,
  type: MergedType,
  names: readonly string[] = [],
): Promise<readonly StreamedFile[]> {
  const configFile = sourceOf(FILES.config);
  const configBytes = configFile ? await configFile.read(0, configFile.size) : new Uint8Array();
  const { architecture, model } = readConfig(configBytes);
  const tensors = Array.from(weights, ([name, tensor]) => ({
    ...{ name, shape: tensor.shape, dtype: type, bytes: sizeOf(tensor) * WIDTH[type] },
    read: () => bytesAs(type, tensor, { file: FILES.weights, name }),
  }));
  // Llama's attention_bias requires a bias on o_proj too; here it is 0
  for (const name of model.attention_bias && architecture === 'LlamaForCausalLM' ? outputBiases(model) : []) {
    const bytes = model.hidden_size * WIDTH[type];
    tensors.push({ name, shape: [model.hidden_size], dtype: type, bytes, read: () => Promise.resolve(new Uint8Array(bytes)) }); // prettier-ignore
  }
  const withDtype = new TextDecoder().decode(configBytes).replaceAll(DTYPE, `$1"${TORCH_DTYPES[type]}"`);
  const text = weights.has(HEAD) ? withDtype.replaceAll(TIED, '$1false') : withDtype;
  const templates = names.filter((name) => /^additional_chat_templates\/[^/]+\.jinja$/.test(name));
  const copies = [...COPIED_FILES, ...templates].flatMap((name) => {
    const source = sourceOf(name);
    return source ? [copied(name, source)] : [];
  });
  return [safetensorsStream(FILES.weights, tensors), ...copies, inMemory(FILES.config, bytesOf(text))];
}

const inMemory = (name: string, bytes: Uint8Array): StreamedFile => ({
  ...{ name, bytes: bytes.length },
  pieces: async function* () {
    yield await Promise.resolve(bytes);
  },
});

const copied = (name: string, source: ByteSource): StreamedFile => ({
  ...{ name, bytes: source.size },
  pieces: async function* () {
    yield await source.read(0, source.size);
  },
});
