import type { Gpu } from '../../../gpu/device.ts';
import { uniformOf } from '../../../gpu/kernel.ts';
import { targetScores } from '../../../gpu/kernels/index.ts';
import type { Arena, Tensor } from '../../../gpu/tensor.ts';
import type { AdapterConfig } from '../../loraAdapters.ts';

import type { TrainedTensors } from '../../learning/trainedTensors.ts';
import { BackendError, type PolicySpec } from '../../policy.ts';
import type { MemoryPart } from '../../textModel.ts';
import type { WeightSource } from '../../weightSource.ts';
import { bytesPerToken, declareActivations, declareGradients, type ActivationGradients, type Activations } from '../activations.ts'; // prettier-ignore
import { declareText, partsOf, type TextTensors } from '../text/textTensors.ts';
import { declareAdaptedLinears, type DeviceAdaptedLinear, type AdapterTensors, withFloats } from './adaptedLinears.ts';

export interface AdaptedCapacity {
  readonly maxTokens?: number; // maximum tokens of a pass; default: what memory allows, at most 4096
  readonly bufferBytes?: number; // maximum buffer size of matrices and caches; default: the device's limit
}

/**
 * All tensors of an adapted policy on the device. Its passes go over a tree of tokens, in which rows with the same
 * beginning share the tokens of that beginning (see tokenTree.ts); a node is a token of the tree, a target a token
 * whose probability is wanted. M: maximum tokens of a pass. S: targets whose logits are computed at once.
 */
export interface AdaptedTensors {
  readonly text: TextTensors; // the model with the adapters merged in, its cache, and the tensors for drawing
  readonly adaptedLinears: readonly DeviceAdaptedLinear[];
  readonly adapterTensors: AdapterTensors;
  readonly maxTokens: number; // maximum tokens of a pass
  readonly paddedTokens: number; // M: `maxTokens`, rounded up to a multiple of PASS_STEP
  readonly maxTargets: number; // maximum targets of a pass, a multiple of S
  readonly targetsPerBlock: number; // S
  readonly acts: Activations; // of M tokens; all layers share them
  readonly grads: ActivationGradients;
  readonly layerInputs: readonly Tensor[]; // (M,d) the input of each layer
  readonly nodes: Tensor; // (M,4); see MicroBatchTokens
  readonly positions: Tensor; // (M)
  readonly targets: Tensor; // (maxTargets, 4) node, the token to predict after it, grammar state, 0
  readonly scores: Tensor; // (maxTargets, 3) logprob, entropy, lse
  readonly coefficients: Tensor; // (maxTargets, 2) d total/d logprob, d total/d entropy
  readonly hiddenStates: Tensor; // (S,d) of the nodes of a block of targets
  readonly dhiddenStates: Tensor; // (S,d)
  readonly logits: Tensor; // (S,V)
  readonly knobs: Tensor; // TEMPERATURE
  readonly memory: readonly MemoryPart[];
}

/** Layout of the temperature, the only knob that the kernels of targets read. */
export const TEMPERATURE = uniformOf(targetScores, 'knobs');

/** Passes are recorded for multiples of this many tokens. */
export const PASS_STEP = 128;
/** Maximum grammar states, because a record stores the state in a byte. */
const MAX_GRAMMAR_STATES = 256;
/** Maximum bytes of the activations of a pass. */
const MAX_ACTIVATION_BYTES = 640 * 2 ** 20;
/** Maximum tokens of a pass. In a larger one the tokens would share no more work. */
const MAX_TOKENS = 4096;
/** Values to try for S; the first one whose logits fit a buffer is taken. */
const BLOCK_SIZES = [64, 16, 4];

/** Maximum tokens of a pass: as many as memory allows, but at least one whole row and at most all rows. */
function passTokens(
  { model, rows, length }: PolicySpec,
  rank: number,
  limit: number,
  capacity: AdaptedCapacity,
): number {
  const { all, largest } = bytesPerToken(model, 'layer', 'f32');
  const bytes = all + 4 * (2 * rank + model.num_hidden_layers * model.hidden_size);
  const maxTokens = Math.min(
    Math.floor(MAX_ACTIVATION_BYTES / bytes),
    Math.floor(limit / largest),
    capacity.maxTokens ?? MAX_TOKENS,
    rows * length,
  );
  return Math.max(length, maxTokens);
}

/** Before anything is allocated. Throws BackendError on sizes the kernels don't support, or a layer's cache the device can't bind. */
export function declareAdapted(
  arena: Arena,
  gpu: Gpu,
  spec: PolicySpec,
  source: WeightSource,
  adapters: AdapterConfig,
  learned: Pick<TrainedTensors, 'layout' | 'size'>,
  capacity: AdaptedCapacity,
): AdaptedTensors {
  const { model, rows, length } = spec;
  const { vocab_size: V, hidden_size: d } = model;
  if (V % 4 !== 0) {
    const message = `The model has ${V} tokens. On a GPU this must be a multiple of four.`;
    throw new BackendError(message, 'Use the CPU.', ['backend']);
  }
  const { maxStorageBufferBindingSize, maxBufferSize } = gpu.device.limits;
  const bound = Math.min(maxStorageBufferBindingSize, maxBufferSize);
  const limit = Math.min(bound, capacity.bufferBytes ?? Infinity);
  // f32, not f16, so that drawing computes the same probabilities as learning
  const text = declareText(arena, gpu, model, withFloats(source, model, adapters), {
    ...{ rows, length, float16Cache: false, grammarStates: MAX_GRAMMAR_STATES },
    ...(capacity.bufferBytes && { bufferBytes: capacity.bufferBytes }),
  });
  const memory = text.memory.map(({ purpose, bytes }) => ({
    ...{ purpose: purpose === 'weights' ? 'weights, adapters merged' : purpose, bytes },
  }));
  const part = partsOf(arena, memory);
  const adaptedLinears = part('packed weights of the adapted layers', () =>
    declareAdaptedLinears(arena, source, model, adapters, learned.layout, { matrices: text.matrices, limit }),
  );
  const learnedTensors = part('adapters and their gradients', () => ({
    adapters: arena.declare('adapters', [learned.size]),
    gradients: arena.declare('gradients of adapters', [learned.size]),
  }));
  const maxTokens = passTokens(spec, adapters.rank, bound, capacity);
  const M = Math.ceil(maxTokens / PASS_STEP) * PASS_STEP;
  const { xA, dyB, ...activations } = part('activations and their gradients', () => ({
    acts: declareActivations(arena, 'tree', model, M, 'layer'),
    grads: declareGradients(arena, model, M, 'layer'),
    xA: arena.declare('products with A', [M, adapters.rank]),
    dyB: arena.declare('products with B', [M, adapters.rank]),
  }));
  const layerInputs = part('inputs of layers', () =>
    Array.from({ length: model.num_hidden_layers }, (_, i) => arena.declare(`input of layer ${i}`, [M, d])),
  );
  const targetsPerBlock = BLOCK_SIZES.find((size) => 4 * size * V <= bound) ?? BLOCK_SIZES.at(-1)!;
  // contexts that share all their nodes may still have targets of their own
  const maxTargets = Math.ceil((rows * length) / targetsPerBlock) * targetsPerBlock;
  const headTensors = part('logits of learning', () => ({
    hiddenStates: arena.declare('states of targets', [targetsPerBlock, d]),
    dhiddenStates: arena.declare('dstates of targets', [targetsPerBlock, d]),
    logits: arena.declare('logits of targets', [targetsPerBlock, V]),
  }));
  const treeTensors = part('trees', () => ({
    nodes: arena.declare('nodes', [M, 4]),
    positions: arena.declare('positions', [M]),
    targets: arena.declare('targets', [maxTargets, 4]),
    scores: arena.declare('scores of targets', [maxTargets, 3]),
    coefficients: arena.declare('coefficients of targets', [maxTargets, 2]),
    knobs: arena.declare('temperature', [TEMPERATURE.fields.length], [], GPUBufferUsage.UNIFORM),
  }));
  return { text, adaptedLinears, adapterTensors: { ...learnedTensors, xA, dyB }, maxTokens, paddedTokens: M, maxTargets, targetsPerBlock, ...activations, layerInputs, ...headTensors, ...treeTensors, memory }; // prettier-ignore
}
