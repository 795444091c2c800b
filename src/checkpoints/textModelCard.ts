import type { WarmStartRecipe } from '../config/environments.ts';
import { type ModelConfig, parameterCount } from '../model/architecture.ts';

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
