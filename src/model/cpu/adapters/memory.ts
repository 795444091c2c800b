import { type AdapterConfig, adapterParameters, adaptedLinears } from '../../loraAdapters.ts';
import type { MemoryPart } from '../../textModel.ts';
import type { PolicySpec } from '../../policy.ts';
import { storedTensor, type WeightSource } from '../../weightSource.ts';
import { type Capacity, forwardBuffersSize, activationSize } from '../activations.ts';
import type { ReferenceLoops } from '../arithmetic.ts';
import { headSize } from '../head.ts';
import { bytesPer, type Precision } from '../../learning/real.ts';
import { keyCacheSize, scoreBufferSize, type TextModelSizes } from '../textMemory.ts';
import { adapterGradientSize } from './adapterGradients.ts';
import { mergedSize } from './mergedTensors.ts';

/** Largest memory of an adapted policy, in bytes: the range of a 32-bit address. */
export const MAX_ADAPTED_BYTES = 4 * 2 ** 30;
const MIB = 2 ** 20;

interface Tradeoff {
  /** Most bytes for the activations of one pass. Rows are split into as many passes as this needs. */
  readonly activationBytes: number;
  /** Extra bytes to keep the activations of all layers, so that small passes compute nothing twice. */
  readonly keptBytes: number;
  /** Whether keys and values are float16 while tokens are drawn. Scoring always uses full precision. */
  readonly float16Cache: boolean;
}

/** From the fastest to the smallest. The first that fits is used. */
const TRADEOFFS: readonly [Tradeoff, ...Tradeoff[]] = [
  { activationBytes: 640 * MIB, keptBytes: 1280 * MIB, float16Cache: false },
  { activationBytes: 640 * MIB, keptBytes: 0, float16Cache: false },
  { activationBytes: 320 * MIB, keptBytes: 0, float16Cache: true },
  { activationBytes: 160 * MIB, keptBytes: 0, float16Cache: true },
];
/** Largest number of tokens in a pass. In a larger one the tokens would share no more work. */
const MAX_TOKENS = 4096;
const INDEX_BYTES = 4;

export interface PassSizes {
  readonly capacity: Capacity; // of the largest pass
  readonly keptTokens: number; // tokens of the largest pass that keeps the activations of all layers
}

/** Returns the sizes of passes with as many tokens as the bytes allow, but at least a whole row. */
function passSizes({ model, rows, length }: PolicySpec, options: AdaptedMemoryOptions, tradeoff: Tradeoff): PassSizes {
  const { maxTokens = MAX_TOKENS, keptTokens } = options;
  const precision = precisionOf(options);
  const capacityFor = (tokens: number): Capacity => ({
    ...{ tokens, pairs: tokens * length, longestRow: length, places: rows * length },
  });
  const bytesPerToken = (kept: 0 | 1) => {
    const bytes = (n: number) => bytesPer(precision) * activationSize(model, capacityFor(n), kept * n);
    return (bytes(2048) - bytes(1024)) / 1024;
  };
  const batchTokens = rows * length;
  const tokens = Math.max(
    length,
    Math.min(Math.floor(tradeoff.activationBytes / bytesPerToken(0)), maxTokens, batchTokens),
  );
  const bytesToKeep = bytesPerToken(1) - bytesPerToken(0); // 0 with one layer, which is kept anyway
  const maxKeptTokens = bytesToKeep > 0 ? Math.floor(tradeoff.keptBytes / bytesToKeep) : tokens;
  return { capacity: capacityFor(tokens), keptTokens: Math.min(keptTokens ?? maxKeptTokens, tokens) };
}

function drawingSizes({ rows, length }: PolicySpec, options: AdaptedMemoryOptions, tradeoff: Tradeoff): TextModelSizes {
  const simd = options.loops === undefined;
  const precision = precisionOf(options);
  return {
    ...{ simd, float16Cache: simd && tradeoff.float16Cache, packedWeights: false, precision, rows, length },
    tokens: Math.min(64, rows * length),
    slots: rows * length,
    maxLogitRows: 1,
  };
}

export interface AdaptedMemoryOptions {
  readonly loops?: ReferenceLoops; // in place of WebAssembly's
  readonly maxTokens?: number; // most tokens of a pass, if its memory allows; MAX_TOKENS by default
  readonly keptTokens?: number; // most tokens of a pass that keeps all activations; default: as many as memory allows
  readonly maxBytes?: number; // available memory; with more, the policy may be faster
}

export const precisionOf = ({ loops }: AdaptedMemoryOptions): Precision => loops?.precision ?? 'f32';

export interface AdaptedPlan {
  readonly passes: PassSizes;
  readonly drawing: TextModelSizes;
  /** Reserved memory, by purpose. An upper bound of what is used, because systems hand out pages on first use. */
  readonly memory: readonly MemoryPart[];
  readonly bytes: number;
}

/** Returns the fastest plan that fits, or the smallest if none fits. */
export function adaptedPolicyPlan(
  spec: PolicySpec,
  source: WeightSource,
  adapters: AdapterConfig,
  options: AdaptedMemoryOptions = {},
): AdaptedPlan {
  const { maxBytes = MAX_ADAPTED_BYTES } = options;
  const plans = TRADEOFFS.map((tradeoff) => planFor(spec, source, adapters, options, tradeoff));
  return plans.find(({ bytes }) => bytes <= maxBytes) ?? plans.at(-1)!;
}

export const adaptedPolicyMemory = (...parameters: Parameters<typeof adaptedPolicyPlan>): readonly MemoryPart[] =>
  adaptedPolicyPlan(...parameters).memory;

function planFor(
  spec: PolicySpec,
  source: WeightSource,
  adapters: AdapterConfig,
  options: AdaptedMemoryOptions,
  tradeoff: Tradeoff,
): AdaptedPlan {
  const { model, rows, length } = spec;
  const chosen = { passes: passSizes(spec, options, tradeoff), drawing: drawingSizes(spec, options, tradeoff) };
  const { capacity, keptTokens } = chosen.passes;
  const sizes = chosen.drawing;
  const numberBytes = bytesPer(precisionOf(options));
  const pool = adapterParameters(model, adapters).reduce((sum, { size }) => sum + size, 0);
  const base = { ...model, value_head: false };
  const packed = adaptedLinears(base, adapters).reduce(
    (sum, { weightName }) => sum + storedTensor(source, weightName).bytes,
    0,
  );
  const transposedB =
    adaptedLinears(base, adapters).reduce((widest, { out }) => Math.max(widest, out), 0) * adapters.rank;
  const passes =
    activationSize(model, capacity, keptTokens) +
    headSize(model, capacity.tokens) +
    adapterGradientSize(model, adapters, capacity.tokens) +
    length * model.head_dim;
  const drawing =
    forwardBuffersSize(model, sizes.tokens, scoreBufferSize(model, length)) +
    length * model.head_dim +
    2 * (model.vocab_size + rows * model.hidden_size) +
    model.hidden_size;
  const memory = [
    { purpose: 'weights, adapters merged', bytes: numberBytes * (mergedSize(model) + transposedB) },
    { purpose: 'packed weights of the adapted layers', bytes: packed },
    { purpose: 'adapters of policy and reference', bytes: numberBytes * 2 * pool },
    { purpose: 'gradients and Adam’s moments', bytes: numberBytes * 3 * pool },
    {
      purpose: 'activations and their gradients',
      bytes: numberBytes * (passes + drawing),
    },
    {
      purpose: 'key-value cache',
      bytes: numberBytes * 2 * model.num_hidden_layers * keyCacheSize(model, sizes) + 2 * INDEX_BYTES * rows * length,
    },
    {
      purpose: 'batch, credit and draws',
      bytes: numberBytes * rows * model.vocab_size + (85 + 7 * numberBytes) * rows * length,
    },
  ];
  return { ...chosen, memory, bytes: memory.reduce((sum, { bytes }) => sum + bytes, 0) };
}
