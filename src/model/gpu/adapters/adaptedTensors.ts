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
import { declareSites, type Site, type SiteRoom, withFloats } from './sites.ts';

/** What a pass over a tree of tokens writes, (M, …): one layer's at a time. */
type NodeTensor = keyof ReturnType<typeof widths>;

/** How much is reserved. */
export interface AdaptedRoom {
  readonly mostTokens?: number; // of a pass; default: as many as its memory allows
  readonly bufferBytes?: number; // of a matrix or a layer's cache at most; by default what the device binds
}

/** All that an adapted policy has on the device. M is the most tokens of a pass, S the targets whose logits are made at once. */
export interface AdaptedTensors {
  readonly text: TextTensors; // the model with adapters merged, its cache, what drawing needs
  readonly sites: readonly Site[];
  readonly site: SiteRoom;
  readonly most: number; // tokens of a pass
  readonly tokens: number; // M, as many in whole steps
  readonly targets: number; // most of a pass, a multiple of S
  readonly block: number; // S
  readonly node: Readonly<Record<NodeTensor, Tensor>>;
  readonly inputs: readonly Tensor[]; // (M,d) what each layer began with
  readonly nodes: Tensor; // (M,4) token, position, path, last: see tree_attention.wgsl
  readonly paths: Tensor; // (B,T)
  readonly target: Tensor; // (targets, 4) node, token, state, 0
  readonly legal: Tensor; // (256, ⌈V/32⌉) a bit a token, by state of the grammar
  readonly scores: Tensor; // (targets, 3) logprob, entropy, lse
  readonly coefficients: Tensor; // (targets, 2) d total/d logprob, d total/d entropy
  readonly states: Tensor; // (S,d)
  readonly dstates: Tensor; // (S,d)
  readonly logits: Tensor; // (S,V)
  readonly knobs: Tensor; // TEMPERATURE
  readonly memory: readonly MemoryPart[];
}

/** The one knob that the kernels of targets read. */
export const TEMPERATURE = uniformOf(targetScores, 'knobs');

/** Passes are recorded for multiples of so many tokens. */
export const STEP = 128;
/** States of a grammar at most, as records have a byte for them. */
const STATES = 256;
/** Bytes that the activations of a pass may take, and tokens: more of them share nothing more. */
const ACTIVATION_BYTES = 640 * 2 ** 20;
const MOST_TOKENS = 4096;
/** Targets whose logits are made at once, where a buffer holds so many. */
const BLOCKS = [64, 16, 4];

/** Numbers a token of a pass takes. */
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

/** Tokens of the largest pass: as many as the bytes allow, at least a whole row, no more than there are. */
function passTokens({ model, rows, length }: PolicySpec, rank: number, limit: number, room: AdaptedRoom): number {
  const each = Object.values(widths(model, rank));
  const bytes = 4 * (each.reduce((sum, width) => sum + width, 0) + model.num_hidden_layers * model.hidden_size);
  const most = Math.min(
    Math.floor(ACTIVATION_BYTES / bytes),
    Math.floor(limit / (4 * Math.max(...each))),
    room.mostTokens ?? MOST_TOKENS,
    rows * length,
  );
  return Math.max(length, most);
}

/**
 * Declares all that an adapted policy needs on a device, before anything is allocated. Throws BackendError where sizes are none the kernels have, or the cache is
 * more than the device binds.
 */
export function declareAdapted(
  arena: Arena,
  gpu: Gpu,
  spec: PolicySpec,
  source: WeightSource,
  adapters: AdapterConfig,
  learned: Pick<Learned, 'placed' | 'size'>,
  room: AdaptedRoom,
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
  const limit = Math.min(bound, room.bufferBytes ?? Infinity);
  // draws come from whole numbers, so that what is drawn is what is learned from
  const text = declareText(arena, gpu, model, withFloats(source, model, adapters), {
    ...{ rows, length, halfCache: false },
    ...(room.bufferBytes && { bufferBytes: room.bufferBytes }),
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
  const most = passTokens(spec, adapters.rank, bound, room);
  const M = Math.ceil(most / STEP) * STEP;
  const node = part('activations and their gradients', () => {
    const declare = ([name, width]: [string, number]) => [name, arena.declare(`tree ${name}`, [M, width])] as const;
    return Object.fromEntries(Object.entries(widths(model, adapters.rank)).map(declare));
  }) as AdaptedTensors['node'];
  const inputs = part('what layers began with', () =>
    Array.from({ length: model.num_hidden_layers }, (_, i) => arena.declare(`input of layer ${i}`, [M, d])),
  );
  const block = BLOCKS.find((size) => 4 * size * V <= bound) ?? BLOCKS.at(-1)!;
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
    legal: arena.declare('legal tokens', [STATES, Math.ceil(V / 32)]),
    scores: arena.declare('scores of targets', [targets, 3]),
    coefficients: arena.declare('coefficients of targets', [targets, 2]),
    knobs: arena.declare('temperature', [TEMPERATURE.fields.length], [], GPUBufferUsage.UNIFORM),
  }));
  const { downward, upward } = node;
  return { text, sites, site: { ...pools, downward, upward }, most, tokens: M, targets, block, node, inputs, ...heads, ...trees, memory }; // prettier-ignore
}
