import { encodeSafetensors, type SafeTensor } from '../formats/safetensors.ts';
import { criticConfig } from '../model/policy.ts';
import { type ModelConfig, parameters, type Weights } from '../model/architecture.ts';
import type { PackedRun } from '../runs/packed.ts';
import { cardFile, adapterCard } from './modelCardFile.ts';
import { CHAT_TEMPLATE } from './chatTemplateFile.ts';
import { configFile, type Form, MOST_POSITIONS } from './modelConfigFile.ts';
import { curvesFile } from './curvesFile.ts';
import { bytesOf, FILES, type Files } from './checkpointFolder.ts';
import { generationFile } from './generation.ts';
import { environmentFiles, manifestFile, metricsFile } from './manifestFile.ts';
import { modelOf, outputBiases } from './model.ts';
import { textTokenizerConfig, specialIds } from './textModelFiles.ts';
import { tokenizerConfigFile, tokenizerFile, wordIds } from './tokenizer.ts';
import { trainingStateFile } from './trainingStateFile.ts';
import { adapterConfig } from '../model/adapterKnobs.ts';
import type { BaseMark } from '../domain/baseMark.ts';
import { peftFolder } from './adapter/peft.ts';

/**
 * Writes a run as the folder of a Hugging Face model, which `AutoModelForCausalLM` and `AutoTokenizer` can open. The
 * folder also has everything needed to continue training bit for bit: `readCheckpointFiles` gives the same run back.
 * `packedRun` makes the argument from any Run with a checkpoint. A run that trains adapters for a base checkpoint
 * becomes a folder of adapters, see `adapterFiles`. Throws RangeError if `form` is qwen2 but the model has no biases on
 * q, k and v.
 */
export function checkpointFiles(run: PackedRun, form: Form = 'llama'): Files {
  const { checkpoint } = run;
  if (checkpoint.base) return adapterFiles(run, checkpoint.base);
  const { vocabulary, networks, chatTokenizer } = checkpoint;
  const ids = chatTokenizer ? specialIds(chatTokenizer) : wordIds(vocabulary);
  const model = modelOf(checkpoint);
  const { weights } = networks.policy;
  if (form === 'qwen2' && !model.attention_bias) {
    throw new RangeError(
      'form: qwen2 needs biases on q, k and v, and this model has none. Use llama, or attentionBias on.',
    );
  }
  const shapes = new Map([...parameters(criticConfig(model)), ...parameters(model)].map((p) => [p.name, p.shape]));
  const head = parameters(model).filter(({ name }) => name.startsWith('value_head.'));
  const metrics = metricsFile(run.points);
  const files: [string, string | ArrayBuffer][] = [
    [FILES.card, cardFile(run, form)],
    [FILES.curves, curvesFile(run)],
    [FILES.config, configFile(model, ids, form)],
    [FILES.generation, generationFile(ids)],
    [FILES.weights, modelFile(model, weights, form)],
    [FILES.tokenizer, chatTokenizer?.tokenizer ?? tokenizerFile(vocabulary)],
    [FILES.tokenizerConfig, chatTokenizer ? textTokenizerConfig(chatTokenizer) : tokenizerConfigFile(MOST_POSITIONS)],
    [FILES.template, chatTokenizer?.template ?? CHAT_TEMPLATE],
    [FILES.manifest, manifestFile(run, metrics)],
    [FILES.metrics, metrics],
    ...environmentFiles(run).map(([name, text]): [string, string] => [name, text]),
    [FILES.training, trainingStateFile(checkpoint, shapes)],
  ];
  if (head.length > 0) {
    const tensors = head.map(({ name, shape }) => {
      return [name, { shape, values: weights.get(name) ?? new Float32Array() }] as const;
    });
    files.push([FILES.valueHead, encodeSafetensors(new Map(tensors), { format: 'pt' })]);
  }
  return new Map(
    files.map(([name, content]) => [name, typeof content === 'string' ? bytesOf(content) : new Uint8Array(content)]),
  );
}

/** model.safetensors. For a Llama with biases it includes those of o_proj, which are 0. */
function modelFile(model: ModelConfig, weights: Weights, form: Form): ArrayBuffer {
  const tensors = new Map<string, SafeTensor>();
  for (const { name, shape, size } of parameters({ ...model, value_head: false })) {
    tensors.set(name, { shape, values: weights.get(name) ?? new Float32Array(size) });
  }
  for (const name of model.attention_bias && form === 'llama' ? outputBiases(model) : []) {
    tensors.set(name, { shape: [model.hidden_size], values: new Float32Array(model.hidden_size) });
  }
  return encodeSafetensors(tensors, { format: 'pt' }); // Transformers requires `pt`
}

/**
 * Writes a run that trains adapters for `base` as a folder: adapters in PEFT's format, their moments, and everything
 * else needed to continue bit for bit. Of `base` itself it has only the name and the fingerprint. `readCheckpointFiles`
 * gives the same run back.
 */
function adapterFiles(run: PackedRun, base: BaseMark): Files {
  const { checkpoint } = run;
  const { networks } = checkpoint;
  const adapters = adapterConfig(checkpoint.begun);
  const learned = new Map(
    Array.from(networks.policy.weights, ([name, values]) => {
      return [name, { shape: shapeOf(name, values.length, adapters.rank), values }];
    }),
  );
  const shapes = new Map(Array.from(learned, ([name, { shape }]) => [name, shape]));
  const metrics = metricsFile(run.points);
  return new Map<string, Uint8Array>([
    ...peftFolder(learned, adapters, base.name),
    [FILES.card, bytesOf(adapterCard(run, base))],
    [FILES.curves, bytesOf(curvesFile(run))],
    [FILES.manifest, bytesOf(manifestFile(run, metrics))],
    [FILES.metrics, bytesOf(metrics)],
    ...environmentFiles(run).map(([name, text]) => [name, bytesOf(text)] as const),
    [FILES.training, new Uint8Array(trainingStateFile(checkpoint, shapes))],
  ]);
}

/**
 * The shape of a learned tensor: A is (rank, in), B is (out, rank), a value head's weight is one row and its bias one
 * number.
 */
function shapeOf(name: string, size: number, rank: number): readonly number[] {
  if (name.endsWith('.lora_A.weight')) return [rank, size / rank];
  if (name.endsWith('.lora_B.weight')) return [size / rank, rank];
  return name === 'value_head.weight' ? [1, size] : [size];
}
