import { type AdapterConfig, adapterParameters } from '../../loraAdapters.ts';
import type { MemoryPart } from '../../textModel.ts';
import type { PolicySpec } from '../../policy.ts';
import { storedTensor, type WeightSource } from '../../weightSource.ts';
import { adapted } from '../../loraAdapters.ts';
import { type Capacity, forwardRoomSize, recomputeSize } from '../activations.ts';
import { headSize } from '../head.ts';
import { bytesPer, type Precision } from '../real.ts';
import { keysOf, scoresOf, type TextModelSizes } from '../textMemory.ts';
import { adapterGradientSize } from './adapterGradients.ts';
import { wholeSize } from './mergedTrunk.ts';

/** Most bytes of an adapted policy: what a 32-bit address reaches. */
export const MOST_ADAPTED_BYTES = 4 * 2 ** 30;
const MIB = 2 ** 20;

/** One way to trade memory for speed. */
interface Way {
  readonly activations: number; // most bytes for the activations of one pass; rows are split into as many passes as this needs
  readonly kept: number; // extra bytes for the activations of all layers, so that small passes need not compute any twice
  readonly halfCache: boolean; // whether keys and values are kept as halves while tokens are drawn; scoring uses full precision anyway
}

/** From the fastest to the smallest. The first that fits is used. */
const WAYS: readonly [Way, ...Way[]] = [
  { activations: 640 * MIB, kept: 1280 * MIB, halfCache: false },
  { activations: 640 * MIB, kept: 0, halfCache: false },
  { activations: 320 * MIB, kept: 0, halfCache: true },
  { activations: 160 * MIB, kept: 0, halfCache: true },
];
/** Most tokens of a pass: more of them share nothing more. */
const MOST_TOKENS = 4096;
const INDEX_BYTES = 4;

/** The sizes of passes over a run's rows. */
export interface PassSizes {
  readonly capacity: Capacity; // of the largest
  readonly keptTokens: number; // of the largest that keeps the activations of all layers
}

/** As many tokens as the bytes allow, at least a whole row. */
function passSizes({ model, rows, length }: PolicySpec, options: AdaptedMemoryOptions, way: Way): PassSizes {
  const { precision = 'f32', mostTokens = MOST_TOKENS, keptTokens } = options;
  const of = (tokens: number): Capacity => ({ tokens, pairs: tokens * length, longest: length });
  const each = (kept: 0 | 1) => {
    const bytes = (n: number) => bytesPer(precision) * recomputeSize(model, of(n), kept * n);
    return (bytes(2048) - bytes(1024)) / 1024;
  };
  const all = rows * length;
  const tokens = Math.max(length, Math.min(Math.floor(way.activations / each(0)), mostTokens, all));
  const kept = Math.floor(way.kept / (each(1) - each(0)));
  return { capacity: of(tokens), keptTokens: Math.min(keptTokens ?? kept, tokens) };
}

/** How rows are read while they are drawn. */
function drawingSizes({ rows, length }: PolicySpec, options: AdaptedMemoryOptions, way: Way): TextModelSizes {
  const { precision = 'f32' } = options;
  const simd = options.simd !== false && precision === 'f32';
  return {
    ...{ simd, halfCache: simd && way.halfCache, packed: false, precision, rows, length },
    tokens: Math.min(64, rows * length),
    slots: rows * length,
    heldLogits: 1,
  };
}

/** What memory depends on beside the run. */
export interface AdaptedMemoryOptions {
  readonly precision?: Precision; // f64 to test against; f32 by default
  readonly simd?: boolean; // false keeps f32 off WebAssembly SIMD
  readonly mostTokens?: number; // of a pass; default: as many as its memory allows
  readonly keptTokens?: number; // of a pass that keeps the activations of all layers; likewise
  readonly mostBytes?: number; // that there are; a policy that could use more takes less time
}

/** What an adapted policy allocates. */
export interface AdaptedPlan {
  readonly passes: PassSizes;
  readonly drawing: TextModelSizes;
  readonly memory: readonly MemoryPart[]; // by purpose, an upper bound: what is reserved. Systems hand out pages as they are touched
  readonly bytes: number;
}

/** The fastest plan that fits, or the most frugal one. */
export function adaptedPolicyPlan(
  spec: PolicySpec,
  source: WeightSource,
  adapters: AdapterConfig,
  options: AdaptedMemoryOptions = {},
): AdaptedPlan {
  const { mostBytes = MOST_ADAPTED_BYTES } = options;
  const plans = WAYS.map((way) => planned(spec, source, adapters, options, way));
  return plans.find(({ bytes }) => bytes <= mostBytes) ?? plans.at(-1)!;
}

/** Memory of an adapted policy by purpose: what `openCpuAdaptedPolicy` reserves. */
export const adaptedPolicyMemory = (...given: Parameters<typeof adaptedPolicyPlan>): readonly MemoryPart[] =>
  adaptedPolicyPlan(...given).memory;

function planned(
  spec: PolicySpec,
  source: WeightSource,
  adapters: AdapterConfig,
  options: AdaptedMemoryOptions,
  way: Way,
): AdaptedPlan {
  const { model, rows, length } = spec;
  const { precision = 'f32' } = options;
  const found = { passes: passSizes(spec, options, way), drawing: drawingSizes(spec, options, way) };
  const { capacity, keptTokens } = found.passes;
  const sizes = found.drawing;
  const each = bytesPer(precision);
  const pool = adapterParameters(model, adapters).reduce((sum, { size }) => sum + size, 0);
  const base = { ...model, value_head: false };
  const packed = adapted(base, adapters).reduce((sum, { weight }) => sum + storedTensor(source, weight).bytes, 0);
  const turned = adapted(base, adapters).reduce((most, { out }) => Math.max(most, out), 0) * adapters.rank;
  const passes =
    recomputeSize(model, capacity, keptTokens) +
    headSize(model, capacity.tokens) +
    adapterGradientSize(model, adapters, capacity.tokens) +
    length * model.head_dim;
  const drawing =
    forwardRoomSize(model, sizes.tokens, scoresOf(model, length)) +
    length * model.head_dim +
    2 * (model.vocab_size + rows * model.hidden_size) +
    model.hidden_size;
  const memory = [
    { purpose: 'weights, adapters merged', bytes: each * (wholeSize(model) + turned) },
    { purpose: 'weights as packed, beside', bytes: packed },
    { purpose: 'adapters, the reference’s too', bytes: each * 2 * pool },
    { purpose: 'gradients and Adam’s moments', bytes: each * 3 * pool },
    { purpose: 'activations and their gradients', bytes: each * (passes + drawing) + INDEX_BYTES * rows * length },
    {
      purpose: 'key-value cache',
      bytes: each * 2 * model.num_hidden_layers * keysOf(model, sizes) + 2 * INDEX_BYTES * rows * length,
    },
    { purpose: 'batch, credit and draws', bytes: each * rows * model.vocab_size + (85 + 7 * each) * rows * length },
  ];
  return { ...found, memory, bytes: memory.reduce((sum, { bytes }) => sum + bytes, 0) };
}
