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

/** Another program's model: a network this project can compute, its weights, and its words. */
export interface Foreign {
  readonly architecture: string; // the class of Transformers that its config.json names
  readonly model: ModelConfig;
  readonly weights: Tensors; // float32, F16 and BF16 widened
  readonly words: readonly string[];
  readonly widened: readonly string[]; // types of the file that were
}

const NEEDED = [FILES.config, FILES.weights, FILES.tokenizer] as const;

/** Reads a folder of Transformers. Throws ProblemError with all that is wrong in any of its files. */
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
 * The tensors of `model`, and a head of its own where the config ties one that differs from the embedding. What is missing, of another shape
 * or type, not finite or unknown is noted.
 */
function fittingWeights(
  model: ModelConfig,
  { tensors }: ReturnType<typeof decodeSafetensors>,
  problems: Problem[],
): Tensors {
  const weights = new Map<string, Float32Array>();
  const wrong = (place: string, got: string, want: string) => {
    problems.push({ file: FILES.weights, place, got, want, remedy: OTHER_FILES });
  };
  const { weights: found, zeros, head } = fittingTensors(model, tensors, wrong);
  const embedding = found.get(EMBEDDING)?.values;
  const own = head?.values.some((x, i) => x !== embedding?.[i]) ? [[HEAD, head] as const] : [];
  for (const [name, { values }] of [...found, ...own]) {
    if (!(values instanceof Float32Array)) wrong(name, 'whole numbers', 'F32, F16 or BF16');
    else if (!values.every(Number.isFinite)) wrong(name, 'a number that is not finite', 'finite weights');
    else weights.set(name, values);
  }
  for (const [name, { values }] of zeros) if (values.some((x) => x !== 0)) wrong(name, ...NO_BIAS);
  return weights;
}

/** The knobs of `config` with the sizes of the model. */
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
    warmStart: 'none', // its weights are the start
  };
}

/**
 * A run that begins with another program's weights, at update 0: moments and value heads are 0, and a separate critic begins with the
 * same trunk. `vocabulary` belongs to the environment of `config`. The model's sizes replace the model knobs of `config`. Throws ProblemError that
 * lists everything that does not fit: sizes that no knob allows, another kind of norm or rotation, other words.
 */
export function foreignCheckpoint(foreign: Foreign, config: RunConfig, vocabulary: readonly string[]): Checkpoint {
  const { model, weights, words } = foreign;
  const problems: Problem[] = [];
  const wrong = (file: string, place: string, got: string, want: string, remedy: string) => {
    problems.push({ file, place, got, want, remedy });
  };
  let begun = config;
  try {
    begun = parseConfig(knobsFor(foreign, config));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems.map((problem) => ({ ...problem, file: FILES.config, remedy: OTHER_SIZE })));
  }
  const own = modelConfig(begun, vocabulary.length, begun.critic === 'shared');
  for (const name of ['rms_norm_eps', 'rope_theta', 'head_dim'] as const) {
    if (model[name] !== own[name]) wrong(FILES.config, name, String(model[name]), String(own[name]), OTHER_SIZE);
  }
  if (model.rope_factors) wrong(FILES.config, 'rope_scaling', 'scaled rotary positions', 'none', OTHER_SIZE);
  if (model.qk_norm) wrong(FILES.config, 'architectures', 'Qwen3ForCausalLM', 'Llama or Qwen2', OTHER_SIZE);
  const at = vocabulary.findIndex((word, id) => words[id] !== word);
  if (at >= 0 || words.length !== vocabulary.length) {
    const id = at >= 0 ? at : vocabulary.length;
    const of = `, the words of ${config.env}, ${vocabulary.length} of them`;
    wrong(FILES.tokenizer, `id ${id} of ${words.length}`, words[id] ?? 'no word', `${vocabulary[id] ?? 'no more'}${of}`, OTHER_WORDS); // prettier-ignore
  }
  if (problems.length > 0) throw new ProblemError(problems);
  const networks = {
    policy: fresh(own, weights),
    critic: begun.critic === 'separate' ? fresh(criticConfig(own), weights) : null,
  };
  const start = networks.policy.weights;
  return checkpointOf({ begun, config: begun, vocabulary, networks, rewardModel: null, progress: noProgress(), start });
}

const OTHER_SIZE = 'Choose a model of this kind and size, or train one here.';
const OTHER_WORDS = 'Set the environment and its knobs to those the model was trained in.';

/** Weights that no step was taken from. */
function fresh(model: ModelConfig, given: Tensors): SavedNetwork {
  const zeros = () => new Map(parameters(model).map(({ name, size }) => [name, new Float32Array(size)]));
  const weights = new Map(parameters(model).map((p) => [p.name, given.get(p.name) ?? new Float32Array(p.size)]));
  return { weights, adamM: zeros(), adamV: zeros(), steps: 0 };
}
