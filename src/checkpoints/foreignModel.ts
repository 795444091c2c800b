import { checkpointOf, type Checkpoint, type SavedNetwork, type Tensors } from '../runs/checkpoint.ts';
import { parseConfig } from '../config/config.ts';
import { ConfigError } from '../config/configProblem.ts';
import { type Problem, ProblemError } from '../base/problem.ts';
import type { RunConfig } from '../config/fields.ts';
import { noProgress } from '../domain/progress.ts';
import { decodeSafetensors } from '../formats/safetensors.ts';
import { modelConfig, type ModelConfig, parameters } from '../model/architecture.ts';
import { criticConfig } from '../model/policy.ts';
import { readConfig } from './modelConfigFile.ts';
import { EMBEDDING, fittingTensors, HEAD, NO_BIAS, OTHER_FILES } from './tensorFit.ts';
import { FILES, type Files } from './checkpointFolder.ts';
import { readWords } from './tokenizer.ts';

/** A model of another program that this project can run: its network, its weights and its words. */
export interface Foreign {
  readonly architecture: string; // the class of Transformers in its config.json
  readonly model: ModelConfig;
  readonly weights: Tensors; // as float32; F16 and BF16 are widened
  readonly words: readonly string[];
  readonly widened: readonly string[]; // the file's number types other than F32
}

const NEEDED = [FILES.config, FILES.weights, FILES.tokenizer] as const;

/** Reads a folder of Transformers. Throws ProblemError with everything that is wrong in any of its files. */
export function readForeign(files: Files): Foreign {
  const problems: Problem[] = [];
  const attempt = <T>(read: () => T): T | null => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      problems.push(...error.problems);
      return null;
    }
  };
  const [config, weights, tokenizer] = NEEDED.map((file) => {
    const bytes = files.get(file);
    if (!bytes) problems.push(absent(file, files));
    return bytes;
  });
  const described = config ? attempt(() => readConfig(config)) : null;
  const model = described?.model;
  const words = tokenizer ? attempt(() => readWords(tokenizer)) : null;
  const read = weights ? attempt(() => decodeSafetensors(weights, FILES.weights)) : null;
  if (model && words && words.length !== model.vocab_size) {
    problems.push({
      ...{ file: FILES.tokenizer, place: 'model.vocab', got: `${words.length} words` },
      ...{ want: `${model.vocab_size}, as vocab_size in ${FILES.config}`, remedy: OTHER_FILES },
    });
  }
  const fitting = model && read ? fittingWeights(model, read, problems) : null;
  if (!described || !model || !words || !fitting || !read || problems.length > 0) throw new ProblemError(problems);
  const widened = new Set([...read.dtypes.values()].filter((dtype) => dtype !== 'F32'));
  const tied = model.tie_word_embeddings && !fitting.has(HEAD);
  return {
    ...described,
    model: { ...model, tie_word_embeddings: tied },
    weights: fitting,
    words,
    widened: [...widened],
  };
}

function absent(file: string, files: Files): Problem {
  const sharded = file === FILES.weights && files.has(FILES.index);
  const binary = [...files.keys()].find((name) => /\.(?:bin|pt|pth|gguf)$/.test(name));
  const what = sharded
    ? `the weights are in shards (${FILES.index}).`
    : file === FILES.weights && binary
      ? `the weights are in ${binary}.`
      : 'there is no such file.';
  const saved = 'Save the model with save_pretrained(folder), in one file, with its tokenizer.';
  return { file, what, remedy: saved };
}

/**
 * The weights of `model`. If config.json ties the head to the embedding but the file's head differs from it, the head
 * is included. Adds a problem for each tensor that is missing, has another shape or type, is not finite or is unknown.
 */
function fittingWeights(
  model: ModelConfig,
  { tensors }: ReturnType<typeof decodeSafetensors>,
  problems: Problem[],
): Tensors {
  const weights = new Map<string, Float32Array>();
  const report = (place: string, got: string, want: string) => {
    problems.push({ file: FILES.weights, place, got, want, remedy: OTHER_FILES });
  };
  const { weights: found, zeros, head } = fittingTensors(model, tensors, report);
  const embedding = found.get(EMBEDDING)?.values;
  const untiedHead = head?.values.some((x, i) => x !== embedding?.[i]) ? [[HEAD, head] as const] : [];
  for (const [name, { values }] of [...found, ...untiedHead]) {
    if (!(values instanceof Float32Array)) report(name, 'whole numbers', 'F32, F16 or BF16');
    else if (!values.every(Number.isFinite)) report(name, 'a number that is not finite', 'finite weights');
    else weights.set(name, values);
  }
  for (const [name, { values }] of zeros) if (values.some((x) => x !== 0)) report(name, ...NO_BIAS);
  return weights;
}

/** The config with its model knobs set to the sizes of the model. */
function knobsFor({ model }: Foreign, config: RunConfig): RunConfig {
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
 * with the same trunk. `vocabulary` must be that of the environment in `config`. The model's sizes replace the model
 * knobs of `config`. Throws ProblemError that lists everything that doesn't fit: sizes that no knob allows, other norms
 * or rotary positions, other words.
 */
export function foreignCheckpoint(foreign: Foreign, config: RunConfig, vocabulary: readonly string[]): Checkpoint {
  const { model, weights, words } = foreign;
  const problems: Problem[] = [];
  const report = (file: string, place: string, got: string, want: string, remedy: string) => {
    problems.push({ file, place, got, want, remedy });
  };
  let startConfig = config;
  try {
    startConfig = parseConfig(knobsFor(foreign, config));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems.map((problem) => ({ ...problem, file: FILES.config, remedy: OTHER_SIZE })));
  }
  const ourModel = modelConfig(startConfig, vocabulary.length, startConfig.critic === 'shared');
  for (const name of ['rms_norm_eps', 'rope_theta', 'head_dim'] as const) {
    if (model[name] !== ourModel[name])
      report(FILES.config, name, String(model[name]), String(ourModel[name]), OTHER_SIZE);
  }
  if (model.rope_factors) report(FILES.config, 'rope_scaling', 'scaled rotary positions', 'none', OTHER_SIZE);
  if (model.qk_norm) report(FILES.config, 'architectures', 'Qwen3ForCausalLM', 'Llama or Qwen2', OTHER_SIZE);
  const mismatch = vocabulary.findIndex((word, id) => words[id] !== word);
  if (mismatch >= 0 || words.length !== vocabulary.length) {
    const id = mismatch >= 0 ? mismatch : vocabulary.length;
    const vocabularyNote = `, the words of ${config.env}, ${vocabulary.length} of them`;
    report(FILES.tokenizer, `id ${id} of ${words.length}`, words[id] ?? 'no word', `${vocabulary[id] ?? 'no more'}${vocabularyNote}`, OTHER_WORDS); // prettier-ignore
  }
  if (problems.length > 0) throw new ProblemError(problems);
  const networks = {
    policy: untrainedNetwork(ourModel, weights),
    critic: startConfig.critic === 'separate' ? untrainedNetwork(criticConfig(ourModel), weights) : null,
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

const OTHER_SIZE = 'Choose a model of this kind and size, or train one here.';
const OTHER_WORDS = 'Set the environment and its knobs to those the model was trained in.';

/** A network before its first optimizer step: loaded weights, zeros for missing ones, and zero moments. */
function untrainedNetwork(model: ModelConfig, loaded: Tensors): SavedNetwork {
  const zeros = () => new Map(parameters(model).map(({ name, size }) => [name, new Float32Array(size)]));
  const weights = new Map(parameters(model).map((p) => [p.name, loaded.get(p.name) ?? new Float32Array(p.size)]));
  return { weights, adamM: zeros(), adamV: zeros(), steps: 0 };
}
