import type { Gpu } from '../../../gpu/device.ts';
import { uniformOf } from '../../../gpu/kernel.ts';
import { targetScores } from '../../../gpu/kernels/index.ts';
import type { Arena, Tensor } from '../../../gpu/tensor.ts';
import type { AdapterConfig } from '../../loraAdapters.ts';
import type { ModelConfig } from '../../architecture.ts';
import type { Learned } from '../../cpu/network.ts';
import { BackendError, type PolicySpec } from '../../policy.ts';
import type { MemoryPart } from '../../textModel.ts';
import type { WeightSource } from '../../weightSource.ts';
import { declareText, type TextTensors } from '../text/textTensors.ts';
import { declareSites, type Site, type SiteTensors, withFloats } from './sites.ts';

/** Tensors that a pass over a tree of tokens writes, (M, …). All layers share them. */
type NodeTensor = keyof ReturnType<typeof widths>;

/** Limits on the memory of an adapted policy. */
export interface AdaptedCapacity {
  readonly mostTokens?: number; // maximum tokens of a pass; default: what memory allows, at most 4096
  readonly bufferBytes?: number; // maximum buffer size of matrices and caches; default: the device's limit
}

/**
 * All tensors of an adapted policy on the device. M: maximum tokens of a pass. S: targets whose logits are computed at
 * once.
 */
export interface AdaptedTensors {
  readonly text: TextTensors; // the model with adapters merged, its cache, and the tensors for drawing
  readonly sites: readonly Site[];
  readonly site: SiteTensors;
  readonly most: number; // maximum tokens of a pass
  readonly tokens: number; // M: `most`, rounded up to a multiple of PASS_STEP
  readonly targets: number; // maximum targets of a pass, a multiple of S
  readonly block: number; // S
  readonly node: Readonly<Record<NodeTensor, Tensor>>;
  readonly inputs: readonly Tensor[]; // (M,d) the input of each layer
  readonly nodes: Tensor; // (M,4) token, position, path, last; see tree_attention.wgsl
  readonly paths: Tensor; // (B,T)
  readonly target: Tensor; // (targets, 4) node, token, state, 0
  readonly legal: Tensor; // (256, ⌈V/32⌉) one bit per token, by grammar state
  readonly scores: Tensor; // (targets, 3) logprob, entropy, lse
  readonly coefficients: Tensor; // (targets, 2) d total/d logprob, d total/d entropy
  readonly states: Tensor; // (S,d)
  readonly dstates: Tensor; // (S,d)
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

/** Width of each tensor of a pass: numbers per token. */
function widths(model: ModelConfig, rank: number) {
  const { hidden_size: d, intermediate_size: F, num_attention_heads: H } = model;
  const inner = H * model.head_dim;
  const W = inner + 2 * model.num_key_value_heads * model.head_dim;
  return {
    ...{ x: d, xhat: d, y: d, inv: 1, qkv: W, heads: W, attended: inner, lse: H },
    ...{ postXhat: d, postY: d, postInv: 1, gateUp: 2 * F, act: F },
    ...{ lastXhat: d, hidden: d, lastInv: 1 },
    ...{ dhidden: d, dx: d, dnormed: d, dact: F, dgateUp: 2 * F, dattended: inner, delta: H, dheads: W, dqkv: W },
    ...{ downward: rank, upward: rank },
  };
}

/** Maximum tokens of a pass: as many as memory allows, but at least one whole row and at most all rows. */
function passTokens(
  { model, rows, length }: PolicySpec,
  rank: number,
  limit: number,
  capacity: AdaptedCapacity,
): number {
  const allWidths = Object.values(widths(model, rank));
  const bytes = 4 * (allWidths.reduce((sum, width) => sum + width, 0) + model.num_hidden_layers * model.hidden_size);
  const most = Math.min(
    Math.floor(MAX_ACTIVATION_BYTES / bytes),
    Math.floor(limit / (4 * Math.max(...allWidths))),
    capacity.mostTokens ?? MAX_TOKENS,
    rows * length,
  );
  return Math.max(length, most);
}

/**
 * Declares all tensors of an adapted policy, before anything is allocated. Throws BackendError if the kernels don't
 * support the model's sizes, or if a layer's cache is larger than the device can bind.
 */
export function declareAdapted(
  arena: Arena,
  gpu: Gpu,
  spec: PolicySpec,
  source: WeightSource,
  adapters: AdapterConfig,
  learned: Pick<Learned, 'placed' | 'size'>,
  capacity: AdaptedCapacity,
): AdaptedTensors {
  const { model, rows, length } = spec;
  const { vocab_size: V, hidden_size: d } = model;
  if (V % 4 !== 0) {
    throw new BackendError(`The model has ${V} tokens. On a GPU this must be a multiple of four.`, 'Use the CPU.', [
      'backend',
    ]);
  }
  const { maxStorageBufferBindingSize, maxBufferSize } = gpu.device.limits;
  const bound = Math.min(maxStorageBufferBindingSize, maxBufferSize);
  const limit = Math.min(bound, capacity.bufferBytes ?? Infinity);
  // float32, not halves, so that drawing computes the same probabilities as learning
  const text = declareText(arena, gpu, model, withFloats(source, model, adapters), {
    ...{ rows, length, halfCache: false },
    ...(capacity.bufferBytes && { bufferBytes: capacity.bufferBytes }),
  });
  const memory = text.memory.map(({ purpose, bytes }) => ({
    ...{ purpose: purpose === 'weights' ? 'weights, adapters merged' : purpose, bytes },
  }));
  const part = <T>(purpose: string, declare: () => T): T => {
    const before = arena.bytes;
    const declared = declare();
    memory.push({ purpose, bytes: arena.bytes - before });
    return declared;
  };
  const sites = part('weights as packed, beside', () =>
    declareSites(arena, source, model, adapters, learned.placed, { matrices: text.matrices, limit }),
  );
  const pools = part('adapters and their gradients', () => ({
    pool: arena.declare('adapters', [learned.size]),
    gradients: arena.declare('gradients of adapters', [learned.size]),
  }));
  const most = passTokens(spec, adapters.rank, bound, capacity);
  const M = Math.ceil(most / PASS_STEP) * PASS_STEP;
  const node = part('activations and their gradients', () => {
    const declare = ([name, width]: [string, number]) => [name, arena.declare(`tree ${name}`, [M, width])] as const;
    return Object.fromEntries(Object.entries(widths(model, adapters.rank)).map(declare));
  }) as AdaptedTensors['node'];
  const inputs = part('inputs of layers', () =>
    Array.from({ length: model.num_hidden_layers }, (_, i) => arena.declare(`input of layer ${i}`, [M, d])),
  );
  const block = BLOCK_SIZES.find((size) => 4 * size * V <= bound) ?? BLOCK_SIZES.at(-1)!;
  const targets = Math.ceil((M + rows) / block) * block;
  const heads = part('logits of learning', () => ({
    states: arena.declare('states of targets', [block, d]),
    dstates: arena.declare('dstates of targets', [block, d]),
    logits: arena.declare('logits of targets', [block, V]),
  }));
  const trees = part('trees', () => ({
    nodes: arena.declare('nodes', [M, 4]),
    paths: arena.declare('paths', [rows, length]),
    target: arena.declare('targets', [targets, 4]),
    legal: arena.declare('legal tokens', [MAX_GRAMMAR_STATES, Math.ceil(V / 32)]),
    scores: arena.declare('scores of targets', [targets, 3]),
    coefficients: arena.declare('coefficients of targets', [targets, 2]),
    knobs: arena.declare('temperature', [TEMPERATURE.fields.length], [], GPUBufferUsage.UNIFORM),
  }));
  const { downward, upward } = node;
  return { text, sites, site: { ...pools, downward, upward }, most, tokens: M, targets, block, node, inputs, ...heads, ...trees, memory }; // prettier-ignore
}
