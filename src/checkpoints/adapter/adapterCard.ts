import { type AdapterConfig, adapterScale } from '../../model/loraAdapters.ts';

/** README.md of an adapter's folder: what it is and how it is loaded. `base` names the model that it was trained with; null if it has no name. */
export function adapterFolderCard(adapters: AdapterConfig, base: string | null): string {
  const { rank, alpha, targets } = adapters;
  const model = base ?? 'THE MODEL IT WAS TRAINED WITH';
  return `---
library_name: peft${base === null ? '' : `\nbase_model: ${JSON.stringify(base)}`}
pipeline_tag: text-generation
tags: [lora, rollout-playground, reinforcement-learning, agent]
---

# Adapter

Low-rank adapters (LoRA) of rank ${rank}, alpha ${alpha}, beside ${targets.join(', ')} of every layer: y = x·(W + ${adapterScale(adapters)}·B·A)ᵀ. Trained by reinforcement learning in Rollout Playground.

\`\`\`python
from peft import PeftModel
from transformers import AutoModelForCausalLM
model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(${JSON.stringify(model)}), ".")
\`\`\`

\`.\` is this folder. \`model.merge_and_unload()\` makes one model of both.
`;
}
