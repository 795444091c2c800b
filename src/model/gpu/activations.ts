import {
  alignUp,
  scalarBytes,
  slice,
  type Arena,
  type Dimension,
  type ScalarType,
  type Tensor,
} from '../../gpu/tensor.ts';
import type { ModelConfig } from '../architecture.ts';
import { canFuse } from './normProject.ts';

/** Tensors of one kind for several layers or norms, in one buffer so that one dispatch can read them all. */
export interface TensorStack {
  readonly whole: Tensor;
  readonly stride: number; // scalars from one member to the next
  readonly at: (index: number) => Tensor;
}

/** Tensors for N token rows. With f16 storage, xhat, y, qkv, attended, gateUp and act hold f16; gradients never, so no loss scaling. */
export interface Activations {
  readonly N: number;
  /** Whether it keeps what a backward pass needs; otherwise all layers share one layer's tensors. */
  readonly keepsForBackward: boolean;
  readonly x: Tensor; // (N,C) residual stream, in place
  readonly xhat: TensorStack; // 2L + 1 of (N,C)
  readonly y: TensorStack; // 2L + 1 of (N,C): outputs of the norms; the output heads read the last
  readonly inv: TensorStack; // 2L + 1 of (N)
  readonly qkv: TensorStack; // L of (N,W)
  readonly unnormed: TensorStack | null; // L of q and k before their norms, see rotary.wgsl; null if the model has none
  readonly attended: TensorStack; // L of (N, H·D)
  readonly lse: TensorStack; // L of (N,H)
  readonly gateUp: TensorStack; // L of (N, 2F)
  readonly act: TensorStack; // L of (N,F)
  readonly logits: Tensor; // (N,V)
}
/** Gradients that a backward pass over N token rows computes, in f32. */
export interface ActivationGradients {
  readonly dx: Tensor; // (N,C) residual stream, in place
  readonly dy: TensorStack; // 2L + 1 of (N,C)
  readonly dqkv: TensorStack; // L of (N,W)
  readonly dattended: Tensor; // (N, H·D)
  readonly delta: Tensor; // (N,H)
  readonly dgateUp: TensorStack; // L of (N, 2F)
  readonly dact: Tensor | null; // (N,F); null if a fused product computes dgateUp directly
}

/** Sizes that activations grow with. */
const SIZES: readonly Dimension[] = ['rows', 'minibatchRows', 'length', 'width', 'layers'];

export function qkvWidth(m: ModelConfig): number {
  return (m.num_attention_heads + 2 * m.num_key_value_heads) * m.head_dim;
}

/** Scalars of q and k per token if they are kept for the backward pass of their norms. */
function unnormedWidth(m: ModelConfig): number {
  return m.qk_norm ? qkvWidth(m) - m.num_key_value_heads * m.head_dim : 0;
}

function declareStack(
  arena: Arena,
  name: string,
  members: number,
  shape: readonly number[],
  scalar: ScalarType = 'f32',
): TensorStack {
  const stride = alignUp(shape.reduce((a, b) => a * b, 1));
  const whole = arena.declare(name, [members * stride], SIZES, 0, scalar);
  const slices = Array.from({ length: members }, (_, i) => slice(whole, `${name} ${i}`, i * stride, shape));
  return { whole, stride, at: (index) => slices[index]! };
}

/** For N token rows. Without `forBackward`, as in a decoder, all layers share one layer's tensors. */
export function declareActivations(
  arena: Arena,
  label: string,
  m: ModelConfig,
  N: number,
  forBackward: boolean,
  storage: ScalarType,
): Activations {
  const L = forBackward ? m.num_hidden_layers : 1;
  const norms = forBackward ? 2 * L + 1 : 1;
  const declareLayers = (name: string, members: number, width: number, scalar: ScalarType = storage, padding = 0) => {
    const shape = width === 1 || padding > 0 ? [N * width + padding] : [N, width];
    const s = declareStack(arena, `${label} ${name}`, members, shape, scalar);
    return forBackward ? s : { ...s, at: () => s.at(0) };
  };
  return {
    N,
    keepsForBackward: forBackward,
    x: arena.declare(`${label} x`, [N, m.hidden_size], SIZES),
    xhat: declareLayers('xhat', norms, m.hidden_size),
    y: declareLayers('y', norms, m.hidden_size),
    inv: declareLayers('inv', norms, 1, 'f32'),
    qkv: declareLayers('qkv', L, qkvWidth(m)),
    unnormed: m.qk_norm ? declareLayers('unnormed', L, unnormedWidth(m), 'f32', alignUp(1)) : null,
    attended: declareLayers('attended', L, m.num_attention_heads * m.head_dim),
    lse: declareLayers('lse', L, m.num_attention_heads, 'f32'),
    gateUp: declareLayers('gate_up', L, 2 * m.intermediate_size),
    act: declareLayers('act', L, m.intermediate_size),
    logits: arena.declare(`${label} logits`, [N, m.vocab_size], SIZES),
  };
}

export function declareGradients(arena: Arena, m: ModelConfig, N: number): ActivationGradients {
  const L = m.num_hidden_layers;
  return {
    dx: arena.declare('dx', [N, m.hidden_size], SIZES),
    dy: declareStack(arena, 'dy', 2 * L + 1, [N, m.hidden_size]),
    dqkv: declareStack(arena, 'dqkv', L, [N, qkvWidth(m)]),
    dattended: arena.declare('dattended', [N, m.num_attention_heads * m.head_dim], SIZES),
    delta: arena.declare('delta', [N, m.num_attention_heads], SIZES),
    dgateUp: declareStack(arena, 'dgate_up', L, [N, 2 * m.intermediate_size]),
    dact: canFuse(m) ? null : arena.declare('dact', [N, m.intermediate_size], SIZES),
  };
}

/** Bytes of activations and their gradients per token row. */
export function bytesPerToken(m: ModelConfig, storage: ScalarType): number {
  const L = m.num_hidden_layers;
  const H = m.num_attention_heads;
  const [C, F, W, Q] = [m.hidden_size, m.intermediate_size, qkvWidth(m), H * m.head_dim];
  const norms = 2 * L + 1;
  const storedScalars = 2 * norms * C + L * (W + Q + 3 * F);
  const dact = canFuse(m) ? 0 : F;
  const float32Scalars =
    (2 + norms) * C + norms + L * (W + unnormedWidth(m)) + Q + (L + 1) * H + 2 * L * F + dact + m.vocab_size;
  return scalarBytes(storage) * storedScalars + 4 * float32Scalars;
}
