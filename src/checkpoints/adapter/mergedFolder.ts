import type { ByteSource, StreamedFile } from '../../formats/byteSource.ts';
import { safetensorsStream } from '../../formats/safetensors.ts';
import type { WeightSource } from '../../model/weightSource.ts';
import { readModelConfig, outputBiases } from '../modelConfigFile.ts';
import { HEAD_NAME } from '../tensorFit.ts';
import { utf8Bytes, FILE_NAMES } from '../checkpointFolder.ts';
import type { MergedType } from '../../domain/mergedTypes.ts';
import { bytesAs, weightCount, BYTES_PER_NUMBER } from './mergedWeights.ts';

/** Files that are copied unchanged, because they don't depend on the weights. */
const COPIED_FILES = [
  ...[
    FILE_NAMES.tokenizer,
    FILE_NAMES.tokenizerConfig,
    FILE_NAMES.template,
    FILE_NAMES.generation,
    'chat_template.json',
  ],
  ...['special_tokens_map.json', 'added_tokens.json', 'vocab.json', 'merges.txt', 'tokenizer.model', 'LICENSE'],
];

/** The weights' type in config.json: `torch_dtype` in Transformers 4, `dtype` in 5. */
const DTYPE_SETTING = /("(?:torch_dtype|dtype)"\s*:\s*)"[^"]*"/g;
/** The setting in config.json that ties the head to the embedding. */
const TIED_SETTING = /("tie_word_embeddings"\s*:\s*)true\b/g;
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
  const configFile = sourceOf(FILE_NAMES.config);
  const configBytes = configFile ? await configFile.read(0, configFile.size) : new Uint8Array();
  const { architecture, model } = readModelConfig(configBytes);
  const tensors = Array.from(weights, ([name, tensor]) => ({
    ...{ name, shape: tensor.shape, dtype: type, bytes: weightCount(tensor) * BYTES_PER_NUMBER[type] },
    read: () => bytesAs(type, tensor, { file: FILE_NAMES.weights, name }),
  }));
  // Llama's attention_bias requires a bias on o_proj too; here it is 0
  for (const name of model.attention_bias && architecture === 'LlamaForCausalLM' ? outputBiases(model) : []) {
    const bytes = model.hidden_size * BYTES_PER_NUMBER[type];
    tensors.push({ name, shape: [model.hidden_size], dtype: type, bytes, read: () => Promise.resolve(new Uint8Array(bytes)) }); // prettier-ignore
  }
  const withDtype = new TextDecoder().decode(configBytes).replaceAll(DTYPE_SETTING, `$1"${TORCH_DTYPES[type]}"`);
  const configText = weights.has(HEAD_NAME) ? withDtype.replaceAll(TIED_SETTING, '$1false') : withDtype;
  const templates = names.filter((name) => /^additional_chat_templates\/[^/]+\.jinja$/.test(name));
  const copies = [...COPIED_FILES, ...templates].flatMap((name) => {
    const source = sourceOf(name);
    return source ? [copiedFile(name, source)] : [];
  });
  return [
    safetensorsStream(FILE_NAMES.weights, tensors),
    ...copies,
    fileInMemory(FILE_NAMES.config, utf8Bytes(configText)),
  ];
}

const fileInMemory = (name: string, bytes: Uint8Array): StreamedFile => ({
  ...{ name, bytes: bytes.length },
  pieces: async function* () {
    yield await Promise.resolve(bytes);
  },
});

const copiedFile = (name: string, source: ByteSource): StreamedFile => ({
  ...{ name, bytes: source.size },
  pieces: async function* () {
    yield await source.read(0, source.size);
  },
});
