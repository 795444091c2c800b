import { encodeSafetensors, type SafeTensor } from '../formats/safetensors.ts';
import { criticConfig } from '../model/policy.ts';
import { type ModelConfig, parameters, type Weights } from '../model/architecture.ts';
import type { PackedRun } from '../runs/packed.ts';
import { cardFile, adapterCard } from './modelCardFile.ts';
import { CHAT_TEMPLATE } from './chatTemplateFile.ts';
import { configFile, type Form, MAX_POSITIONS } from './modelConfigFile.ts';
import { curvesFile } from './curvesFile.ts';
import { utf8Bytes, FILE_NAMES, type Files } from './checkpointFolder.ts';
import { generationFile } from './generation.ts';
import { environmentFiles, manifestFile, metricsFile } from './manifestFile.ts';
import { modelOf, outputBiases } from './model.ts';
import { textTokenizerConfig, textSpecialIds } from './textModelFiles.ts';
import { tokenizerConfigFile, tokenizerFile, wordSpecialIds } from './tokenizer.ts';
import { trainingStateFile } from './trainingStateFile.ts';
import { adapterConfig } from '../model/adapterKnobs.ts';
import type { BaseMark } from '../domain/baseMark.ts';
import { peftFilesFromTensors } from './adapter/peft.ts';

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
  const ids = chatTokenizer ? textSpecialIds(chatTokenizer) : wordSpecialIds(vocabulary);
  const model = modelOf(checkpoint);
  const { weights } = networks.policy;
  if (form === 'qwen2' && !model.attention_bias) {
    throw new RangeError(
      'form: qwen2 needs biases on q, k and v, and this model has none. Use llama, or attentionBias on.',
    );
  }
  const shapes = new Map([...parameters(criticConfig(model)), ...parameters(model)].map((p) => [p.name, p.shape]));
  const valueHead = parameters(model).filter(({ name }) => name.startsWith('value_head.'));
  const metrics = metricsFile(run.points);
  const files: [string, string | ArrayBuffer][] = [
    [FILE_NAMES.card, cardFile(run, form)],
    [FILE_NAMES.curves, curvesFile(run)],
    [FILE_NAMES.config, configFile(model, ids, form)],
    [FILE_NAMES.generation, generationFile(ids)],
    [FILE_NAMES.weights, modelFile(model, weights, form)],
    [FILE_NAMES.tokenizer, chatTokenizer?.tokenizer ?? tokenizerFile(vocabulary)],
    [
      FILE_NAMES.tokenizerConfig,
      chatTokenizer ? textTokenizerConfig(chatTokenizer) : tokenizerConfigFile(MAX_POSITIONS),
    ],
    [FILE_NAMES.template, chatTokenizer?.template ?? CHAT_TEMPLATE],
    [FILE_NAMES.manifest, manifestFile(run, metrics)],
    [FILE_NAMES.metrics, metrics],
    ...environmentFiles(run).map(([name, text]): [string, string] => [name, text]),
    [FILE_NAMES.training, trainingStateFile(checkpoint, shapes)],
  ];
  if (valueHead.length > 0) {
    const tensors = valueHead.map(({ name, shape }) => {
      return [name, { shape, values: weights.get(name) ?? new Float32Array() }] as const;
    });
    files.push([FILE_NAMES.valueHead, encodeSafetensors(new Map(tensors), { format: 'pt' })]);
  }
  return new Map(
    files.map(([name, content]) => [name, typeof content === 'string' ? utf8Bytes(content) : new Uint8Array(content)]),
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
  const trainedTensors = new Map(
    Array.from(networks.policy.weights, ([name, values]) => {
      return [name, { shape: shapeOf(name, values.length, adapters.rank), values }];
    }),
  );
  const shapes = new Map(Array.from(trainedTensors, ([name, { shape }]) => [name, shape]));
  const metrics = metricsFile(run.points);
  return new Map<string, Uint8Array>([
    ...peftFilesFromTensors(trainedTensors, adapters, base.name),
    [FILE_NAMES.card, utf8Bytes(adapterCard(run, base))],
    [FILE_NAMES.curves, utf8Bytes(curvesFile(run))],
    [FILE_NAMES.manifest, utf8Bytes(manifestFile(run, metrics))],
    [FILE_NAMES.metrics, utf8Bytes(metrics)],
    ...environmentFiles(run).map(([name, text]) => [name, utf8Bytes(text)] as const),
    [FILE_NAMES.training, new Uint8Array(trainingStateFile(checkpoint, shapes))],
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
