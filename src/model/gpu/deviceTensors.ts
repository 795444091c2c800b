import type { Gpu } from '../../gpu/device.ts';
import { aligned, slice, write, type Arena, type Scalar, type Tensor } from '../../gpu/tensor.ts';
import { BackendError, criticConfig, type PolicySpec } from '../policy.ts';
import {
  bytesPerToken,
  declareActivations,
  declareGradients,
  type ActivationGradients,
  type Activations,
} from './activations.ts';
import { declareBatch, type DeviceBatch } from './deviceBatch.ts';
import { declareDecoder, type DecoderTensors } from './decoderTensors.ts';
import { declarePlaces } from './embedding.ts';
import { CREDIT_SCALARS, KNOBS_SCALARS } from './knobs.ts';
import { declarePools, type Pools } from './pools.ts';
import type { SlabCount } from './slabs.ts';
import { rotaryTable } from './transformer.ts';

/** Everything a GPU policy keeps on its device. */
export interface DeviceTensors {
  readonly batch: DeviceBatch;
  readonly policy: Pools;
  readonly critic: Pools | null; // of a separate critic
  readonly reference: Tensor; // weights of the reference policy, one pool, as forward passes read them
  readonly activations: Activations; // of one micro-batch
  readonly gradients: ActivationGradients;
  readonly decoder: DecoderTensors;
  readonly control: Tensor; // knobs of the policy, knobs of the critic, rows of the minibatch: one upload per step
  readonly allRows: Tensor; // 0 … B − 1, then 0xffffffff
  readonly rows: Tensor; // (R) rows of the current micro-batch
  readonly positions: Tensor; // (R·T) t of each token row
  readonly places: Tensor; // positions of each token among the token rows, see token_places.wgsl
  readonly creditSettings: Tensor;
  readonly rotaryTable: Tensor;
  readonly R: number; // rows of a micro-batch
  readonly capacity: number; // row slots of `allRows` and of the minibatch; a multiple of R
}

const MICRO_BATCH_BYTES = 256 * 1024 * 1024; // maximum bytes of the activations of a micro-batch

const MAX_HEAD = 64; // scalars of a head that the attention kernels keep in registers

/** Throws BackendError if the attention kernels cannot hold a head. */
export function checkHeads({ model }: PolicySpec): void {
  const { head_dim: D } = model;
  if (D <= MAX_HEAD && D % 2 === 0) return;
  const message = `A head has ${D} numbers. The attention kernels need an even size up to ${MAX_HEAD}.`;
  throw new BackendError(message, 'Change heads or width.', ['heads', 'width']);
}

/** The storage type to use, f32 by default. Throws BackendError for f16 if the adapter does not support it. */
export function storageOn({ adapter, device }: Gpu, storage: Scalar = 'f32'): Scalar {
  if (storage === 'f32' || device.features.has('shader-f16')) return storage;
  const message = `${adapter} has no shader-f16, so weights and activations cannot be stored in halves.`;
  throw new BackendError(message, 'Set storage to f32.', ['storage']);
}

/** Rows of a micro-batch: as many rows of a minibatch as memory allows, at most `cap`. */
export function microRows(gpu: Gpu, spec: PolicySpec, storage: Scalar, cap = Infinity): number {
  const { minibatchRows: M, length: T, model: m } = spec;
  const { maxStorageBufferBindingSize, maxBufferSize } = gpu.device.limits;
  const L = m.num_hidden_layers;
  const widest = Math.max(m.vocab_size, 2 * L * m.intermediate_size, (2 * L + 1) * m.hidden_size);
  const limit = Math.min(maxStorageBufferBindingSize, maxBufferSize) / 1.1; // slack for alignment
  const fits = Math.min(
    Math.floor(MICRO_BATCH_BYTES / (T * bytesPerToken(m, storage))),
    Math.floor(limit / (4 * T * widest)),
  );
  return Math.max(1, Math.min(M, cap, fits));
}

/**
 * Declares all tensors of a policy with micro-batches of R rows. `storage` is the type of what forward passes read and
 * keep. `slabs(P)` gives the number of slabs for a gradient pool of P scalars.
 */
export function declareTensors(
  arena: Arena,
  spec: PolicySpec,
  R: number,
  storage: Scalar,
  slabs: (P: number) => SlabCount,
): DeviceTensors {
  const { rows: B, minibatchRows: M, length: T, model } = spec;
  const capacity = Math.ceil(Math.max(B, M) / R) * R;
  const uniform = GPUBufferUsage.UNIFORM;
  const policy = declarePools(arena, 'policy', model, storage, slabs);
  return {
    batch: declareBatch(arena, spec),
    policy,
    critic: spec.critic === 'separate' ? declarePools(arena, 'critic', criticConfig(model), storage, slabs) : null,
    reference: arena.declare('reference weights', [policy.layout.size], ['width', 'ffn', 'layers'], 0, storage),
    activations: declareActivations(arena, 'train', model, R * T, true, storage),
    gradients: declareGradients(arena, model, R * T),
    decoder: declareDecoder(arena, spec, storage, R * T),
    control: arena.declare('control', [2 * KNOBS_SCALARS + aligned(capacity)], ['prompts', 'groupSize'], uniform),
    allRows: arena.declare('all rows', [capacity]),
    rows: arena.declare('micro-batch rows', [R]),
    positions: arena.declare('positions', [R * T]),
    places: declarePlaces(arena, R * T, model.vocab_size, ['prompts', 'groupSize', 'maxTurns']),
    creditSettings: arena.declare('credit settings', [CREDIT_SCALARS], [], uniform),
    rotaryTable: arena.declare('rotary table', [T, model.head_dim / 2, 2]),
    R,
    capacity,
  };
}

/** Writes the tensors that never change: positions, the rotary table, the batch's rows. */
export function writeConstants(gpu: Gpu, tensors: DeviceTensors, { model, rows, length: T }: PolicySpec): void {
  write(
    gpu,
    tensors.positions,
    Uint32Array.from({ length: tensors.R * T }, (_, n) => n % T),
  );
  write(gpu, tensors.rotaryTable, rotaryTable(model, T));
  write(
    gpu,
    tensors.allRows,
    Uint32Array.from({ length: tensors.capacity }, (_, i) => (i < rows ? i : 0xffffffff)),
  );
}

/** The knobs uniform inside `control`: the policy's or the critic's. */
export function knobsOf({ control }: DeviceTensors, whose: 'policy' | 'critic'): Tensor {
  return slice(control, `${whose} knobs`, whose === 'policy' ? 0 : KNOBS_SCALARS, [KNOBS_SCALARS]);
}

/** The rows of the minibatch inside `control`. */
export function minibatchOf({ control, capacity }: DeviceTensors): Tensor {
  return slice(control, 'minibatch', 2 * KNOBS_SCALARS, [capacity]);
}
