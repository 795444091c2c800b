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

/** Files of a model's folder that speak of its tokens, not of its weights. */
const AS_THEY_ARE = [
  ...[FILES.tokenizer, FILES.tokenizerConfig, FILES.template, FILES.generation, 'chat_template.json'],
  ...['special_tokens_map.json', 'added_tokens.json', 'vocab.json', 'merges.txt', 'tokenizer.model', 'LICENSE'],
];

/** Names that Transformers 4 and 5 have for the type of the weights. */
const DTYPE = /("(?:torch_dtype|dtype)"\s*:\s*)"[^"]*"/g;
/** Says that the head is tied to the embedding. */
const TIED = /("tie_word_embeddings"\s*:\s*)true\b/g;
const TRANSFORMERS: Readonly<Record<MergedType, string>> = { F32: 'float32', F16: 'float16' };

/**
 * A model that was opened from a folder as a folder of other weights (`mergedSource`), all in one file in `type`: the same config.json but for that type, the same
 * tokenizer. A model with a head of its own is untied in config.json too, which Transformers 4 believes. config.json is last, so that what is cut off on the way opens nowhere. `sourceOf` as in `openFolderCheckpoint`, `names` those of the
 * folder's files, of which chat templates under other names are kept; throws ProblemError where there
 * is no config.json.
 */
export async function mergedFolder(
  sourceOf: (name: string) => ByteSource | null,
  weights: WeightSource,
  type: MergedType,
  names: readonly string[] = [],
): Promise<readonly StreamedFile[]> {
  const source = sourceOf(FILES.config);
  const config = source ? await source.read(0, source.size) : new Uint8Array();
  const { architecture, model } = readConfig(config);
  const tensors = Array.from(weights, ([name, tensor]) => ({
    ...{ name, shape: tensor.shape, dtype: type, bytes: sizeOf(tensor) * WIDTH[type] },
    read: () => bytesAs(type, tensor, { file: FILES.weights, name }),
  }));
  // Llama's attention_bias asks for one on o_proj too, which here is 0
  for (const name of model.attention_bias && architecture === 'LlamaForCausalLM' ? outputBiases(model) : []) {
    const bytes = model.hidden_size * WIDTH[type];
    tensors.push({ name, shape: [model.hidden_size], dtype: type, bytes, read: () => Promise.resolve(new Uint8Array(bytes)) }); // prettier-ignore
  }
  const typed = new TextDecoder().decode(config).replaceAll(DTYPE, `$1"${TRANSFORMERS[type]}"`);
  const text = weights.has(HEAD) ? typed.replaceAll(TIED, '$1false') : typed;
  const templates = names.filter((name) => /^additional_chat_templates\/[^/]+\.jinja$/.test(name));
  const sides = [...AS_THEY_ARE, ...templates].flatMap((name) => {
    const side = sourceOf(name);
    return side ? [asItIs(name, side)] : [];
  });
  return [safetensorsStream(FILES.weights, tensors), ...sides, inMemory(FILES.config, bytesOf(text))];
}

const inMemory = (name: string, bytes: Uint8Array): StreamedFile => ({
  ...{ name, bytes: bytes.length },
  pieces: async function* () {
    yield await Promise.resolve(bytes);
  },
});

const asItIs = (name: string, source: ByteSource): StreamedFile => ({
  ...{ name, bytes: source.size },
  pieces: async function* () {
    yield await source.read(0, source.size);
  },
});
