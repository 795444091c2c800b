import type { Gpu } from '../../gpu/device.ts';
import { STEP_STATS } from '../../gpu/kernels/stepStats.ts';
import { alignUp, slice, write, type Arena, type Dimension, type ScalarType, type Tensor } from '../../gpu/tensor.ts';
import { parameters, type ModelConfig, type Weights } from '../architecture.ts';
import type { NetworkState, PolicyState } from '../policy.ts';
import {
  declarePartials,
  gradientRange,
  type PartialsCount,
  type PartialGradients,
  type GradientRange,
} from './partialGradients.ts';

/** Where a parameter or a group of parameters lies in a tensor that holds all parameters of a network. */
interface ParameterLocation {
  readonly start: number; // its first scalar
  readonly shape: readonly number[];
}

/** Groups start at aligned scalars; members of a group are adjacent. */
export interface ParameterLayout {
  readonly size: number; // P, padding included
  readonly decayed: number; // tensors before this scalar take weight decay
  readonly tensors: ReadonlyMap<string, ParameterLocation>;
  readonly groups: ReadonlyMap<string, ParameterLocation>; // the shape is the number of scalars
}

/** The layout of a model's parameters, which weights, gradients and both of Adam's moments share. */
function parameterLayout(model: ModelConfig): ParameterLayout {
  const tensors = new Map<string, ParameterLocation>();
  const groups = new Map<string, ParameterLocation>();
  let end = 0;
  let decayed = 0;
  for (const p of parameters(model)) {
    const group = groups.get(p.group);
    const start = group ? end : alignUp(end);
    tensors.set(p.name, { start, shape: p.shape });
    groups.set(p.group, { start: group?.start ?? start, shape: [(group?.shape[0] ?? 0) + p.size] });
    end = start + p.size;
    if (p.decay) decayed = alignUp(end);
  }
  return { size: alignUp(end), decayed, tensors, groups };
}

/** Name of the parameter to which scalar `index` of the layout belongs. */
export function parameterAt(layout: ParameterLayout, index: number): string {
  for (const [name, { start, shape }] of layout.tensors) {
    if (index >= start && index < start + shape.reduce((a, b) => a * b, 1)) return name;
  }
  return `padding at ${index}`;
}

/** A named group of parameters as one tensor of the given shape; a slice of `parent`, which holds all parameters. */
export function groupTensor(parent: Tensor, layout: ParameterLayout, name: string, shape: readonly number[]): Tensor {
  const location = layout.groups.get(name);
  if (!location)
    throw new Error(`${name}: no such parameter group. There are ${[...layout.groups.keys()].join(', ')}.`);
  return slice(parent, name, location.start, shape);
}

/** The gradients of a named group of parameters, which has `size` scalars. */
export function gradientOf(
  partials: PartialGradients,
  layout: ParameterLayout,
  name: string,
  size: number,
): GradientRange {
  return gradientRange(partials, `gradient of ${name}`, startOfGroup(layout, name), size);
}

export function startOfGroup(layout: ParameterLayout, name: string): number {
  const location = layout.groups.get(name);
  if (!location)
    throw new Error(`${name}: no such parameter group. There are ${[...layout.groups.keys()].join(', ')}.`);
  return location.start;
}

export function startOfParameter(layout: ParameterLayout, name: string): number {
  const location = layout.tensors.get(name);
  if (!location) throw new Error(`${name}: no such parameter. There are ${[...layout.tensors.keys()].join(', ')}.`);
  return location.start;
}

/** Scalars from one layer's group to the next layer's; 0 in a model of one layer. */
export function layerStride(layout: ParameterLayout, group: string): number {
  const at = (layer: number) => layout.groups.get(`model.layers.${layer}.${group}`)?.start;
  const first = at(0);
  const second = at(1);
  return first === undefined || second === undefined ? 0 : second - first;
}

/** Copies the parameters by name out of the first P of these words. */
export function unpack(layout: ParameterLayout, words: Uint32Array<ArrayBuffer>): Weights {
  const all = new Float32Array(words.buffer, words.byteOffset, words.length);
  const out = new Map<string, Float32Array>();
  for (const [name, { start, shape }] of layout.tensors) {
    out.set(name, all.slice(start, start + shape.reduce((a, b) => a * b, 1)));
  }
  return out;
}

/** Packs parameters into the P scalars of the layout; missing ones are zero. Throws if a size differs. */
function pack(layout: ParameterLayout, weights: Weights): Float32Array {
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

/** Tensors of one network: weights, gradients and Adam's moments in one layout, and the optimizer's state and log. */
export interface GpuNetworkTensors {
  readonly layout: ParameterLayout;
  readonly weights: Tensor; // f32, what the optimizer updates
  readonly passWeights: Tensor; // what forward and backward passes read: the weights, or a copy of them in f16
  readonly grads: PartialGradients;
  readonly adamM: Tensor; // first moments
  readonly adamV: Tensor; // second moments
  readonly stepSums: Tensor; // (2, groups) of gradient_norm.wgsl, then `stepStats` from scalar `statsStart` on
  readonly stepStats: Tensor; // (9) of step_stats.wgsl
  readonly statsStart: number;
  readonly optimizerState: Tensor; // `stepCounts`, then `log`; see adamw.wgsl
  readonly stepCounts: Tensor; // (8) Adam's step count is the first
  readonly log: Tensor; // (LOG_LINES, 16), from scalar `logStart` of `optimizerState` on
  readonly logStart: number;
}

/** Maximum number of optimizer steps kept in the log between two reports. */
export const LOG_LINES = 256;
/** Words of a log line; see adamw.wgsl. */
export const LOG_WORDS = 16;
/** Enough to fill the device, but few, because each workgroup of adamw adds up the sums of all workgroups. */
export const CLOSING_WORKGROUPS = { hardware: 256, software: 16 };

export function declareNetwork(
  arena: Arena,
  label: string,
  model: ModelConfig,
  storage: ScalarType,
  partialsFor: (P: number) => PartialsCount,
): GpuNetworkTensors {
  const layout = parameterLayout(model);
  const sizes: readonly Dimension[] = ['width', 'ffn', 'layers'];
  const declareParameters = (name: string, scalarType: ScalarType = 'f32') =>
    arena.declare(`${label} ${name}`, [layout.size], sizes, 0, scalarType);
  const weights = declareParameters('weights');
  const logStart = alignUp(8);
  const statsStart = alignUp(2 * CLOSING_WORKGROUPS.hardware);
  const stepSums = arena.declare(`${label} step sums`, [statsStart + STEP_STATS.length]);
  const optimizerState = arena.declare(`${label} ledger`, [logStart + LOG_LINES * LOG_WORDS]);
  return {
    layout,
    weights,
    passWeights: storage === 'f16' ? declareParameters('half weights', 'f16') : weights,
    grads: declarePartials(arena, `${label} gradients`, layout.size, sizes, partialsFor(layout.size)),
    adamM: declareParameters('Adam m'),
    adamV: declareParameters('Adam v'),
    stepSums,
    stepStats: slice(stepSums, `${label} step stats`, statsStart, [STEP_STATS.length]),
    statsStart,
    optimizerState,
    stepCounts: slice(optimizerState, `${label} control`, 0, [8]),
    log: slice(optimizerState, `${label} log`, logStart, [LOG_LINES, LOG_WORDS]),
    logStart,
  };
}

interface Networks {
  readonly policy: GpuNetworkTensors;
  readonly critic: GpuNetworkTensors | null;
}

/** Doesn't write `passWeights`. Missing tensors become zero. A separate critic copies the transformer, with a value head of zero. */
export function resetNetworks(gpu: Gpu, { policy, critic }: Networks, weights: Weights): void {
  const fresh = { adamM: new Map(), adamV: new Map(), steps: 0 };
  const weightsWithoutValueHead = new Map([...weights].filter(([name]) => !name.startsWith('value_head')));
  restoreNetwork(gpu, policy, { ...fresh, weights });
  if (critic) restoreNetwork(gpu, critic, { ...fresh, weights: weightsWithoutValueHead });
}

/** Writes weights (but not `passWeights`), moments and step counts of a saved state. */
export function restoreNetworks(gpu: Gpu, { policy, critic }: Networks, state: PolicyState): void {
  restoreNetwork(gpu, policy, state.policy);
  if (critic && state.critic) restoreNetwork(gpu, critic, state.critic);
}

function restoreNetwork(gpu: Gpu, network: GpuNetworkTensors, { weights, adamM, adamV, steps }: NetworkState): void {
  write(gpu, network.weights, pack(network.layout, weights));
  write(gpu, network.adamM, pack(network.layout, adamM));
  write(gpu, network.adamV, pack(network.layout, adamV));
  write(gpu, network.stepCounts, Uint32Array.of(steps, 0, 0, 0, 0, 0, 0, 0));
}
