import type { Gpu } from '../../gpu/device.ts';
import { alignUp, slice, write, type Arena, type ScalarType, type Tensor } from '../../gpu/tensor.ts';
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
import { declareNodesByToken } from './embedding.ts';
import { CREDIT_KNOBS_SCALARS, STEP_KNOBS_SCALARS } from './knobs.ts';
import { declareMicroBatchTokens, microBatchWords, nodeCapacity, type MicroBatchTokens } from './microBatchTokens.ts';
import { declareNetwork, type GpuNetworkTensors } from './networkTensors.ts';
import type { PartialsCount } from './partialGradients.ts';
import { rotaryTable } from './transformer.ts';

export interface DeviceTensors {
  readonly batch: DeviceBatch;
  readonly policy: GpuNetworkTensors;
  readonly critic: GpuNetworkTensors | null; // of a separate critic
  readonly reference: Tensor; // the reference policy's counterpart of `policy.passWeights`
  readonly activations: Activations; // of one micro-batch
  readonly gradients: ActivationGradients;
  readonly logits: Tensor; // of the same micro-batch
  readonly decoder: DecoderTensors;
  readonly stepInputs: Tensor; // knobs of the policy, knobs of the critic, rows of the minibatch: one upload per step
  readonly rows: Tensor; // (R) rows of the current micro-batch
  readonly tokens: MicroBatchTokens; // of the current micro-batch
  readonly placedTokens: Tensor; // the tokens of all micro-batches of a step or a scoring, one after the other
  readonly nodesByToken: Tensor; // the nodes, sorted by token within spans; see token_places.wgsl
  readonly creditSettings: Tensor;
  readonly rotaryTable: Tensor;
  readonly R: number; // rows of a micro-batch
  readonly rowSlots: number; // row slots of a step; a multiple of R
}

const MICRO_BATCH_BYTES = 256 * 1024 * 1024; // maximum bytes of the activations of a micro-batch

const MAX_HEAD = 64; // scalars of a head that attention keeps in registers while drawing

/** Throws BackendError if the attention kernels cannot hold a head. */
export function checkHeadSize({ model }: PolicySpec): void {
  const { head_dim: D } = model;
  if (D <= MAX_HEAD && D % 2 === 0) return;
  const message = `A head has ${D} numbers. The attention kernels need an even size up to ${MAX_HEAD}.`;
  throw new BackendError(message, 'Change heads or width.', ['heads', 'width']);
}

/** The storage type to use, f32 by default. Throws BackendError for f16 if the adapter does not support it. */
export function supportedStorage({ adapter, device }: Gpu, storage: ScalarType = 'f32'): ScalarType {
  if (storage === 'f32' || device.features.has('shader-f16')) return storage;
  const message = `${adapter} has no shader-f16, so weights and activations cannot be stored in halves.`;
  throw new BackendError(message, 'Set storage to f32.', ['storage']);
}

/** Rows of a micro-batch: as many rows of a minibatch as memory allows, at most `maxRows`. */
export function microRows(gpu: Gpu, spec: PolicySpec, storage: ScalarType, maxRows = Infinity): number {
  const { minibatchRows: M, length: T, model: m } = spec;
  const { maxStorageBufferBindingSize, maxBufferSize } = gpu.device.limits;
  const { all, largest } = bytesPerToken(m, 'layers', storage);
  const logits = 4 * m.vocab_size;
  const limit = Math.min(maxStorageBufferBindingSize, maxBufferSize) / 1.1; // slack for alignment
  const rowsThatFit = Math.min(
    Math.floor(MICRO_BATCH_BYTES / (T * (all + logits))),
    Math.floor(limit / (T * Math.max(largest, logits))),
  );
  return Math.max(1, Math.min(M, maxRows, rowsThatFit));
}

/** Micro-batches have R rows. `storage` is what forward passes read and keep; `partialsFor(P)` counts partial gradients of P scalars; `turns`: see declareDecoder. */
export function declareTensors(
  arena: Arena,
  spec: PolicySpec,
  R: number,
  storage: ScalarType,
  partialsFor: (P: number) => PartialsCount,
  turns: boolean,
): DeviceTensors {
  const { rows: B, minibatchRows: M, length: T, model } = spec;
  const rowSlots = Math.ceil(Math.max(B, M) / R) * R;
  const nodes = nodeCapacity(R, T);
  const uniform = GPUBufferUsage.UNIFORM;
  const policy = declareNetwork(arena, 'policy', model, storage, partialsFor);
  return {
    batch: declareBatch(arena, spec),
    policy,
    critic:
      spec.critic === 'separate' ? declareNetwork(arena, 'critic', criticConfig(model), storage, partialsFor) : null,
    reference: arena.declare('reference weights', [policy.layout.size], ['width', 'ffn', 'layers'], 0, storage),
    activations: declareActivations(arena, 'train', model, nodes, 'layers', storage),
    gradients: declareGradients(arena, model, nodes, 'layers'),
    logits: arena.declare('train logits', [nodes, model.vocab_size], ['rows', 'minibatchRows', 'length']),
    decoder: declareDecoder(arena, spec, storage, turns),
    stepInputs: arena.declare('control', [2 * STEP_KNOBS_SCALARS + alignUp(rowSlots)], ['rows'], uniform),
    rows: arena.declare('micro-batch rows', [R]),
    tokens: declareMicroBatchTokens(arena, R, T),
    placedTokens: arena.declare('placed tokens', [(rowSlots / R) * microBatchWords(R, T)], ['rows', 'length']),
    nodesByToken: declareNodesByToken(arena, nodes, model.vocab_size),
    creditSettings: arena.declare('credit settings', [CREDIT_KNOBS_SCALARS], [], uniform),
    rotaryTable: arena.declare('rotary table', [T, model.head_dim / 2, 2]),
    R,
    rowSlots,
  };
}

/** Writes the tensor that never changes: the rotary table. */
export function writeConstants(gpu: Gpu, tensors: DeviceTensors, { model, length }: PolicySpec): void {
  write(gpu, tensors.rotaryTable, rotaryTable(model, length));
}

/** The knobs uniform inside `stepInputs`: the policy's or the critic's. */
export function knobsOf({ stepInputs }: DeviceTensors, whose: 'policy' | 'critic'): Tensor {
  return slice(stepInputs, `${whose} knobs`, whose === 'policy' ? 0 : STEP_KNOBS_SCALARS, [STEP_KNOBS_SCALARS]);
}

/** The rows of the minibatch inside `stepInputs`. */
export function minibatchOf({ stepInputs, rowSlots }: DeviceTensors): Tensor {
  return slice(stepInputs, 'minibatch', 2 * STEP_KNOBS_SCALARS, [rowSlots]);
}
