import { F32 } from '../../src/formats/blocks/floats.ts';
import { initialWeights, parameters, type ModelConfig } from '../../src/model/architecture.ts';
import type { Sampling } from '../../src/model/decoding.ts';
import type { WeightSource } from '../../src/model/weightSource.ts';
import { Purpose, streamKey } from '../../src/base/rng.ts';

/** Sizes that no vector divides, grouped queries. */
export const SMALL: ModelConfig = {
  vocab_size: 37,
  hidden_size: 18,
  intermediate_size: 22,
  num_hidden_layers: 3,
  num_attention_heads: 3,
  num_key_value_heads: 1,
  head_dim: 6,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  attention_bias: false,
  tie_word_embeddings: true,
  value_head: false,
};

/** Kinds of models that are read, by name. */
export const KINDS: Readonly<Record<string, ModelConfig>> = {
  'grouped queries, tied': SMALL,
  untied: { ...SMALL, tie_word_embeddings: false },
  'Qwen2, with biases': { ...SMALL, attention_bias: true, num_key_value_heads: 3 },
  'Qwen3, with norms of heads, as wide as it likes': {
    ...SMALL,
    qk_norm: true,
    head_dim: 10,
    tie_word_embeddings: false,
  },
  'wide enough for blocks of 32': { ...SMALL, hidden_size: 32, intermediate_size: 64, num_attention_heads: 4, num_key_value_heads: 2, head_dim: 8 }, // prettier-ignore
};

/** Random weights of a model, biases and norms too, large enough that tokens differ in probability. */
export function randomSource(model: ModelConfig, seed: number): WeightSource {
  const drawn = initialWeights(model, seed);
  return new Map(
    parameters(model).map(({ name, shape }, index) => {
      const values = drawn.get(name)!.map((x, i) => (shape.length > 1 ? 1.5 * x : x + 0.1 * Math.sin(3 * i + index)));
      const bytes = new Uint8Array(values.buffer);
      const read = (out: Uint8Array) => {
        out.set(bytes);
        return Promise.resolve();
      };
      return [name, { shape, format: F32, bytes: bytes.length, read }];
    }),
  );
}

/** Draws that are the same every time. */
export const sampling = (changes: Partial<Sampling> = {}): Sampling => ({
  key: streamKey(5, Purpose.evalSample),
  update: 3,
  temperature: 0.9,
  greedy: false,
  topK: 0,
  topP: 1,
  ...changes,
});
