import { uniformOf } from '../../gpu/kernel.ts';
import { decodeSample } from '../../gpu/kernels/index.ts';
import type { Arena, Scalar, Tensor } from '../../gpu/tensor.ts';
import type { PolicySpec } from '../policy.ts';
import { declareActivations, type Activations } from './activations.ts';
import { cacheSlot } from './decodeAttention.ts';

/** Tokens a row may advance in one chunk. */
export const MAX_STEPS = 64;
/** Forced tokens that go through the blocks together. */
const PREFILL = 2048;
/** Words of a row's state: see decode_sample.wgsl. */
export const ROW_WORDS = 8;

/** How rows draw tokens, as decode_sample.wgsl reads it. */
export const ROW_SAMPLING = uniformOf(decodeSample, 'settings');

/** What a decoder keeps on the device. */
export interface DecoderTensors {
  readonly acts: Activations;
  readonly positions: Tensor; // (2,B) by slot: positions, then rows
  readonly cache: Tensor; // L × (2, B, T, G·D), padded to a slot
  readonly state: Tensor; // (B, 8) by slot
  readonly drawn: Tensor; // (B, 2·MAX_STEPS), then (B, MAX_STEPS); see decode_sample.wgsl
  readonly settings: Tensor; // ROW_SAMPLING
  readonly seats: Tensor; // (3,P) of a prefill: positions, rows, words; see decode_prefill.wgsl
  readonly queue: Tensor; // as many of those as a chunk may take
}

/** Declares a decoder's tensors; cache and activations are stored as `storage`, prefill may use activations of `tokens`. */
export function declareDecoder(arena: Arena, spec: PolicySpec, storage: Scalar, tokens: number): DecoderTensors {
  const { model, rows: B, length: T } = spec;
  const P = Math.min(tokens, PREFILL);
  const most = B * Math.min(MAX_STEPS + 1, T);
  const knobs = ['prompts', 'groupSize', 'maxTurns', 'layers', 'width'];
  return {
    acts: declareActivations(arena, 'decode', model, B, false, storage),
    positions: arena.declare('decode positions', [2, B]),
    cache: arena.declare('key-value cache', [model.num_hidden_layers * cacheSlot(spec)], knobs, 0, storage),
    state: arena.declare('row state', [B, ROW_WORDS], knobs),
    drawn: arena.declare('drawn', [B, 3 * MAX_STEPS], knobs),
    settings: arena.declare('sampling', [ROW_SAMPLING.fields.length], [], GPUBufferUsage.UNIFORM),
    seats: arena.declare('prefill seats', [3, P]),
    queue: arena.declare('prefill queue', [Math.ceil(most / P), 3 * P], knobs),
  };
}
