import { narrowedHalves } from '../formats/half.ts';
import { jsonText } from '../formats/jsonFile.ts';
import { encodeSafetensors, type HalfTensor } from '../formats/safetensors.ts';
import { type ModelConfig, parameters, type Weights } from '../model/architecture.ts';
import type { ChatTokenizerFiles } from '../domain/chatTokenizerFiles.ts';
import { openChatTokenizer } from '../text/chatTokenizer.ts';
import { configFile, MOST_POSITIONS } from './modelConfigFile.ts';
import { bytesOf, FILES, type Files } from './checkpointFolder.ts';
import { generationFile } from './generation.ts';
import type { SpecialIds } from './tokenizer.ts';

/** The special token ids in a text model's files. */
export function specialIds(files: ChatTokenizerFiles): SpecialIds {
  const pad = openChatTokenizer(files).codec.id(PAD);
  return { pad: pad ?? files.stops.at(-1) ?? 0, bos: null, ends: files.stops };
}

const PAD = '<|endoftext|>';

/**
 * tokenizer_config.json of a text model. The chat template has a file of its own, and is repeated here for older
 * readers.
 */
export function textTokenizerConfig(files: ChatTokenizerFiles): string {
  const { codec } = openChatTokenizer(files);
  const text = (id: number | undefined) => (id === undefined ? null : codec.decode([id]));
  return jsonText({
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: null,
    eos_token: text(files.stops[0]),
    pad_token: text(specialIds(files).pad),
    unk_token: null,
    padding_side: 'left',
    model_max_length: MOST_POSITIONS,
    clean_up_tokenization_spaces: false,
    chat_template: files.template,
  });
}

/** A text model as a folder of Transformers, with weights in half precision. */
export function textModelFiles(
  model: ModelConfig,
  weights: Weights,
  chatTokenizer: ChatTokenizerFiles,
  card: string,
): Files {
  const tensors = new Map<string, HalfTensor>();
  for (const { name, shape, size } of parameters({ ...model, value_head: false })) {
    tensors.set(name, { shape, values: narrowedHalves(weights.get(name) ?? new Float32Array(size)) });
  }
  const ids = specialIds(chatTokenizer);
  const texts: readonly (readonly [string, string])[] = [
    [FILES.config, configFile(model, ids, 'llama', 'float16')],
    [FILES.generation, generationFile(ids)],
    [FILES.tokenizer, chatTokenizer.tokenizer],
    [FILES.tokenizerConfig, textTokenizerConfig(chatTokenizer)],
    [FILES.template, chatTokenizer.template],
    [FILES.card, card],
  ];
  return new Map<string, Uint8Array>([
    ...texts.map(([name, text]) => [name, bytesOf(text)] as const),
    [FILES.weights, new Uint8Array(encodeSafetensors(tensors, { format: 'pt' }))],
  ]);
}
