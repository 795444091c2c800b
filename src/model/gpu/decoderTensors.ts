import { uniformOf } from '../../gpu/kernel.ts';
import { decodeSample } from '../../gpu/kernels/index.ts';
import type { Arena, Dimension, ScalarType, Tensor } from '../../gpu/tensor.ts';
import type { PolicySpec } from '../policy.ts';
import { declareActivations, type Activations } from './activations.ts';
import { cacheSlot } from './decodeAttention.ts';

/** Maximum tokens by which a row advances in one chunk. */
export const MAX_STEPS = 64;
/** Words of a row's state; see decode_sample.wgsl. */
export const ROW_WORDS = 8;

/** Layout of the sampling settings that decode_sample.wgsl reads. */
export const ROW_SAMPLING = uniformOf(decodeSample, 'settings');

/** What is written while one token of each row passes through the layers. */
export interface StepTensors {
  readonly acts: Activations;
  readonly logits: Tensor; // (B,V)
}

export interface DecoderTensors {
  readonly step: StepTensors | null; // null: decode_turn has them in workgroup memory
  readonly positions: Tensor; // (2,B) by slot: positions in the row's context, then rows
  readonly cache: Tensor; // L × (2, B, T, G·D) by row and position in its context, each padded, see cacheSlot
  readonly rowStates: Tensor; // (B, 8) by slot
  readonly drawn: Tensor; // (3, B, MAX_STEPS); see decode_sample.wgsl
  readonly settings: Tensor; // ROW_SAMPLING
}

/** Cache and activations are of type `storage`. `turns`: without activations, as decode_turn needs none. */
export function declareDecoder(arena: Arena, spec: PolicySpec, storage: ScalarType, turns: boolean): DecoderTensors {
  const { model, rows: B } = spec;
  const sizes: readonly Dimension[] = ['rows', 'length', 'layers', 'width'];
  return {
    step: turns
      ? null
      : {
          acts: declareActivations(arena, 'decode', model, B, 'nothing', storage),
          logits: arena.declare('decode logits', [B, model.vocab_size], sizes),
        },
    positions: arena.declare('decode positions', [2, B]),
    cache: arena.declare('key-value cache', [model.num_hidden_layers * cacheSlot(spec)], sizes, 0, storage),
    rowStates: arena.declare('row state', [B, ROW_WORDS], sizes),
    drawn: arena.declare('drawn', [3, B, MAX_STEPS], sizes),
    settings: arena.declare('sampling', [ROW_SAMPLING.fields.length], [], GPUBufferUsage.UNIFORM),
  };
}
