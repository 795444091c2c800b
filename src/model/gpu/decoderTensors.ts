import { uniformOf } from '../../gpu/kernel.ts';
import { decodeSample } from '../../gpu/kernels/index.ts';
import type { Arena, Dimension, ScalarType, Tensor } from '../../gpu/tensor.ts';
import type { PolicySpec } from '../policy.ts';
import { declareActivations, type Activations } from './activations.ts';
import { cacheSlot } from './decodeAttention.ts';

/** Maximum tokens by which a row advances in one chunk. */
export const MAX_STEPS = 64;
/** Maximum forced tokens that go through the blocks together. */
const MAX_PREFILL = 2048;
/** Words of a row's state; see decode_sample.wgsl. */
export const ROW_WORDS = 8;

/** Layout of the sampling settings that decode_sample.wgsl reads. */
export const ROW_SAMPLING = uniformOf(decodeSample, 'settings');

export interface DecoderTensors {
  readonly acts: Activations;
  readonly positions: Tensor; // (2,B) by slot: positions, then rows
  readonly cache: Tensor; // L × (2, B, T, G·D), each padded, see cacheSlot
  readonly rowStates: Tensor; // (B, 8) by slot
  readonly drawn: Tensor; // (B, 2·MAX_STEPS), then (B, MAX_STEPS); see decode_sample.wgsl
  readonly settings: Tensor; // ROW_SAMPLING
  readonly prefillSeats: Tensor; // (3,P) of a prefill: positions, rows, words; see decode_prefill.wgsl
  readonly prefillQueue: Tensor; // (batches, 3·P) the seats of all prefill batches of a chunk
}

/** Cache and activations are of type `storage`. Prefill borrows activations of `tokens` token rows. */
export function declareDecoder(arena: Arena, spec: PolicySpec, storage: ScalarType, tokens: number): DecoderTensors {
  const { model, rows: B, length: T } = spec;
  const P = Math.min(tokens, MAX_PREFILL);
  const maxForced = B * Math.min(MAX_STEPS + 1, T);
  const sizes: readonly Dimension[] = ['rows', 'length', 'layers', 'width'];
  return {
    acts: declareActivations(arena, 'decode', model, B, false, storage),
    positions: arena.declare('decode positions', [2, B]),
    cache: arena.declare('key-value cache', [model.num_hidden_layers * cacheSlot(spec)], sizes, 0, storage),
    rowStates: arena.declare('row state', [B, ROW_WORDS], sizes),
    drawn: arena.declare('drawn', [B, 3 * MAX_STEPS], sizes),
    settings: arena.declare('sampling', [ROW_SAMPLING.fields.length], [], GPUBufferUsage.UNIFORM),
    prefillSeats: arena.declare('prefill seats', [3, P]),
    prefillQueue: arena.declare('prefill queue', [Math.ceil(maxForced / P), 3 * P], sizes),
  };
}
