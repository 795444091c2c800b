import type { ModelConfig } from '../../src/model/architecture.ts';
import { openCpuTextModel } from '../../src/model/cpu/cpuTextModel.ts';
import { openGpuTextModel, type GpuTextModel, type GpuTextOptions } from '../../src/model/gpu/text/gpuTextModel.ts';
import type { LikeliestTokens } from '../../src/model/textModel.ts';
import type { WeightSource } from '../../src/model/weightSource.ts';
import { NAIVE } from '../model/naiveArithmetic.ts';

/** Grouped heads, a vocabulary that no block divides, widths in whole blocks of 32, positions stretched for long texts. */
export const LLAMA: ModelConfig = {
  vocab_size: 43,
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 8,
  rms_norm_eps: 1e-3, // no usual value: kernels that don't read it from the model are wrong; one for all, so that they are compiled once
  rope_theta: 10000,
  rope_factors: [1, 1.5, 4, 8],
  attention_bias: false,
  tie_word_embeddings: true,
  value_head: false,
};
/** Biases of q, k and v. */
export const QWEN2: ModelConfig = { ...LLAMA, attention_bias: true, rope_theta: 1e6 };
/** Norms of q and k, heads wider than the width divided by them, one for all queries, an untied head. */
export const QWEN3: ModelConfig = {
  ...LLAMA,
  num_key_value_heads: 1,
  head_dim: 16,
  rope_factors: [1, 1, 2, 2, 3, 4, 8, 8],
  qk_norm: true,
  tie_word_embeddings: false,
};

/** A model on the adapter of the tests; keys and values as floats unless told otherwise, so that nothing is rounded but sums. Passes are small. */
export function opened(config: ModelConfig, source: WeightSource, options: GpuTextOptions): Promise<GpuTextModel> {
  return openGpuTextModel(navigator.gpu, config, source, { float16Cache: false, prefill: 128, ...options });
}

/** log p of every token after each prefix of a text, (n, V), in float64 on the CPU. */
export async function oracle(config: ModelConfig, source: WeightSource, text: readonly number[]): Promise<number[][]> {
  const reader = await openCpuTextModel(config, source, { loops: NAIVE.f64, rows: 1, length: text.length });
  const all: number[][] = [];
  for (let end = 1; end <= text.length; end++) {
    await reader.begin([text.slice(0, end)]);
    const [after] = await reader.likeliest([0], config.vocab_size);
    all.push(byId(after!));
  }
  reader.destroy();
  return all;
}

/** log softmax of logits, or of log-probabilities that are divided by a temperature. */
export function logSoftmax(logits: readonly number[], temperature = 1): number[] {
  const tempered = logits.map((z) => z / temperature);
  const top = Math.max(...tempered);
  const total = Math.log(tempered.reduce((sum, z) => sum + Math.exp(z - top), 0));
  return tempered.map((z) => z - top - total);
}

/** The largest difference between numbers; NaN where one is none. */
export function apart(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) throw new Error(`got ${a.length} numbers beside ${b.length}.`);
  return a.reduce((worst, value, i) => Math.max(worst, Math.abs(value - b[i]!)), 0);
}

/** Log-probabilities in the order of ids, where all ids were asked for. */
export function byId({ ids, logprobs }: LikeliestTokens): number[] {
  const all = new Array<number>(ids.length).fill(NaN);
  ids.forEach((id, i) => (all[id] = logprobs[i]!));
  return all;
}
