import { toFloat16 } from '../formats/blocks/float16.ts';
import { jsonText } from '../formats/jsonFile.ts';
import { encodeSafetensors, type Float16Tensor } from '../formats/safetensors.ts';
import { type ModelConfig, parameters, type Weights, parameterCount } from '../model/architecture.ts';
import type { ChatTokenizerFiles } from '../domain/chatTokenizerFiles.ts';
import { openChatTokenizer } from '../text/chatTokenizer.ts';
import { configFile, MAX_POSITIONS } from './modelConfigFile.ts';
import { utf8Bytes, FILE_NAMES, type Files } from './checkpointFolder.ts';
import { type SpecialIds, generationFile } from './tokenizer.ts';
import type { WarmStartRecipe } from '../config/environments.ts';

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

/** README.md of the text model that comes with the page. `quality`: probability that a demonstrator acts correctly at each choice. */
export function textModelCard(
  model: ModelConfig,
  { steps, rows = 0, learningRate }: Omit<WarmStartRecipe, 'quality'>,
  quality: Readonly<Record<string, number>>,
): string {
  const played = Object.entries(quality).map(([env, share]) => `\`${env}\` (${share})`);
  return `${[
    FRONT_MATTER,
    '# A text agent to begin from',
    `A Llama of ${parameterCount({ ...model, value_head: false }).toLocaleString('en')} parameters (${model.num_hidden_layers} layers, width ${model.hidden_size}) over a byte-level BPE of ${model.vocab_size.toLocaleString('en')} tokens, digits one by one. Rollout Playground trains it and its tokenizer from scratch, with \`npm run textmodel\`.`,
    `It was trained only on conversations in which a script plays one of ${played.length} environments: ${played.join(', ')}; the number in brackets is the probability that the script acts correctly at each choice. ${steps.toLocaleString('en')} AdamW steps of ${rows} conversations, learning rate ${learningRate}, loss on the agent’s own tokens only. It knows the form of a call and can copy from what it reads. Reinforcement learning has to teach it what to do. It knows no language beyond these sentences, and no facts.`,
    '## Load it',
    LOAD,
    'Weights are half precision. Licence: MIT.',
  ].join('\n\n')}\n`;
}

const FRONT_MATTER = `---
license: mit
library_name: transformers
pipeline_tag: text-generation
tags: [rollout-playground, reinforcement-learning, agent, tool-use]
---`;

const LOAD = `\`\`\`python
from transformers import AutoModelForCausalLM, AutoTokenizer
model, tokenizer = AutoModelForCausalLM.from_pretrained("."), AutoTokenizer.from_pretrained(".")
compare = {"type": "function", "function": {"name": "compare", "description": "Says whether the hidden number is higher or lower than n.",
  "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}}
messages = [{"role": "system", "content": "You find a hidden number by calls."}, {"role": "user", "content": "Find the number from 0 to 15."}]
inputs = tokenizer.apply_chat_template(messages, tools=[compare], add_generation_prompt=True, return_tensors="pt", return_dict=True)
print(tokenizer.decode(model.generate(**inputs)[0]))
\`\`\``;
