import { type AdapterConfig, adapterParameters } from '../../adapters.ts';
import type { MemoryPart } from '../../textModel.ts';
import type { PolicySpec } from '../../policy.ts';
import { storedTensor, type WeightSource } from '../../weightSource.ts';
import { adapted } from '../../adapters.ts';
import { type Capacity, forwardRoomSize, recomputeSize } from '../activations.ts';
import { headSize } from '../head.ts';
import { bytesPer, type Precision } from '../real.ts';
import { keysOf, scoresOf, type TextModelSizes } from '../textMemory.ts';
import { adapterGradientSize } from './adapterGradients.ts';
import { wholeSize } from './mergedTrunk.ts';

/** Most bytes of an adapted policy: what a 32-bit address reaches. */
export const MOST_ADAPTED_BYTES = 4 * 2 ** 30;
/** Bytes that the activations of a pass may take; rows go through the network in as many passes as that makes. */
const ACTIVATION_BYTES = 640 * 2 ** 20;
/** Bytes that the activations of all layers may take beside, where a pass is so small that none has to be computed anew. */
const KEPT_BYTES = 1280 * 2 ** 20;
/** Most tokens of a pass: more of them share nothing more. */
const MOST_TOKENS = 4096;
const INDEX_BYTES = 4;

/** How large passes over rows of the run are. */
export interface PassSizes {
  readonly capacity: Capacity; // of the largest
  readonly keptTokens: number; // of the largest that keeps the activations of all layers
}

/** As many tokens as the bytes allow, at least a whole row. */
export function passSizes({ model, rows, length }: PolicySpec, options: AdaptedMemoryOptions): PassSizes {
  const { precision = 'f32', mostTokens = MOST_TOKENS, keptTokens } = options;
  const of = (tokens: number): Capacity => ({ tokens, pairs: tokens * length, longest: length });
  const each = (kept: 0 | 1) => {
    const bytes = (n: number) => bytesPer(precision) * recomputeSize(model, of(n), kept * n);
    return (bytes(2048) - bytes(1024)) / 1024;
  };
  const all = rows * length;
  const tokens = Math.max(length, Math.min(Math.floor(ACTIVATION_BYTES / each(0)), mostTokens, all));
  const kept = Math.floor(KEPT_BYTES / (each(1) - each(0)));
  return { capacity: of(tokens), keptTokens: Math.min(keptTokens ?? kept, tokens) };
}

/** How rows are read while they are drawn: in whole numbers, so that what is drawn is what is learned from. */
export function drawingSizes({ rows, length }: PolicySpec, precision: Precision, simd: boolean): TextModelSizes {
  return {
    ...{ simd, halfCache: false, packed: false, precision, rows, length },
    tokens: Math.min(64, rows * length),
    slots: rows * length,
    heldLogits: 1,
  };
}

/** What memory depends on beside the run. */
export interface AdaptedMemoryOptions {
  readonly precision?: Precision; // f64 to test against; f32 where nothing is said
  readonly simd?: boolean; // false keeps f32 off WebAssembly SIMD
  readonly mostTokens?: number; // of a pass; as many as its memory allows where nothing is said
  readonly keptTokens?: number; // of a pass that keeps the activations of all layers; likewise
}

/** Memory of an adapted policy by purpose, an upper bound: what `openCpuAdaptedPolicy` reserves. Systems hand out pages as they are touched. */
export function adaptedPolicyMemory(
  spec: PolicySpec,
  source: WeightSource,
  adapters: AdapterConfig,
  options: AdaptedMemoryOptions = {},
): readonly MemoryPart[] {
  const { model, rows, length } = spec;
  const { precision = 'f32', simd = true } = options;
  const { capacity, keptTokens } = passSizes(spec, options);
  const sizes = drawingSizes(spec, precision, simd);
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
  return [
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
}
