import { describe, expect, test } from 'vitest';
import { readModelConfig } from '../../src/checkpoints/modelConfigFile.ts';
import { EMBEDDING_NAME, findModelTensors, HEAD_NAME } from '../../src/checkpoints/tensorFit.ts';
import { ggufModelConfig } from '../../src/checkpoints/openCheckpoint.ts';
import { ggufName } from '../../src/checkpoints/ggufNames.ts';
import { readRope } from '../../src/checkpoints/rope.ts';
import { wordSpecialIds } from '../../src/checkpoints/tokenizer.ts';
import type { Gguf } from '../../src/formats/gguf.ts';
import type { GgufValue } from '../../src/formats/ggufHeader.ts';
import { type ModelConfig, parameters } from '../../src/model/architecture.ts';

const MODEL: ModelConfig = {
  ...{ vocab_size: 11, hidden_size: 12, intermediate_size: 20, num_hidden_layers: 2, head_dim: 4 },
  ...{ num_attention_heads: 3, num_key_value_heads: 1, rms_norm_eps: 1e-5, rope_theta: 500 },
  ...{ attention_bias: false, tie_word_embeddings: true, value_head: false },
};

/** Places of what was noted while `run` ran, and what it gave. */
function noted<T>(run: (wrong: (place: string) => void) => T): readonly [T, readonly string[]] {
  const places: string[] = [];
  return [run((place) => places.push(place)), places];
}

/** Places that a refusal names, in order. */
function refused(run: () => unknown): readonly string[] {
  try {
    run();
  } catch (error) {
    return (error as Error).message.split('\n').flatMap((line) => /: ([\w.]+): found/.exec(line)?.[1] ?? []);
  }
  return [];
}

describe('rotary positions of a config.json', () => {
  const rope = (config: Readonly<Record<string, unknown>>, headDim = 8) =>
    noted((wrong) => readRope(config, headDim, wrong));
  const llama3 = {
    ...{ rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 },
    original_max_position_embeddings: 8192,
  };

  test('are the same from files of Transformers 4 and 5', () => {
    expect(rope({})).toEqual([{ rope_theta: 10000 }, []]);
    expect(rope({ rope_theta: 7 })).toEqual([{ rope_theta: 7 }, []]);
    expect(rope({ rope_parameters: { rope_theta: 7, rope_type: 'default' } })).toEqual([{ rope_theta: 7 }, []]);
    for (const linear of [
      { rope_theta: 7, rope_scaling: { type: 'linear', factor: 3 } },
      { rope_parameters: { rope_theta: 7, rope_type: 'linear', factor: 3 } },
      {
        rope_theta: 7,
        rope_parameters: { rope_theta: 7, type: 'linear', factor: 3 },
        rope_scaling: { type: 'linear' },
      },
    ]) {
      expect(rope(linear)).toEqual([{ rope_theta: 7, rope_factors: [3, 3, 3, 3] }, []]);
    }
  });

  test('of Llama 3 are divided by 1 where they turn often, by the factor where they turn seldom, and between them by what mixes the two', () => {
    // as `_compute_llama3_parameters` of Transformers has it, on inverse frequencies, written out here by wavelengths
    const theta = 500_000;
    const [{ rope_factors: factors = [] }, wrong] = rope({ rope_theta: theta, rope_scaling: llama3 }, 128);
    const wanted = Array.from({ length: 64 }, (_, i) => {
      const inverse = 1 / theta ** ((2 * i) / 128);
      const wavelength = (2 * Math.PI) / inverse;
      const smooth = (8192 / wavelength - 1) / (4 - 1);
      const mixed = ((1 - smooth) * inverse) / 8 + smooth * inverse;
      const kept = wavelength < 8192 / 4 ? inverse : wavelength > 8192 ? inverse / 8 : mixed;
      return inverse / kept;
    });
    expect(wrong).toEqual([]);
    expect(factors).toHaveLength(64);
    expect(wanted.filter((x) => x > 1.01 && x < 7.99).length).toBeGreaterThan(4);
    factors.forEach((factor, i) => expect(factor).toBeCloseTo(wanted[i] ?? NaN, 10));
  });

  // prettier-ignore
  test.each<[Readonly<Record<string, unknown>>, string]>([
    [{ rope_theta: 0 }, 'rope_theta'], [{ rope_theta: '7' }, 'rope_theta'], [{ rope_scaling: 3 }, 'rope_scaling'],
    [{ rope_scaling: { type: 'linear' } }, 'rope_scaling.factor'], [{ rope_scaling: { type: 'linear', factor: Infinity } }, 'rope_scaling.factor'],
    [{ rope_scaling: { type: 'dynamic', factor: 2 } }, 'rope_scaling.rope_type'],
    [{ rope_scaling: { ...llama3, high_freq_factor: 1 } }, 'rope_scaling.high_freq_factor'],
    [{ rope_scaling: { ...llama3, original_max_position_embeddings: -1 } }, 'rope_scaling.original_max_position_embeddings'],
    [{ rope_parameters: { rope_theta: 7, partial_rotary_factor: 0.5 } }, 'rope_parameters.partial_rotary_factor'],
    [{ rope_theta: 8, rope_parameters: { rope_theta: 7 } }, 'rope_theta'],
    [{ rope_parameters: { rope_theta: 7 }, rope_scaling: { type: 'linear', factor: 2 } }, 'rope_scaling'],
  ])('as %j are refused at %s', (config, place) => {
    expect(rope(config)[1]).toEqual([place]);
  });
});

describe('a config.json', () => {
  const CONFIG = {
    ...{
      architectures: ['LlamaForCausalLM'],
      model_type: 'llama',
      hidden_act: 'silu',
      vocab_size: 11,
      hidden_size: 12,
    },
    ...{ intermediate_size: 20, num_hidden_layers: 2, num_attention_heads: 3, rms_norm_eps: 1e-5, rope_theta: 500 },
  };
  const read = (changes: Readonly<Record<string, unknown>> = {}) =>
    readModelConfig(new TextEncoder().encode(JSON.stringify({ ...CONFIG, ...changes })));

  test('gives what it leaves out: heads of keys, the size of a head, an embedding of its own', () => {
    const bare = { ...MODEL, num_key_value_heads: 3, tie_word_embeddings: false };
    expect(read()).toEqual({ architecture: 'LlamaForCausalLM', model: bare });
    expect(read({ tie_word_embeddings: true, num_key_value_heads: 1 }).model).toEqual(MODEL);
    expect(read({ attention_bias: true }).model.attention_bias).toBe(true);
    const qwen = (version: 2 | 3) => ({ architectures: [`Qwen${version}ForCausalLM`], model_type: `qwen${version}` });
    expect(read(qwen(2)).model).toEqual({ ...bare, attention_bias: true });
    expect(read(qwen(3)).model).toEqual({ ...bare, head_dim: 128, qk_norm: true });
    expect(read({ ...qwen(3), head_dim: 8 }).model.head_dim).toBe(8);
    expect(read({ rms_norm_eps: undefined }).model.rms_norm_eps).toBe(1e-6);
    expect(
      read({ use_sliding_window: null, layer_types: ['full_attention'], quantization_config: null }).model,
    ).toEqual(bare);
  });

  // prettier-ignore
  test.each<[Readonly<Record<string, unknown>>, string]>([
    [{ vocab_size: 0 }, 'vocab_size'], [{ vocab_size: 1.5 }, 'vocab_size'], [{ hidden_size: '12', head_dim: 4 }, 'hidden_size'],
    [{ num_hidden_layers: -1 }, 'num_hidden_layers'], [{ intermediate_size: null }, 'intermediate_size'],
    [{ hidden_act: 'gelu' }, 'hidden_act'], [{ mlp_bias: true }, 'mlp_bias'], [{ quantization_config: {} }, 'quantization_config'],
    [{ use_sliding_window: true }, 'use_sliding_window'], [{ attention_bias: 1 }, 'attention_bias'],
    [{ layer_types: ['full_attention', 'sliding_attention'] }, 'layer_types'], [{ head_dim: 3 }, 'head_dim'],
    [{ head_dim: 1026 }, 'head_dim'], [{ num_key_value_heads: 2 }, 'num_key_value_heads'], [{ rms_norm_eps: 0 }, 'rms_norm_eps'],
    [{ model_type: 'qwen2' }, 'model_type'], [{ architectures: [] }, 'architectures'], [{ architectures: ['toString'] }, 'architectures'],
    [{ tie_word_embeddings: 'yes' }, 'tie_word_embeddings'],
  ])('with %j is refused at %s', (changes, place) => {
    expect(refused(() => read(changes))).toEqual([place]);
  });
});

describe('the keys of a GGUF', () => {
  const KEYS: Readonly<Record<string, GgufValue>> = {
    ...{
      'general.architecture': 'llama',
      'llama.vocab_size': 11,
      'llama.embedding_length': 12,
      'llama.block_count': 2,
    },
    ...{ 'llama.feed_forward_length': 20, 'llama.attention.head_count': 3, 'llama.attention.head_count_kv': 1 },
    ...{ 'llama.attention.layer_norm_rms_epsilon': 1e-5, 'llama.rope.freq_base': 500 },
  };
  const read = (
    changes: Readonly<Record<string, GgufValue | undefined>> = {},
    factors: readonly number[] | null = null,
    tensors: readonly string[] = [],
  ) => {
    const kind = changes['general.architecture'] ?? 'llama';
    const named = Object.entries(KEYS).map(
      ([key, value]) => [key.replace('llama.', `${String(kind)}.`), value] as const,
    );
    const keys = Object.entries({ ...Object.fromEntries(named), ...changes }).filter(
      ([, value]) => value !== undefined,
    );
    const header = { file: 'a.gguf', metadata: new Map(keys) };
    const shapes = new Map(tensors.map((name) => [name, { shape: [17, 12] }]));
    return ggufModelConfig({ header, tensors: shapes } as unknown as Gguf, factors);
  };

  test('give the model, and what they leave out', () => {
    expect(read()).toEqual(MODEL);
    expect(read({ 'llama.attention.head_count_kv': undefined }).num_key_value_heads).toBe(3);
    expect(read({ 'llama.attention.key_length': 8 }).head_dim).toBe(8);
    expect(read({ 'llama.rope.freq_base': undefined }).rope_theta).toBe(10000);
    expect(read({ 'llama.vocab_size': undefined, 'tokenizer.ggml.tokens': ['a', 'b'] }).vocab_size).toBe(2);
    expect(read({ 'llama.vocab_size': undefined }, null, ['token_embd.weight']).vocab_size).toBe(17);
    expect(read({}, null, ['output.weight']).tie_word_embeddings).toBe(false);
    expect(read({ 'general.architecture': 'qwen2' })).toEqual({ ...MODEL, attention_bias: true });
    expect(read({ 'general.architecture': 'qwen3' })).toEqual({ ...MODEL, qk_norm: true });
  });

  test('divide frequencies by a tensor’s factors, by a linear factor, or by both', () => {
    const linear = { 'llama.rope.scaling.type': 'linear', 'llama.rope.scaling.factor': 4 };
    expect(read({}, [1, 8]).rope_factors).toEqual([1, 8]);
    expect(read(linear).rope_factors).toEqual([4, 4]);
    expect(read(linear, [1, 8]).rope_factors).toEqual([4, 32]);
    expect(read({ 'llama.rope.scaling.type': 'none', 'llama.rope.scaling.factor': 4 }).rope_factors).toBeUndefined();
  });

  // prettier-ignore
  test.each<[Readonly<Record<string, GgufValue | undefined>>, string, (readonly number[])?]>([
    [{ 'general.architecture': 'mamba' }, 'general.architecture'], [{ 'general.architecture': 3 }, 'general.architecture'],
    [{ 'llama.block_count': undefined }, 'llama.block_count'], [{ 'llama.block_count': 1.5 }, 'llama.block_count'],
    [{ 'llama.attention.layer_norm_rms_epsilon': 0 }, 'llama.attention.layer_norm_rms_epsilon'],
    [{ 'llama.attention.layer_norm_rms_epsilon': undefined }, 'llama.attention.layer_norm_rms_epsilon'],
    [{ 'llama.attention.value_length': 8 }, 'llama.attention.value_length'], [{ 'llama.rope.dimension_count': 2 }, 'llama.rope.dimension_count'],
    [{ 'llama.attention.key_length': 3 }, 'llama.attention.key_length'], [{ 'llama.attention.key_length': 1026 }, 'llama.attention.key_length'],
    [{ 'llama.attention.head_count_kv': 2 }, 'llama.attention.head_count_kv'], [{ 'llama.rope.scaling.type': 'yarn' }, 'llama.rope.scaling.type'],
    [{ 'llama.rope.scaling.type': 'linear' }, 'llama.rope.scaling.factor'], [{}, 'rope_freqs.weight', [1]],
    [{}, 'rope_freqs.weight', [1, 2, 3]], [{}, 'rope_freqs.weight', [1, 0]], [{}, 'rope_freqs.weight', [NaN, 1]],
  ])('with %j are refused at %s', (changes, place, factors) => {
    expect(refused(() => read(changes, factors ?? null))).toContain(place);
  });

  test('name every tensor otherwise than Hugging Face does, each by a name of its own', () => {
    const names = parameters({ ...MODEL, attention_bias: true, qk_norm: true, tie_word_embeddings: false }).map(({ name }) => name); // prettier-ignore
    const theirs = names.map(ggufName);
    expect(new Set(theirs).size).toBe(names.length);
    expect(names.filter((name) => ggufName(name) === name)).toEqual([]);
    const some = [
      'self_attn.q_proj.bias',
      'self_attn.k_norm.weight',
      'mlp.down_proj.weight',
      'post_attention_layernorm.weight',
    ];
    expect(some.map((name) => ggufName(`model.layers.12.${name}`))).toEqual([
      ...['blk.12.attn_q.bias', 'blk.12.attn_k_norm.weight', 'blk.12.ffn_down.weight', 'blk.12.ffn_norm.weight'],
    ]);
    expect(['v.weight', 'model.layers.0.other.weight'].map(ggufName)).toEqual([
      'v.weight',
      'model.layers.0.other.weight',
    ]);
  });
});

describe('the tensors of a file', () => {
  const all = (model: ModelConfig = MODEL) =>
    new Map(parameters(model).map(({ name, shape }): [string, { shape: readonly number[] }] => [name, { shape }]));
  const fit = (tensors: ReadonlyMap<string, { shape: readonly number[] }>, model = MODEL) => {
    const told: string[] = [];
    const found = findModelTensors(model, tensors, (place, got) => told.push(`${place}: ${got}`));
    return { ...found, told };
  };
  const without = (name: string) => new Map([...all()].filter(([other]) => other !== name));

  test('that a model asks for are taken, and what is missing, misshapen or more is named', () => {
    const { weights, zeroBiases: zeros, separateHead: head, unused, told } = fit(all());
    expect([[...weights.keys()], zeros.size, head, unused, told]).toEqual([[...all().keys()], 0, null, [], []]);
    const norm = 'model.layers.1.input_layernorm.weight';
    expect(fit(without(norm)).told).toEqual([`${norm}: no such tensor`]);
    expect(fit(new Map([...all(), [norm, { shape: [13] }]])).told).toEqual([`${norm}: [13]`]);
    expect(fit(new Map([...all(), [norm, { shape: [3, 4] }]])).weights.has(norm)).toBe(false);
    expect(fit(new Map([...all(), ['more', { shape: [1] }]])).told).toEqual(['more: an unknown tensor']);
  });

  test('that are frequencies are passed over by name, wherever they stand, and nothing that only looks like them', () => {
    const named = ['model.layers.0.self_attn.rotary_emb.inv_freq', 'rotary_emb.inv_freq', 'xrotary_emb.inv_freq'];
    const { unused, told } = fit(new Map([...all(), ...named.map((name) => [name, { shape: [2] }] as const)]));
    expect([unused, told]).toEqual([named.slice(0, 2), ['xrotary_emb.inv_freq: an unknown tensor']]);
  });

  test('are too few for the layers that are asked for', () => {
    const many = { ...MODEL, num_hidden_layers: 1_000_000 };
    const { told, weights } = fit(all(), many);
    expect([told, weights.size]).toEqual([[`: ${all().size} tensors`], 0]);
  });

  test('may have a head beside an embedding that is tied, or in its place; of another shape it is refused', () => {
    const shape = [11, 12];
    const beside = { shape };
    expect(fit(new Map([...all(), [HEAD_NAME, beside]])).separateHead).toBe(beside);
    const alone = fit(new Map([...without(EMBEDDING_NAME), [HEAD_NAME, beside]]));
    expect([alone.separateHead, alone.weights.get(EMBEDDING_NAME), alone.told]).toEqual([null, beside, []]);
    const wrong = fit(new Map([...all(), [HEAD_NAME, { shape: [12, 11] }]]));
    expect([wrong.separateHead, wrong.told]).toEqual([null, [`${HEAD_NAME}: [12,11]`]]);
    const untied = { ...MODEL, tie_word_embeddings: false };
    expect(fit(all(untied), untied)).toMatchObject({ separateHead: null, told: [] });
  });

  test('may have biases of o_proj only where the config asks for biases, and they are apart', () => {
    const bias = 'model.layers.0.self_attn.o_proj.bias';
    const biased = { ...MODEL, attention_bias: true };
    const more = (model: ModelConfig) => new Map([...all(model), [bias, { shape: [12] }]]);
    expect(fit(more(MODEL)).told).toEqual([`${bias}: an unknown tensor`]);
    const { zeroBiases: zeros, told, weights } = fit(more(biased), biased);
    expect([[...zeros.keys()], told, weights.has(bias)]).toEqual([[bias], [], false]);
  });
});

test('ids of a vocabulary of words are where the words stand; ends that it lacks are left out', () => {
  const words = ['<pad>', '<bos>', 'a', '</answer>', '</call>'];
  expect(wordSpecialIds(words)).toEqual({ pad: 0, bos: 1, turnEnds: [4, 3] });
  expect(wordSpecialIds(['<bos>', '<pad>', '</answer>'])).toEqual({ pad: 1, bos: 0, turnEnds: [2] });
});
