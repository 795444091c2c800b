import { type Problem, ProblemError } from '../base/problem.ts';
import { decodeSafetensors, encodeSafetensors, type SafeTensor } from '../formats/safetensors.ts';
import { type AdapterConfig, adaptedLinears, adapterParameters, adapterScale } from '../model/loraAdapters.ts';
import type { ModelConfig, Weights } from '../model/architecture.ts';
import { utf8Bytes, FILE_NAMES, type Files } from './checkpointFolder.ts';
import { PEFT_CONFIG, type PeftConfig, peftConfigFile, readPeftConfig } from './peftConfig.ts';

export const PEFT_WEIGHTS = 'adapter_model.safetensors';

/** The prefix that PEFT adds to the tensor names of a causal language model. */
const PREFIX = 'base_model.model.';

const REMEDY = 'Choose the folder that PEFT saved (save_pretrained), and the model that the adapter was trained with.';

/**
 * Writes adapters as the folder of a PEFT adapter, which `PeftModel.from_pretrained` can open. Numbers are float32. If
 * the model has a value head, its weights go into a separate file, which PEFT ignores. `weights` must have every tensor
 * of `adapterParameters`; throws if one is missing.
 */
export function peftFiles(model: ModelConfig, adapters: AdapterConfig, weights: Weights, base: string | null): Files {
  const tensors = adapterParameters(model, adapters).map(({ name, shape }) => {
    const values = weights.get(name);
    if (!values) throw new Error(`peftFiles: ${name} is missing. Give every tensor of adapterParameters.`);
    return [name, { shape, values }] as const;
  });
  return peftFilesFromTensors(new Map(tensors), adapters, base);
}

/** Like `peftFiles`, but each tensor brings its own shape, so no model configuration is needed. */
export function peftFilesFromTensors(
  trainedTensors: ReadonlyMap<string, SafeTensor>,
  adapters: AdapterConfig,
  base: string | null,
): Files {
  const [adapterTensors, valueHead] = [new Map<string, SafeTensor>(), new Map<string, SafeTensor>()];
  for (const [name, tensor] of trainedTensors) {
    if (name.startsWith('value_head.')) valueHead.set(name, tensor);
    else adapterTensors.set(`${PREFIX}${name}`, tensor);
  }
  const encoded = (of: ReadonlyMap<string, SafeTensor>) => new Uint8Array(encodeSafetensors(of, { format: 'pt' }));
  return new Map([
    [PEFT_CONFIG, utf8Bytes(peftConfigFile(adapters, base))],
    [PEFT_WEIGHTS, encoded(adapterTensors)],
    [FILE_NAMES.card, utf8Bytes(adapterFolderCard(adapters, base))],
    ...(valueHead.size > 0 ? [[FILE_NAMES.valueHead, encoded(valueHead)] as const] : []),
  ]);
}

export interface PeftAdapter extends PeftConfig {
  readonly weights: Weights; // all tensors of `adapterParameters`, as float32
}

/**
 * Reads the folder of a PEFT adapter. `model` is the base model it was trained with. If the model has a value head and
 * the folder has none, the value head's weights are 0. Throws ProblemError for the reasons `readPeftConfig` does. It
 * also throws ProblemError, with a list of all bad tensors, if a tensor is missing, has another shape, is unknown to
 * the adapters, is not of a float type, or has a number that is not finite.
 */
export function readPeft(model: ModelConfig, files: Files): PeftAdapter {
  const [config, weightsFile] = [PEFT_CONFIG, PEFT_WEIGHTS].map((name) => {
    const bytes = files.get(name);
    if (bytes) return bytes;
    const got = files.size === 0 ? 'no file' : [...files.keys()].slice(0, 6).join(', ');
    throw new ProblemError([{ file: name, place: '', got, want: 'a file of this name', remedy: REMEDY }]);
  });
  const peftConfig = readPeftConfig(config!);
  const problems: Problem[] = [];
  const report = (file: string, place: string, got: string, want: string) => {
    problems.push({ file, place, got, want, remedy: REMEDY });
  };
  const adapterTensors = new Map(decodeSafetensors(weightsFile!, PEFT_WEIGHTS).tensors);
  const valueHead = files.get(FILE_NAMES.valueHead);
  const headTensors = valueHead ? decodeSafetensors(valueHead, FILE_NAMES.valueHead).tensors : null;
  const weights = new Map<string, Float32Array>();
  for (const { name, shape, size } of adapterParameters(model, peftConfig.adapters)) {
    const isValueHead = name.startsWith('value_head.');
    const [file, key] = isValueHead ? [FILE_NAMES.valueHead, name] : [PEFT_WEIGHTS, `${PREFIX}${name}`];
    const tensor = isValueHead ? headTensors?.get(key) : adapterTensors.get(key);
    const want = `[${shape.join(',')}]`;
    if (!isValueHead) adapterTensors.delete(key);
    if (tensor === undefined && isValueHead && !headTensors) weights.set(name, new Float32Array(size));
    else if (!tensor) report(file, key, 'no such tensor', want);
    else if (tensor.shape.join(',') !== shape.join(',')) report(file, key, `[${tensor.shape.join(',')}]`, want);
    else if (!(tensor.values instanceof Float32Array)) report(file, key, 'whole numbers', 'F32, F16 or BF16');
    else if (!tensor.values.every(Number.isFinite)) report(file, key, 'a number that is not finite', 'finite numbers');
    else weights.set(name, tensor.values);
  }
  const expectedTensors = `adapters of ${peftConfig.adapters.targets.join(', ')} in ${model.num_hidden_layers} layers, ${2 * adaptedLinears(model, peftConfig.adapters).length} tensors`;
  for (const key of adapterTensors.keys()) report(PEFT_WEIGHTS, key, 'an unknown tensor', expectedTensors);
  if (problems.length > 0) throw new ProblemError(problems);
  return { ...peftConfig, weights };
}

/** README.md of an adapter's folder: what it is and how to load it. `base` names the base model; null if it has no name. */
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
