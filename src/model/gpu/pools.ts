import type { Gpu } from '../../gpu/device.ts';
import { STEP_STATS } from '../../gpu/kernels/stepStats.ts';
import { aligned, slice, write, type Arena, type Scalar, type Tensor } from '../../gpu/tensor.ts';
import { parameters, type ModelConfig, type Weights } from '../architecture.ts';
import type { NetworkState, PolicyState } from '../policy.ts';
import { declareSlabs, inAllSlabs, type SlabCount, type Slabs, type SlabTensor } from './slabs.ts';

/** Where a tensor or a group lies in a pool. */
interface Place {
  readonly start: number; // first scalar in the pool
  readonly shape: readonly number[];
}

/** Where every parameter lies in a pool. Groups start at aligned scalars; members of a group are adjacent. */
export interface PoolLayout {
  readonly size: number; // P, padding included
  readonly decayed: number; // tensors before this scalar take weight decay
  readonly tensors: ReadonlyMap<string, Place>;
  readonly groups: ReadonlyMap<string, Place>; // the shape is the number of scalars
}

/** The layout of a model's parameters; weights, gradients and both moments share it. */
function poolLayout(model: ModelConfig): PoolLayout {
  const tensors = new Map<string, Place>();
  const groups = new Map<string, Place>();
  let end = 0;
  let decayed = 0;
  for (const p of parameters(model)) {
    const group = groups.get(p.group);
    const start = group ? end : aligned(end);
    tensors.set(p.name, { start, shape: p.shape });
    groups.set(p.group, { start: group?.start ?? start, shape: [(group?.shape[0] ?? 0) + p.size] });
    end = start + p.size;
    if (p.decay) decayed = aligned(end);
  }
  return { size: aligned(end), decayed, tensors, groups };
}

/** The parameter whose scalar lies at `index` of a pool. */
export function parameterAt(layout: PoolLayout, index: number): string {
  for (const [name, { start, shape }] of layout.tensors) {
    if (index >= start && index < start + shape.reduce((a, b) => a * b, 1)) return name;
  }
  return `padding at ${index}`;
}

/** A named group of parameters in a pool as one tensor of the given shape. */
export function group(pool: Tensor, layout: PoolLayout, name: string, shape: readonly number[]): Tensor {
  const place = layout.groups.get(name);
  if (!place) throw new Error(`${name}: no such parameter group. There are ${[...layout.groups.keys()].join(', ')}.`);
  return slice(pool, name, place.start, shape);
}

/** The gradients of a named group of parameters, which has `size` scalars. */
export function gradientOf(grads: Slabs, layout: PoolLayout, name: string, size: number): SlabTensor {
  return inAllSlabs(grads, `gradient of ${name}`, startOfGroup(layout, name), size);
}

/** First scalar of a group of parameters in a pool. */
export function startOfGroup(layout: PoolLayout, name: string): number {
  const place = layout.groups.get(name);
  if (!place) throw new Error(`${name}: no such parameter group. There are ${[...layout.groups.keys()].join(', ')}.`);
  return place.start;
}

/** First scalar of a parameter in a pool. */
export function startOf(layout: PoolLayout, name: string): number {
  const place = layout.tensors.get(name);
  if (!place) throw new Error(`${name}: no such parameter. There are ${[...layout.tensors.keys()].join(', ')}.`);
  return place.start;
}

/** Scalars from one layer's group to the next layer's; 0 in a model of one layer. */
export function layerStride(layout: PoolLayout, group: string): number {
  const at = (layer: number) => layout.groups.get(`model.layers.${layer}.${group}`)?.start;
  const first = at(0);
  const second = at(1);
  return first === undefined || second === undefined ? 0 : second - first;
}

/** Copies the tensors out of a pool's first P words, by name. */
export function unpack(layout: PoolLayout, words: Uint32Array<ArrayBuffer>): Weights {
  const all = new Float32Array(words.buffer, words.byteOffset, words.length);
  const out = new Map<string, Float32Array>();
  for (const [name, { start, shape }] of layout.tensors) {
    out.set(name, all.slice(start, start + shape.reduce((a, b) => a * b, 1)));
  }
  return out;
}

/** Packs tensors into the scalars of a pool; missing tensors are zero. Throws if a size differs. */
function pack(layout: PoolLayout, weights: Weights): Float32Array {
  const all = new Float32Array(layout.size);
  for (const [name, { start, shape }] of layout.tensors) {
    const tensor = weights.get(name);
    if (!tensor) continue;
    const size = shape.reduce((a, b) => a * b, 1);
    if (tensor.length !== size) {
      throw new RangeError(
        `${name}: it has ${tensor.length} scalars, and this model needs ${shape.join('×')} = ${size}.`,
      );
    }
    all.set(tensor, start);
  }
  return all;
}

/** Weights, gradients and moments of one network, with the optimizer's state and log. */
export interface Pools {
  readonly layout: PoolLayout;
  readonly weights: Tensor; // f32, what the optimizer updates
  readonly shadow: Tensor; // what forward and backward passes read: the weights, or a copy of them in halves
  readonly grads: Slabs;
  readonly first: Tensor; // Adam m
  readonly second: Tensor; // Adam v
  readonly sums: Tensor; // (2, groups) of gradient_norm.wgsl, then `stats` from scalar `statsAt` on
  readonly stats: Tensor; // (8) of step_stats.wgsl
  readonly statsAt: number;
  readonly ledger: Tensor; // `control`, then `log`; see adamw.wgsl
  readonly control: Tensor; // (8) Adam's step count is the first
  readonly log: Tensor; // (LOG_LINES, 16), from scalar `logAt` of the ledger
  readonly logAt: number;
}

/** Maximum number of optimizer steps kept in the log between two reports. */
export const LOG_LINES = 256;
/** Words of a log line; see adamw.wgsl. */
export const LOG_WORDS = 16;
/**
 * Workgroups of the kernels that close a step: enough to fill the device, but few, because each adds up the sums of
 * all.
 */
export const CLOSING_GROUPS = { hardware: 256, software: 16 };

/** Declares the pools of one network. */
export function declarePools(
  arena: Arena,
  label: string,
  model: ModelConfig,
  storage: Scalar,
  slabs: (P: number) => SlabCount,
): Pools {
  const layout = poolLayout(model);
  const knobs = ['width', 'ffn', 'layers'];
  const pool = (name: string, scalar: Scalar = 'f32') =>
    arena.declare(`${label} ${name}`, [layout.size], knobs, 0, scalar);
  const weights = pool('weights');
  const logAt = aligned(8);
  const statsAt = aligned(2 * CLOSING_GROUPS.hardware);
  const sums = arena.declare(`${label} step sums`, [statsAt + STEP_STATS.length]);
  const ledger = arena.declare(`${label} ledger`, [logAt + LOG_LINES * LOG_WORDS]);
  return {
    layout,
    weights,
    shadow: storage === 'f16' ? pool('half weights', 'f16') : weights,
    grads: declareSlabs(arena, `${label} gradients`, layout.size, knobs, slabs(layout.size)),
    first: pool('Adam m'),
    second: pool('Adam v'),
    sums,
    stats: slice(sums, `${label} step stats`, statsAt, [STEP_STATS.length]),
    statsAt,
    ledger,
    control: slice(ledger, `${label} control`, 0, [8]),
    log: slice(ledger, `${label} log`, logAt, [LOG_LINES, LOG_WORDS]),
    logAt,
  };
}

/** A policy and, where it has one, its separate critic. */
interface Networks {
  readonly policy: Pools;
  readonly critic: Pools | null;
}

/**
 * Writes weights (but not their shadow) and resets the optimizer. Tensors missing from `weights` become zero. A
 * separate critic starts as a copy of the policy's trunk, with a value head of zero.
 */
export function resetNetworks(gpu: Gpu, { policy, critic }: Networks, weights: Weights): void {
  const fresh = { adamM: new Map(), adamV: new Map(), steps: 0 };
  const trunk = new Map([...weights].filter(([name]) => !name.startsWith('value_head')));
  restorePools(gpu, policy, { ...fresh, weights });
  if (critic) restorePools(gpu, critic, { ...fresh, weights: trunk });
}

/** Writes weights (but not their shadow), moments and step counts of a saved state. */
export function restoreNetworks(gpu: Gpu, { policy, critic }: Networks, state: PolicyState): void {
  restorePools(gpu, policy, state.policy);
  if (critic && state.critic) restorePools(gpu, critic, state.critic);
}

function restorePools(gpu: Gpu, pools: Pools, { weights, adamM, adamV, steps }: NetworkState): void {
  write(gpu, pools.weights, pack(pools.layout, weights));
  write(gpu, pools.first, pack(pools.layout, adamM));
  write(gpu, pools.second, pack(pools.layout, adamV));
  write(gpu, pools.control, Uint32Array.of(steps, 0, 0, 0, 0, 0, 0, 0));
}
