import { describe, expect, test } from 'vitest';
import type { Gpu } from '../../src/gpu/device.ts';
import { Arena, LimitError } from '../../src/gpu/tensor.ts';
import { parameters, type ModelConfig } from '../../src/model/architecture.ts';
import { declareText, type TextCapacity } from '../../src/model/gpu/text/textTensors.ts';
import { BackendError } from '../../src/model/policy.ts';
import type { WeightSource } from '../../src/model/weightSource.ts';
import { formatOf, packedSource } from './textSources.ts';
import { LLAMA, opened } from './textModels.ts';

const MIB = 2 ** 20;
const shape = (part: Partial<ModelConfig>): ModelConfig => ({ ...LLAMA, head_dim: 64, rope_theta: 1e5, ...part });
const SMOL_135M = shape({ vocab_size: 49152, hidden_size: 576, intermediate_size: 1536, num_hidden_layers: 30, num_attention_heads: 9, num_key_value_heads: 3 }); // prettier-ignore
const SMOL_360M = shape({ vocab_size: 49152, hidden_size: 960, intermediate_size: 2560, num_hidden_layers: 32, num_attention_heads: 15, num_key_value_heads: 5 }); // prettier-ignore
const QWEN_05B = shape({ vocab_size: 151936, hidden_size: 896, intermediate_size: 4864, num_hidden_layers: 24, num_attention_heads: 14, num_key_value_heads: 2, attention_bias: true }); // prettier-ignore

/** Headers of a checkpoint without its weights, matrices in one format. */
function headers(model: ModelConfig, name: string): WeightSource {
  return new Map(
    parameters(model).map(({ name: tensor, shape: sizes, size }) => {
      const format = formatOf(sizes.length > 1 ? name : 'F32');
      const bytes = (size / format.blockWeights) * format.blockBytes;
      return [tensor, { shape: sizes, format, bytes, read: () => Promise.reject(new Error('headers only')) }];
    }),
  );
}

/** What a device of these limits would be asked for. */
function declared(model: ModelConfig, format: string, bytes: number, room: TextCapacity) {
  const limits = { maxStorageBufferBindingSize: bytes, maxBufferSize: 2 * bytes };
  const gpu = { device: { limits } } as unknown as Gpu;
  const arena = new Arena(gpu);
  return { arena, tensors: declareText(arena, gpu, model, headers(model, format), room) };
}

const total = (parts: readonly { readonly bytes: number }[]) => parts.reduce((sum, { bytes }) => sum + bytes, 0);

describe.each([128, 256, 2048])('a device that binds %d MiB', (mib) => {
  test.each([
    ['SmolLM2-135M', SMOL_135M, 'Q4_1'],
    ['SmolLM2-135M', SMOL_135M, 'F32'],
    ['SmolLM2-360M', SMOL_360M, 'F32'],
    ['Qwen2.5-0.5B', QWEN_05B, 'F16'],
  ] as const)('holds %s for 64 rows of 512 tokens, no buffer of which is larger', (_, model, format) => {
    const { arena, tensors } = declared(model, format, mib * MIB, { rows: 64, length: 512 });
    expect(Math.max(...arena.declaredTensors.map(({ bytes }) => bytes))).toBeLessThanOrEqual(mib * MIB);
    const { embed } = tensors;
    expect(embed.parts.reduce((sum, { rows }) => sum + rows, 0)).toBe(model.vocab_size);
    const rowBytes = (model.hidden_size / embed.format.weightsPerBlock) * embed.format.bytesPerBlock;
    expect(embed.parts.length).toBe(Math.ceil((model.vocab_size * rowBytes) / (mib * MIB)));
    expect(total(tensors.memory)).toBe(arena.bytes);
    // weights are as large as their file's, norms and biases among them
    const file = total([...headers(model, format).values()]);
    expect(tensors.memory[0]!.bytes / file).toBeCloseTo(1, 3);
  });
});

test.each([
  [128, 'Texts of 2730 tokens fit, and so do 21 rows of 8192.'],
  [256, 'Texts of 5461 tokens fit, and so do 42 rows of 8192.'],
] as const)(
  'a cache larger than %d MiB a layer is refused with what fits, before anything is allocated',
  (mib, hint) => {
    const ask = () => declared(SMOL_135M, 'Q4_1', mib * MIB, { rows: 64, length: 8192 });
    expect(ask).toThrow(
      `The key-value cache of a layer needs 384 MiB for 64 rows of 8192 tokens. This adapter allows ${mib} MiB`,
    );
    try {
      ask();
    } catch (error) {
      expect(error).toBeInstanceOf(BackendError);
      expect((error as BackendError).remedy).toBe(hint);
    }
    const [, length] = /Texts of (\d+)/.exec(hint)!;
    const [, rows] = /(\d+) rows/.exec(hint)!;
    expect(() => declared(SMOL_135M, 'Q4_1', mib * MIB, { rows: 64, length: Number(length) })).not.toThrow();
    expect(() => declared(SMOL_135M, 'Q4_1', mib * MIB, { rows: Number(rows), length: 8192 })).not.toThrow();
    expect(() => declared(SMOL_135M, 'Q4_1', mib * MIB, { rows: Number(rows) + 1, length: 8192 })).toThrow(
      BackendError,
    );
  },
);

test('2 GiB hold it', () => {
  expect(() => declared(SMOL_135M, 'Q4_1', 2048 * MIB, { rows: 64, length: 8192 })).not.toThrow();
});

test('other tensors that are too large are refused too, and sizes that there are no kernels for', async () => {
  const wide = shape({ ...QWEN_05B, vocab_size: 600_000 });
  const { arena } = declared(wide, 'Q8_0', 128 * MIB, { rows: 64, length: 64 });
  await expect(arena.allocate()).rejects.toThrow(LimitError);
  expect(() => declared(shape({ ...SMOL_135M, head_dim: 256 }), 'F16', 128 * MIB, { rows: 1, length: 8 })).toThrow(
    'heads of 256',
  );
  expect(() => declared({ ...LLAMA, head_dim: 6 }, 'F16', 128 * MIB, { rows: 1, length: 8 })).toThrow('heads of 6');
});

test('the memory it tells of is what it allocates, but for a tenth', async () => {
  const model = await opened(
    { ...LLAMA, vocab_size: 4000 },
    packedSource({ ...LLAMA, vocab_size: 4000 }, 1, () => 'F16'),
    {
      rows: 4,
      length: 256,
      prefill: 256, // as by default
    },
  );
  expect(model.memory.map(({ purpose }) => purpose)).toEqual([
    'weights',
    'key-value cache',
    'activations',
    'logits',
    'rows',
  ]);
  const told = total(model.memory);
  const allocated = model.allocatedBytes;
  expect(Math.abs(allocated / told - 1)).toBeLessThan(0.1);
  model.destroy();
});
