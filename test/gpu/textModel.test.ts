import { describe, expect, test } from 'vitest';
import type { ModelConfig } from '../../src/model/architecture.ts';
import { openCpuTextModel } from '../../src/model/cpu/textModel.ts';
import { openGpuTextModel } from '../../src/model/gpu/textModel.ts';
import type { WeightSource } from '../../src/model/weightSource.ts';
import { packedSource } from './textSources.ts';

/** Grouped heads, a vocabulary that no block divides, widths in whole blocks of 32. */
const LLAMA: ModelConfig = {
  vocab_size: 43,
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 8,
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  rope_factors: [1, 1.5, 4, 8],
  attention_bias: false,
  tie_word_embeddings: true,
  value_head: false,
};
const QWEN2: ModelConfig = { ...LLAMA, attention_bias: true, rms_norm_eps: 1e-6, rope_theta: 1e6 };
/** Heads wider than the width divided by them, one for all queries, an untied head. */
const QWEN3: ModelConfig = {
  ...LLAMA,
  num_attention_heads: 4,
  num_key_value_heads: 1,
  head_dim: 16,
  rope_factors: [1, 1, 2, 2, 3, 4, 8, 8],
  qk_norm: true,
  tie_word_embeddings: false,
};
const TEXT = [3, 40, 17, 5, 5, 29, 0, 42, 11, 8, 23, 2];

/** log p of every token after each prefix of a text, in float64. */
async function oracle(model: ModelConfig, source: WeightSource, text: readonly number[]): Promise<number[][]> {
  const all: number[][] = [];
  const reader = await openCpuTextModel(model, source, { precision: 'f64', rows: 1, length: text.length });
  for (let end = 1; end <= text.length; end++) {
    await reader.begin([text.slice(0, end)]);
    const [after] = await reader.likeliest([0], model.vocab_size);
    const logprobs = new Array<number>(model.vocab_size).fill(0);
    after!.ids.forEach((id, i) => (logprobs[id] = after!.logprobs[i]!));
    all.push(logprobs);
  }
  reader.destroy();
  return all;
}

const apart = (a: readonly number[], b: readonly number[]) =>
  a.reduce((worst, value, i) => Math.max(worst, Math.abs(value - b[i]!)), 0);

describe.each([
  ['Llama', LLAMA],
  ['Qwen2', QWEN2],
  ['Qwen3', QWEN3],
] as const)('%s', (_, config) => {
  test.each(['F32', 'F16', 'BF16', 'Q8_0', 'Q4_1', 'Q4_0', 'Q5_0'])(
    'has the log-probabilities of float64 from weights in %s',
    async (name) => {
      const source = packedSource(config, 7, () => name);
      const want = await oracle(config, source, TEXT);
      const model = await openGpuTextModel(navigator.gpu, config, source, {
        rows: 2,
        length: 32,
        cache: process.env['CACHE'] as 'halves',
      });
      await model.begin([TEXT, TEXT.slice(0, 5)]);
      const [all, short] = await model.likeliest([0, 1], config.vocab_size);
      const byId = (found: typeof all) =>
        found!.ids
          .map((id, i) => [id, found!.logprobs[i]!] as const)
          .sort(([a], [b]) => a - b)
          .map(([, p]) => p);
      console.log(
        name,
        apart(byId(all), want.at(-1)!),
        apart(byId(short), want[4]!),
        Math.max(...want[4]!),
        Math.min(...want[4]!),
      );
      expect(apart(byId(all), want.at(-1)!)).toBeLessThan(1e-3);
      expect(apart(byId(short), want[4]!)).toBeLessThan(1e-3);
      model.destroy();
    },
  );
});
