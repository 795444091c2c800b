import { field, isRecord, type JsonRecord, valueText } from '../base/jsonRecord.ts';
import { jsonText, readJson } from '../formats/jsonFile.ts';
import { type Problem, ProblemError } from '../base/problem.ts';
import { type ModelConfig, modelConfig } from '../model/architecture.ts';
import { FILE_NAMES } from './checkpointFolder.ts';
import { MAX_HEAD_DIM, positiveNumber, readRope, type ReportProblem } from './rope.ts';
import type { SpecialIds } from './tokenizer.ts';
import type { Checkpoint } from '../runs/checkpoint.ts';

/** A reader of the file may use this many positions. Rotary positions need no table, and every episode is much shorter. */
export const MAX_POSITIONS = 4096;

/** The class of Transformers that loads a model. */
export const FORMS = ['llama', 'qwen2'] as const;
export type Form = (typeof FORMS)[number];

/**
 * The object of config.json. It has every dimension, because Transformers would take Llama-7B's for a missing one. It
 * has the names of Transformers 4 (`rope_theta`, `torch_dtype`) and those of 5 (`rope_parameters`, `dtype`). Llama's
 * `attention_bias` adds a bias to o too, unlike Qwen2; that bias is written as 0 and changes nothing. The class is
 * still Llama, because for Qwen2 AutoTokenizer of Transformers 5 takes Qwen2's byte-pair tokenizer, whatever
 * tokenizer.json says. `dtype` is the type of the numbers in the weights' file.
 */
export function configFile(
  model: ModelConfig,
  { pad, bos, turnEnds }: SpecialIds,
  form: Form,
  dtype: 'float32' | 'float16' = 'float32',
): string {
  const qwen = form === 'qwen2';
  const text = jsonText({
    architectures: [qwen ? 'Qwen2ForCausalLM' : 'LlamaForCausalLM'],
    model_type: qwen ? 'qwen2' : 'llama',
    vocab_size: model.vocab_size,
    hidden_size: model.hidden_size,
    intermediate_size: model.intermediate_size,
    num_hidden_layers: model.num_hidden_layers,
    num_attention_heads: model.num_attention_heads,
    num_key_value_heads: model.num_key_value_heads,
    head_dim: model.head_dim,
    hidden_act: 'silu',
    max_position_embeddings: MAX_POSITIONS,
    initializer_range: 0.02,
    rms_norm_eps: model.rms_norm_eps,
    use_cache: true,
    pad_token_id: pad,
    bos_token_id: bos,
    eos_token_id: turnEnds,
    tie_word_embeddings: model.tie_word_embeddings,
    ...(qwen
      ? { use_sliding_window: false }
      : { attention_bias: model.attention_bias, mlp_bias: false, pretraining_tp: 1 }),
    attention_dropout: 0,
    rope_theta: model.rope_theta,
    rope_scaling: null,
    rope_parameters: { rope_type: 'default', rope_theta: model.rope_theta },
    torch_dtype: dtype,
    dtype,
  });
  // Python reads 10000 as an integer, and Transformers 5 asks for a float
  return text.replaceAll(/("(?:rope_theta|attention_dropout)": \d+)(?=,?\n)/g, '$1.0');
}

type ModelType = Form | 'qwen3';
/** Architectures that this project can compute. */
const TYPE_BY_ARCHITECTURE: Readonly<Record<string, ModelType>> = {
  LlamaForCausalLM: 'llama',
  Qwen2ForCausalLM: 'qwen2',
  Qwen3ForCausalLM: 'qwen3',
};
/** Qwen3's head size if config.json has none. It doesn't depend on the width. */
const QWEN3_HEAD_DIM = 128;
const COUNT_FIELDS = [
  ...(['vocab_size', 'hidden_size', 'intermediate_size', 'num_hidden_layers', 'num_attention_heads'] as const),
] as const;
const REMEDY = 'Choose a LlamaForCausalLM, Qwen2ForCausalLM or Qwen3ForCausalLM of this shape, or train one here.';

/** Fields of config.json that this project can't compute, with the values that switch them off. */
const ALLOWED_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  mlp_bias: [undefined, false],
  quantization_config: [undefined, null],
  use_sliding_window: [undefined, null, false],
  hidden_act: ['silu'],
};

export interface ModelDescription {
  readonly architecture: string; // the class of Transformers that it names
  readonly model: ModelConfig;
}

/**
 * The model of a config.json from elsewhere, without a value head. Throws ProblemError with everything that this
 * project can't compute: an unknown architecture, activation, bias or position encoding, and dimensions that are
 * missing or aren't whole numbers.
 */
export function readModelConfig(bytes: Uint8Array): ModelDescription {
  const parsed = readJson(FILE_NAMES.config, bytes);
  const config: JsonRecord = isRecord(parsed) ? parsed : {};
  const problems: Problem[] = [];
  const report = (place: string, got: unknown, want: string) => {
    problems.push({ file: FILE_NAMES.config, place, got: valueText(got), want, remedy: REMEDY });
  };
  const { architecture, kind } = modelTypeOf(config, report);
  const count = (name: string, fallback?: number): number => {
    const value = field(config, name) ?? fallback;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
    report(name, value, 'a whole number above 0');
    return 1;
  };
  const [vocab_size, hidden_size, intermediate_size, layers, heads] = COUNT_FIELDS.map((name) => count(name));
  for (const [name, allowed] of Object.entries(ALLOWED_VALUES)) {
    const value = field(config, name);
    if (!allowed.includes(value)) report(name, value, allowed.map(valueText).join(' or '));
  }
  const bias = flag(config, 'attention_bias', report);
  if (kind === 'qwen3' && bias) report('attention_bias', bias, 'false: it would put one on o_proj, too');
  const layerTypes = field(config, 'layer_types');
  if (Array.isArray(layerTypes) && layerTypes.some((type) => type !== 'full_attention')) {
    report(
      'layer_types',
      layerTypes.find((type) => type !== 'full_attention'),
      'full_attention in every layer',
    );
  }
  const head_dim = count('head_dim', kind === 'qwen3' ? QWEN3_HEAD_DIM : (hidden_size ?? 1) / (heads ?? 1));
  const kvHeads = count('num_key_value_heads', heads);
  if (head_dim % 2 !== 0 || head_dim > MAX_HEAD_DIM) {
    report('head_dim', head_dim, `an even number up to ${MAX_HEAD_DIM}: halves of a head are rotated`);
    throw new ProblemError(problems); // before anything of such a size is allocated
  }
  if ((heads ?? 1) % kvHeads !== 0) report('num_key_value_heads', kvHeads, `a divisor of ${heads}, the heads of q`);
  const rope = readRope(config, head_dim, report);
  const model: ModelConfig = {
    vocab_size: vocab_size ?? 1,
    hidden_size: hidden_size ?? 1,
    intermediate_size: intermediate_size ?? 1,
    num_hidden_layers: layers ?? 1,
    num_attention_heads: heads ?? 1,
    num_key_value_heads: kvHeads,
    head_dim,
    rms_norm_eps: positiveNumber(config, 'rms_norm_eps', 1e-6, report),
    ...rope,
    ...(kind === 'qwen3' && { qk_norm: true }),
    attention_bias: bias || kind === 'qwen2',
    tie_word_embeddings: flag(config, 'tie_word_embeddings', report),
    value_head: false,
  };
  if (problems.length > 0) throw new ProblemError(problems);
  return { architecture, model };
}

function modelTypeOf(
  config: JsonRecord,
  report: ReportProblem,
): { readonly architecture: string; readonly kind: ModelType } {
  const architectures = field(config, 'architectures');
  const type = field(config, 'model_type');
  const first: unknown = Array.isArray(architectures) ? architectures[0] : undefined;
  const kind =
    typeof first === 'string' && Object.hasOwn(TYPE_BY_ARCHITECTURE, first) ? TYPE_BY_ARCHITECTURE[first] : undefined;
  const architecture = String(first);
  if (kind && (type === undefined || type === kind)) return { architecture, kind };
  if (kind) report('model_type', type, `${kind}, as its architecture`);
  else report('architectures', first, Object.keys(TYPE_BY_ARCHITECTURE).join(' or '));
  return { architecture, kind: kind ?? 'llama' };
}

function flag(config: JsonRecord, name: string, report: ReportProblem): boolean {
  const value = field(config, name) ?? false;
  if (typeof value === 'boolean') return value;
  report(name, value, 'true or false');
  return false;
}

/** The network of a checkpoint whose knobs define its size (not of a run with a base checkpoint). */
export function modelOf({ begun, vocabulary }: Checkpoint): ModelConfig {
  return modelConfig(begun, vocabulary.length, begun.critic === 'shared');
}

/** The names of biases that a Llama with `attention_bias` has but this project's network does not. They are 0. */
export function outputBiases({ num_hidden_layers }: ModelConfig): readonly string[] {
  return Array.from({ length: num_hidden_layers }, (_, i) => `model.layers.${i}.self_attn.o_proj.bias`);
}
