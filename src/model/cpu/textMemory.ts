import type { ModelConfig } from '../architecture.ts';
import { BackendError } from '../policy.ts';
import type { MemoryPart } from '../textModel.ts';
import type { WeightSource } from '../weightSource.ts';
import { forwardBuffersSize } from './activations.ts';
import type { ReferenceLoops } from './arithmetic.ts';
import { attentionShape } from '../attentionShape.ts';
import { productScratchSize, weightsSize } from './packedWeights.ts';
import { bytesPer, type Precision } from '../learning/real.ts';
import { packedFormats } from './simd.ts';
import type { Threads } from './team/threads.ts';
import { slotNumbers } from './wasm/slotKernels.ts';

/** Largest number of tokens in one pass. Tokens of a pass share each read of the weights. */
const MAX_TOKENS = 64;
/** Largest number of logits in memory at once. */
const MAX_LOGITS = 2 ** 21;
/** Largest memory, in bytes: the range of a 32-bit address. */
const MAX_BYTES = 4 * 2 ** 30;
/** Bytes of an index into the cache. */
const INDEX_BYTES = 4;

export interface CpuTextModelOptions {
  readonly rows: number; // B
  readonly length: number; // T, largest number of tokens in a row
  readonly cachedTokens?: number; // tokens in the key-value cache, shared ones counted once; rows × length by default
  readonly loops?: ReferenceLoops; // in place of WebAssembly's
  readonly float16Cache?: boolean; // false: keys and values in float32; without SIMD they always are
  readonly threads?: Threads; // one thread by default
  readonly packWeights?: boolean; // false: every weight is widened to float32 or float64
}

export interface TextModelSizes {
  readonly simd: boolean; // false: reference loops
  readonly float16Cache: boolean; // whether keys and values are float16
  readonly packedWeights: boolean; // whether weights stay packed (needs SIMD)
  readonly precision: Precision;
  readonly rows: number; // B
  readonly length: number; // T
  readonly tokens: number; // most tokens in one pass
  readonly slots: number; // slots of the cache, one for each token
  readonly maxLogitRows: number; // number of tokens whose logits are in memory at once
}

/** Returns the sizes for `options`. Throws BackendError if an option isn't a valid size. */
export function textModelSizes(model: ModelConfig, options: CpuTextModelOptions): TextModelSizes {
  const { rows, length, cachedTokens = rows * length, loops } = options;
  for (const [name, size] of Object.entries({ rows, length, cachedTokens })) {
    if (Number.isInteger(size) && size > 0) continue;
    throw new BackendError(`${name} is ${size} and must be a whole number from 1.`, `Give another ${name}.`);
  }
  const simd = loops === undefined;
  const tokens = Math.min(MAX_TOKENS, rows * length);
  return {
    simd,
    float16Cache: simd && options.float16Cache !== false,
    packedWeights: simd && options.packWeights !== false,
    precision: loops?.precision ?? 'f32',
    rows,
    length,
    tokens,
    slots: Math.min(cachedTokens, rows * length),
    maxLogitRows: Math.max(1, Math.min(tokens, Math.floor(MAX_LOGITS / model.vocab_size))),
  };
}

/** Returns the size of one layer's key cache, in numbers. The value cache has the same size. */
export function keyCacheSize(model: ModelConfig, { simd, float16Cache, slots }: TextModelSizes): number {
  const shape = attentionShape(model);
  if (simd) return slotNumbers(shape, float16Cache ? 'F16' : 'F32', slots);
  return slots * shape.kvHeads * shape.headDim;
}

/** In numbers, for all heads that read the same keys, each rounded up to whole vectors. */
export function scoreBufferSize({ num_attention_heads, num_key_value_heads }: ModelConfig, length: number): number {
  return (num_attention_heads / num_key_value_heads) * 4 * Math.ceil(length / 4);
}

/** Returns the memory that `openCpuTextModel` allocates, by purpose. Throws BackendError if it's more than the limit. */
export function textModelMemory(
  model: ModelConfig,
  source: WeightSource,
  sizes: TextModelSizes,
): readonly MemoryPart[] {
  const { rows, length, tokens, slots, maxLogitRows, precision } = sizes;
  const packed = sizes.packedWeights ? packedFormats : undefined;
  const numberBytes = bytesPer(precision);
  const { hidden_size: d, vocab_size: v } = model;
  const passSize =
    forwardBuffersSize(model, tokens, scoreBufferSize(model, length)) +
    productScratchSize(model, packed, tokens) +
    length * model.head_dim;
  const parts = [
    { purpose: 'weights', bytes: numberBytes * weightsSize(model, source, packed) },
    {
      purpose: 'key-value cache',
      bytes:
        numberBytes * 2 * model.num_hidden_layers * keyCacheSize(model, sizes) + INDEX_BYTES * (rows * length + slots),
    },
    { purpose: 'activations', bytes: numberBytes * (passSize + rows * d) },
    { purpose: 'logits', bytes: numberBytes * (maxLogitRows * (v + d) + v) },
  ];
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  if (bytes <= MAX_BYTES) return parts;
  const gib = (n: number) => (n / 2 ** 30).toFixed(1);
  throw new BackendError(
    `The model needs ${gib(bytes)} GiB for ${rows} texts of ${length} tokens. On the CPU at most ${gib(MAX_BYTES)} GiB fit.`,
    'Use a smaller model, one in fewer bits, fewer rows, or shorter texts.',
  );
}
