import type { Gguf } from '../formats/gguf.ts';
import type { GgufValue } from '../formats/ggufHeader.ts';
import { type Problem, ProblemError } from '../base/problem.ts';
import type { ModelConfig } from '../model/architecture.ts';
import { MAX_HEAD_DIM } from './rope.ts';

const ARCHITECTURES = ['llama', 'qwen2', 'qwen3'];
const REMEDY = 'Choose a GGUF file of a Llama, Qwen2 or Qwen3.';

/**
 * The model that a GGUF file's metadata describes. `ropeFactors` are the values of its tensor `rope_freqs.weight`, null
 * if it has none. Throws ProblemError that lists everything that this project's network cannot compute, and keys that
 * are missing or of the wrong type.
 */
export function ggufModelConfig({ header, tensors }: Gguf, ropeFactors: readonly number[] | null): ModelConfig {
  const { file, metadata } = header;
  const problems: Problem[] = [];
  const report = (place: string, got: GgufValue | undefined, want: string) => {
    problems.push({ file, place, got: shownValue(got), want, remedy: REMEDY });
  };
  const architecture = metadata.get('general.architecture');
  const family = typeof architecture === 'string' ? architecture : '';
  if (!ARCHITECTURES.includes(family)) {
    report('general.architecture', architecture, ARCHITECTURES.join(', '));
    throw new ProblemError(problems);
  }
  const positiveNumber = (key: string, fallback: number | undefined, whole: boolean): number => {
    const value = metadata.get(`${family}.${key}`) ?? fallback;
    if (typeof value === 'number' && Number.isFinite(value) && value > 0 && (!whole || Number.isSafeInteger(value)))
      return value;
    report(`${family}.${key}`, value, whole ? 'a whole number above 0' : 'a number above 0');
    return 1;
  };
  const positiveCount = (key: string, fallback?: number) => positiveNumber(key, fallback, true);
  const hidden_size = positiveCount('embedding_length');
  const heads = positiveCount('attention.head_count');
  const kvHeads = positiveCount('attention.head_count_kv', heads);
  const head_dim = positiveCount('attention.key_length', hidden_size / heads);
  const requireEqual = (key: string, want: number) => {
    const value = metadata.get(`${family}.${key}`) ?? want;
    if (value !== want) report(`${family}.${key}`, value, String(want));
  };
  requireEqual('attention.value_length', head_dim);
  requireEqual('rope.dimension_count', head_dim);
  if (head_dim % 2 !== 0 || head_dim > MAX_HEAD_DIM) {
    report(
      `${family}.attention.key_length`,
      head_dim,
      `an even number up to ${MAX_HEAD_DIM}: halves of a head are rotated`,
    );
    throw new ProblemError(problems); // before anything of such a size is allocated
  }
  if (heads % kvHeads !== 0) report(`${family}.attention.head_count_kv`, kvHeads, `a divisor of ${heads}`);
  const tokens = metadata.get('tokenizer.ggml.tokens');
  const embeddingRows = tensors.get('token_embd.weight')?.shape[0];
  const vocab_size = positiveCount('vocab_size', Array.isArray(tokens) ? tokens.length : embeddingRows);
  const ropeScaling = metadata.get(`${family}.rope.scaling.type`) ?? 'none';
  const linearFactor = ropeScaling === 'linear' ? positiveNumber('rope.scaling.factor', undefined, false) : null;
  if (ropeScaling !== 'none' && ropeScaling !== 'linear')
    report(`${family}.rope.scaling.type`, ropeScaling, 'none or linear');
  if (ropeFactors && (ropeFactors.length !== head_dim / 2 || !ropeFactors.every((x) => x > 0))) {
    report('rope_freqs.weight', `${ropeFactors.length} numbers`, `${head_dim / 2} above 0, half of a head`);
  }
  const model: ModelConfig = {
    vocab_size,
    hidden_size,
    intermediate_size: positiveCount('feed_forward_length'),
    num_hidden_layers: positiveCount('block_count'),
    num_attention_heads: heads,
    num_key_value_heads: kvHeads,
    head_dim,
    rms_norm_eps: positiveNumber('attention.layer_norm_rms_epsilon', undefined, false),
    rope_theta: positiveNumber('rope.freq_base', 10000, false),
    ...((ropeFactors ?? linearFactor) && {
      rope_factors: Array.from({ length: head_dim / 2 }, (_, i) => (ropeFactors?.[i] ?? 1) * (linearFactor ?? 1)),
    }),
    ...(family === 'qwen3' && { qk_norm: true }),
    attention_bias: family === 'qwen2',
    tie_word_embeddings: !tensors.has('output.weight'),
    value_head: false,
  };
  if (problems.length > 0) throw new ProblemError(problems);
  return model;
}

function shownValue(value: GgufValue | undefined): string {
  if (value === undefined) return 'nothing';
  return typeof value === 'object' ? `a list of ${value.length}` : String(value);
}
