import { toFloat16 } from '../formats/blocks/float16.ts';
import { jsonText } from '../formats/jsonFile.ts';
import { encodeSafetensors, type Float16Tensor } from '../formats/safetensors.ts';
import { type ModelConfig, parameters, type Weights } from '../model/architecture.ts';
import type { ChatTokenizerFiles } from '../domain/chatTokenizerFiles.ts';
import { openChatTokenizer } from '../text/chatTokenizer.ts';
import { configFile, MAX_POSITIONS } from './modelConfigFile.ts';
import { utf8Bytes, FILE_NAMES, type Files } from './checkpointFolder.ts';
import { type SpecialIds, generationFile } from './tokenizer.ts';

export function textSpecialIds(files: ChatTokenizerFiles): SpecialIds {
  const pad = openChatTokenizer(files).codec.id(PAD_TOKEN);
  return { pad: pad ?? files.stops.at(-1) ?? 0, bos: null, turnEnds: files.stops };
}

const PAD_TOKEN = '<|endoftext|>';

/** The chat template has a file of its own, and is repeated here for older readers. */
export function textTokenizerConfig(files: ChatTokenizerFiles): string {
  const { codec } = openChatTokenizer(files);
  const text = (id: number | undefined) => (id === undefined ? null : codec.decode([id]));
  return jsonText({
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: null,
    eos_token: text(files.stops[0]),
    pad_token: text(textSpecialIds(files).pad),
    unk_token: null,
    padding_side: 'left',
    model_max_length: MAX_POSITIONS,
    clean_up_tokenization_spaces: false,
    chat_template: files.template,
  });
}

/** A text model as a folder of Transformers, with weights as float16. */
export function textModelFiles(
  model: ModelConfig,
  weights: Weights,
  chatTokenizer: ChatTokenizerFiles,
  card: string,
): Files {
  const tensors = new Map<string, Float16Tensor>();
  for (const { name, shape, size } of parameters({ ...model, value_head: false })) {
    tensors.set(name, { shape, values: toFloat16(weights.get(name) ?? new Float32Array(size)) });
  }
  const ids = textSpecialIds(chatTokenizer);
  const texts: readonly (readonly [string, string])[] = [
    [FILE_NAMES.config, configFile(model, ids, 'llama', 'float16')],
    [FILE_NAMES.generation, generationFile(ids)],
    [FILE_NAMES.tokenizer, chatTokenizer.tokenizer],
    [FILE_NAMES.tokenizerConfig, textTokenizerConfig(chatTokenizer)],
    [FILE_NAMES.template, chatTokenizer.template],
    [FILE_NAMES.card, card],
  ];
  return new Map<string, Uint8Array>([
    ...texts.map(([name, text]) => [name, utf8Bytes(text)] as const),
    [FILE_NAMES.weights, new Uint8Array(encodeSafetensors(tensors, { format: 'pt' }))],
  ]);
}
