import { checkpointOf, type Checkpoint, type SavedNetwork, type Tensors } from '../runs/checkpoint.ts';
import { parseConfig } from '../config/config.ts';
import { ConfigError } from '../config/configProblem.ts';
import { type Problem, ProblemError } from '../base/problem.ts';
import type { RunConfig } from '../config/fields.ts';
import { noProgress } from '../domain/progress.ts';
import { decodeSafetensors } from '../formats/safetensors.ts';
import { modelConfig, type ModelConfig, parameters } from '../model/architecture.ts';
import { criticConfig } from '../model/policy.ts';
import { readModelConfig } from './modelConfigFile.ts';
import { EMBEDDING_NAME, findModelTensors, HEAD_NAME, NO_BIAS, MISMATCH_REMEDY } from './tensorFit.ts';
import { FILE_NAMES, type Files } from './checkpointFolder.ts';
import { readWords } from './tokenizer.ts';

/** A model of another program that this project can run: its network, its weights and its words. */
export interface ImportedModel {
  readonly architecture: string; // the class of Transformers in its config.json
  readonly model: ModelConfig;
  readonly weights: Tensors; // as float32; F16 and BF16 are widened
  readonly words: readonly string[];
  readonly widened: readonly string[]; // the file's number types other than F32
}

const NEEDED_FILES = [FILE_NAMES.config, FILE_NAMES.weights, FILE_NAMES.tokenizer] as const;

/** Reads a folder of Transformers. Throws ProblemError with everything that is wrong in any of its files. */
export function readForeign(files: Files): ImportedModel {
  const problems: Problem[] = [];
  const collectProblems = <T>(read: () => T): T | null => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      problems.push(...error.problems);
      return null;
    }
  };
  const [config, weights, tokenizer] = NEEDED_FILES.map((file) => {
    const bytes = files.get(file);
    if (!bytes) problems.push(missingFileProblem(file, files));
    return bytes;
  });
  const description = config ? collectProblems(() => readModelConfig(config)) : null;
  const model = description?.model;
  const words = tokenizer ? collectProblems(() => readWords(tokenizer)) : null;
  const weightsFile = weights ? collectProblems(() => decodeSafetensors(weights, FILE_NAMES.weights)) : null;
  if (model && words && words.length !== model.vocab_size) {
    problems.push({
      ...{ file: FILE_NAMES.tokenizer, place: 'model.vocab', got: `${words.length} words` },
      ...{ want: `${model.vocab_size}, as vocab_size in ${FILE_NAMES.config}`, remedy: MISMATCH_REMEDY },
    });
  }
  const modelWeights = model && weightsFile ? checkedWeights(model, weightsFile, problems) : null;
  if (!description || !model || !words || !modelWeights || !weightsFile || problems.length > 0)
    throw new ProblemError(problems);
  const widened = new Set([...weightsFile.dtypes.values()].filter((dtype) => dtype !== 'F32'));
  const tied = model.tie_word_embeddings && !modelWeights.has(HEAD_NAME);
  return {
    ...description,
    model: { ...model, tie_word_embeddings: tied },
    weights: modelWeights,
    words,
    widened: [...widened],
  };
}

function missingFileProblem(file: string, files: Files): Problem {
  const sharded = file === FILE_NAMES.weights && files.has(FILE_NAMES.index);
  const otherWeightsFile = [...files.keys()].find((name) => /\.(?:bin|pt|pth|gguf)$/.test(name));
  const what = sharded
    ? `the weights are in shards (${FILE_NAMES.index}).`
    : file === FILE_NAMES.weights && otherWeightsFile
      ? `the weights are in ${otherWeightsFile}.`
      : 'there is no such file.';
  const remedy = 'Save the model with save_pretrained(folder), in one file, with its tokenizer.';
  return { file, what, remedy };
}

/**
 * The weights of `model`. If config.json ties the head to the embedding but the file's head differs from it, the head
 * is included. Adds a problem for each tensor that is missing, has another shape or type, is not finite or is unknown.
 */
function checkedWeights(
  model: ModelConfig,
  { tensors }: ReturnType<typeof decodeSafetensors>,
  problems: Problem[],
): Tensors {
  const weights = new Map<string, Float32Array>();
  const report = (place: string, got: string, want: string) => {
    problems.push({ file: FILE_NAMES.weights, place, got, want, remedy: MISMATCH_REMEDY });
  };
  const { weights: fileTensors, zeroBiases, separateHead } = findModelTensors(model, tensors, report);
  const embedding = fileTensors.get(EMBEDDING_NAME)?.values;
  const untiedHead = separateHead?.values.some((x, i) => x !== embedding?.[i])
    ? [[HEAD_NAME, separateHead] as const]
    : [];
  for (const [name, { values }] of [...fileTensors, ...untiedHead]) {
    if (!(values instanceof Float32Array)) report(name, 'whole numbers', 'F32, F16 or BF16');
    else if (!values.every(Number.isFinite)) report(name, 'a number that is not finite', 'finite weights');
    else weights.set(name, values);
  }
  for (const [name, { values }] of zeroBiases) if (values.some((x) => x !== 0)) report(name, ...NO_BIAS);
  return weights;
}

/** The config with its model knobs set to the sizes of the model. */
function withModelKnobs({ model }: ImportedModel, config: RunConfig): RunConfig {
  return {
    ...config,
    layers: model.num_hidden_layers,
    width: model.hidden_size,
    heads: model.num_attention_heads,
    kvHeads: model.num_key_value_heads,
    ffn: model.intermediate_size,
    tieEmbeddings: model.tie_word_embeddings ? 'on' : 'off',
    attentionBias: model.attention_bias ? 'on' : 'off',
    warmStart: 'none', // training starts from the model's weights
  };
}

/**
 * A checkpoint at update 0 with another program's weights. Moments and value heads are 0, and a separate critic starts
 * with the same transformer. `vocabulary` must be that of the environment in `config`. The model's sizes replace the
 * model knobs of `config`. Throws ProblemError that lists everything that doesn't fit: sizes that no knob allows, other
 * norms or rotary positions, other words.
 */
export function foreignCheckpoint(
  foreign: ImportedModel,
  config: RunConfig,
  vocabulary: readonly string[],
): Checkpoint {
  const { model, weights, words } = foreign;
  const problems: Problem[] = [];
  const report = (file: string, place: string, got: string, want: string, remedy: string) => {
    problems.push({ file, place, got, want, remedy });
  };
  let startConfig = config;
  try {
    startConfig = parseConfig(withModelKnobs(foreign, config));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems.map((problem) => ({ ...problem, file: FILE_NAMES.config, remedy: SIZE_REMEDY })));
  }
  const configuredModel = modelConfig(startConfig, vocabulary.length, startConfig.critic === 'shared');
  for (const name of ['rms_norm_eps', 'rope_theta', 'head_dim'] as const) {
    if (model[name] !== configuredModel[name])
      report(FILE_NAMES.config, name, String(model[name]), String(configuredModel[name]), SIZE_REMEDY);
  }
  if (model.rope_factors) report(FILE_NAMES.config, 'rope_scaling', 'scaled rotary positions', 'none', SIZE_REMEDY);
  if (model.qk_norm) report(FILE_NAMES.config, 'architectures', 'Qwen3ForCausalLM', 'Llama or Qwen2', SIZE_REMEDY);
  const mismatchId = vocabulary.findIndex((word, id) => words[id] !== word);
  if (mismatchId >= 0 || words.length !== vocabulary.length) {
    const id = mismatchId >= 0 ? mismatchId : vocabulary.length;
    const vocabularyNote = `, the words of ${config.env}, ${vocabulary.length} of them`;
    report(FILE_NAMES.tokenizer, `id ${id} of ${words.length}`, words[id] ?? 'no word', `${vocabulary[id] ?? 'no more'}${vocabularyNote}`, VOCABULARY_REMEDY); // prettier-ignore
  }
  if (problems.length > 0) throw new ProblemError(problems);
  const networks = {
    policy: untrainedNetwork(configuredModel, weights),
    critic: startConfig.critic === 'separate' ? untrainedNetwork(criticConfig(configuredModel), weights) : null,
  };
  const start = networks.policy.weights;
  return checkpointOf({
    begun: startConfig,
    config: startConfig,
    vocabulary,
    networks,
    rewardModel: null,
    progress: noProgress(),
    start,
  });
}

const SIZE_REMEDY = 'Choose a model of this kind and size, or train one here.';
const VOCABULARY_REMEDY = 'Set the environment and its knobs to those the model was trained in.';

/** A network before its first optimizer step: loaded weights, zeros for missing ones, and zero moments. */
function untrainedNetwork(model: ModelConfig, loaded: Tensors): SavedNetwork {
  const zeros = () => new Map(parameters(model).map(({ name, size }) => [name, new Float32Array(size)]));
  const weights = new Map(parameters(model).map((p) => [p.name, loaded.get(p.name) ?? new Float32Array(p.size)]));
  return { weights, adamM: zeros(), adamV: zeros(), steps: 0 };
}
