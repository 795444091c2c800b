import { alignUp, scalarBytes, slice, type Arena, type Dimension, type ScalarType, type Tensor } from '../../gpu/tensor.ts'; // prettier-ignore
import type { ModelConfig } from '../architecture.ts';
import { unnormedKeysAt } from './heads.ts';
import { canFuse } from './normProject.ts';

/** Tensors of one kind for several layers or norms, in one buffer so that one dispatch can read them all. */
export interface TensorStack {
  readonly whole: Tensor;
  readonly stride: number; // scalars from one member to the next
  readonly at: (index: number) => Tensor; // of a layer or a norm; what isn't kept for each shares a member
}

/**
 * What a pass keeps: the activations of all layers; those of one layer, which is computed again before its backward
 * pass; or nothing for a backward pass.
 */
export type Kept = 'layers' | 'layer' | 'nothing';

/** Tensors for N token rows. With f16 storage, xhat, y, qkv, attended, gateUp and act hold f16; gradients never, so no loss scaling. */
export interface Activations {
  readonly N: number;
  readonly kept: Kept;
  readonly x: Tensor; // (N,C) residual stream, in place
  readonly xhat: TensorStack; // of 2L + 1 norms (N,C)
  readonly y: TensorStack; // of 2L + 1 norms (N,C): their outputs; the output heads read the last
  readonly inv: TensorStack; // of 2L + 1 norms (N)
  readonly qkv: TensorStack; // of L layers (N,W)
  readonly unnormed: TensorStack | null; // of L layers: q and k before their norms, see rotary.wgsl; null if the model has none
  readonly attended: TensorStack; // of L layers (N, H·D)
  readonly lse: TensorStack; // of L layers (N,H)
  readonly gateUp: TensorStack; // of L layers (N, 2F)
  readonly act: TensorStack; // of L layers (N,F)
}
/** Gradients that a backward pass over N token rows computes, in f32. */
export interface ActivationGradients {
  readonly dx: Tensor; // (N,C) residual stream, in place
  readonly dy: TensorStack; // of 2L + 1 norms (N,C)
  readonly dqkv: TensorStack; // of L layers (N,W)
  readonly dattended: Tensor; // (N, H·D)
  readonly delta: Tensor; // (N,H)
  readonly dgateUp: TensorStack; // of L layers (N, 2F)
  readonly dact: Tensor | null; // (N,F); null if a fused product computes dgateUp directly
}

export function qkvWidth(m: ModelConfig): number {
  return (m.num_attention_heads + 2 * m.num_key_value_heads) * m.head_dim;
}

/** Members of a stack, and which of them is that of a layer or a norm. */
interface Members {
  readonly count: number;
  readonly at: (index: number) => number;
}

function membersOf({ num_hidden_layers: L }: ModelConfig, kept: Kept) {
  const all = (count: number): Members => ({ count, at: (index) => index });
  const single: Members = { count: 1, at: () => 0 };
  if (kept === 'layers') return { single, layer: all(L), norm: all(2 * L + 1), normGradient: all(2 * L + 1) };
  // the last norm goes backward before a layer is computed again, so it can share with the layers' first norm
  const two: Members = { count: 2, at: (norm) => norm % 2 };
  return { single, layer: single, norm: kept === 'layer' ? two : single, normGradient: single };
}

interface StackSize {
  readonly members: Members;
  readonly width: number; // scalars per token
  readonly scalarType: ScalarType;
  readonly padding?: number; // scalars besides
}

function activationSizes(m: ModelConfig, kept: Kept, storage: ScalarType, N = 0) {
  const { hidden_size: C, intermediate_size: F, num_attention_heads: H, num_key_value_heads: G, head_dim: D } = m;
  const { single, layer, norm } = membersOf(m, kept);
  const size = (members: Members, width: number, scalarType = storage): StackSize => ({ members, width, scalarType });
  const padding = unnormedKeysAt(m, N) - N * H * D;
  return {
    ...{ x: size(single, C, 'f32'), xhat: size(norm, C), y: size(norm, C), inv: size(norm, 1, 'f32') },
    qkv: size(layer, qkvWidth(m)),
    ...(m.qk_norm && { unnormed: { ...size(layer, (H + G) * D, 'f32'), padding } }),
    ...{ attended: size(layer, H * D), lse: size(layer, H, 'f32'), gateUp: size(layer, 2 * F), act: size(layer, F) },
  };
}

function gradientSizes(m: ModelConfig, kept: Kept) {
  const { hidden_size: C, intermediate_size: F, num_attention_heads: H } = m;
  const { single, layer, normGradient } = membersOf(m, kept);
  const size = (members: Members, width: number): StackSize => ({ members, width, scalarType: 'f32' });
  return {
    ...{ dx: size(single, C), dy: size(normGradient, C), dqkv: size(layer, qkvWidth(m)) },
    ...{ dattended: size(single, H * m.head_dim), delta: size(single, H), dgateUp: size(layer, 2 * F) },
    ...(!(kept === 'layers' && canFuse(m)) && { dact: size(single, F) }),
  };
}

/** Sizes that activations grow with. */
const SIZES: readonly Dimension[] = ['rows', 'minibatchRows', 'length', 'width', 'layers'];

type Stacks<Sizes> = { readonly [Name in keyof Sizes]: TensorStack };

function declareStacks<Sizes extends object>(arena: Arena, prefix: string, N: number, sizes: Sizes): Stacks<Sizes> {
  const declare = ([name, { members, width, scalarType, padding = 0 }]: [string, StackSize]) => {
    const scalars = N * width + padding;
    const stride = members.count > 1 ? alignUp(scalars) : scalars;
    const whole = arena.declare(prefix + name, [members.count * stride], SIZES, 0, scalarType);
    const slices = Array.from({ length: members.count }, (_, i) => slice(whole, `${name} ${i}`, i * stride, [scalars]));
    return [name, { whole, stride, at: (index: number) => slices[members.at(index)]! }] as const;
  };
  return Object.fromEntries(Object.entries(sizes).map(declare)) as Stacks<Sizes>;
}

/** For N token rows. */
export function declareActivations(
  arena: Arena,
  label: string,
  m: ModelConfig,
  N: number,
  kept: Kept,
  storage: ScalarType = 'f32',
): Activations {
  const { x, unnormed = null, ...stacks } = declareStacks(arena, `${label} `, N, activationSizes(m, kept, storage, N));
  return { N, kept, x: x.whole, unnormed, ...stacks };
}

export function declareGradients(arena: Arena, m: ModelConfig, N: number, kept: Kept): ActivationGradients {
  const { dx, dattended, delta, dact, ...stacks } = declareStacks(arena, '', N, gradientSizes(m, kept));
  return { dx: dx.whole, dattended: dattended.whole, delta: delta.whole, dact: dact?.whole ?? null, ...stacks };
}

/** Bytes per token row of activations and their gradients: of all of them, and of the largest buffer. */
export function bytesPerToken(m: ModelConfig, kept: Kept, storage: ScalarType) {
  const sizes: readonly StackSize[] = Object.values({
    ...activationSizes(m, kept, storage),
    ...gradientSizes(m, kept),
  });
  const bytes = sizes.map(({ members, width, scalarType }) => members.count * width * scalarBytes(scalarType));
  return { all: bytes.reduce((sum, size) => sum + size, 0), largest: Math.max(...bytes) };
}
