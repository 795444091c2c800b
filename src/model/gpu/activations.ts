import { aligned, bytesOf, slice, type Arena, type Scalar, type Tensor } from '../../gpu/tensor.ts';
import type { ModelConfig } from '../architecture.ts';
import { fuses } from './normProject.ts';

/** Tensors of one kind for several layers or norms, in one buffer so that one dispatch can read them all. */
export interface Stack {
  readonly whole: Tensor;
  readonly slot: number; // scalars from one member to the next
  readonly at: (index: number) => Tensor;
}

/**
 * Tensors of a forward pass over N token rows. With f16 storage, xhat, y, qkv, attended, gateUp and act hold halves.
 * Gradients never do, so the loss needs no scaling to keep small gradients from vanishing.
 */
export interface Activations {
  readonly N: number;
  readonly keeps: boolean; // keeps what a backward pass needs; otherwise all layers share one layer's tensors
  readonly x: Tensor; // (N,C) residual stream, in place
  readonly xhat: Stack; // 2L + 1 of (N,C)
  readonly y: Stack; // 2L + 1 of (N,C): outputs of the norms; the last is the hidden state the heads read
  readonly inv: Stack; // 2L + 1 of (N)
  readonly qkv: Stack; // L of (N,W)
  readonly attended: Stack; // L of (N, H·D)
  readonly lse: Stack; // L of (N,H)
  readonly gateUp: Stack; // L of (N, 2F)
  readonly act: Stack; // L of (N,F)
  readonly logits: Tensor; // (N,V)
}
/** Gradients that a backward pass over N token rows computes, in f32. */
export interface ActivationGradients {
  readonly dx: Tensor; // (N,C) residual stream, in place
  readonly dy: Stack; // 2L + 1 of (N,C)
  readonly dqkv: Stack; // L of (N,W)
  readonly dattended: Tensor; // (N, H·D)
  readonly delta: Tensor; // (N,H)
  readonly dgateUp: Stack; // L of (N, 2F)
  readonly dact: Tensor | null; // (N,F); null if a fused product computes dgateUp directly
}

/** Settings to reduce if the tensors do not fit. */
const KNOBS = ['prompts', 'groupSize', 'minibatches', 'maxTurns', 'width', 'layers'];

/** Columns of the joint projection to queries, keys and values. */
export function qkvWidth(m: ModelConfig): number {
  return (m.num_attention_heads + 2 * m.num_key_value_heads) * m.head_dim;
}

function stack(arena: Arena, name: string, members: number, shape: readonly number[], scalar: Scalar = 'f32'): Stack {
  const slot = aligned(shape.reduce((a, b) => a * b, 1));
  const whole = arena.declare(name, [members * slot], KNOBS, 0, scalar);
  const slices = Array.from({ length: members }, (_, i) => slice(whole, `${name} ${i}`, i * slot, shape));
  return { whole, slot, at: (index) => slices[index]! };
}

/**
 * Declares the forward tensors of N token rows. Without `keep`, as in a decoder, all layers share one layer's tensors.
 */
export function declareActivations(
  arena: Arena,
  label: string,
  m: ModelConfig,
  N: number,
  keep: boolean,
  storage: Scalar,
): Activations {
  const L = keep ? m.num_hidden_layers : 1;
  const norms = keep ? 2 * L + 1 : 1;
  const make = (name: string, members: number, width: number, scalar: Scalar = storage) => {
    const s = stack(arena, `${label} ${name}`, members, width === 1 ? [N] : [N, width], scalar);
    return keep ? s : { ...s, at: () => s.at(0) };
  };
  return {
    N,
    keeps: keep,
    x: arena.declare(`${label} x`, [N, m.hidden_size], KNOBS),
    xhat: make('xhat', norms, m.hidden_size),
    y: make('y', norms, m.hidden_size),
    inv: make('inv', norms, 1, 'f32'),
    qkv: make('qkv', L, qkvWidth(m)),
    attended: make('attended', L, m.num_attention_heads * m.head_dim),
    lse: make('lse', L, m.num_attention_heads, 'f32'),
    gateUp: make('gate_up', L, 2 * m.intermediate_size),
    act: make('act', L, m.intermediate_size),
    logits: arena.declare(`${label} logits`, [N, m.vocab_size], KNOBS),
  };
}

/** Declares the tensors of a backward pass over N token rows. */
export function declareGradients(arena: Arena, m: ModelConfig, N: number): ActivationGradients {
  const L = m.num_hidden_layers;
  return {
    dx: arena.declare('dx', [N, m.hidden_size], KNOBS),
    dy: stack(arena, 'dy', 2 * L + 1, [N, m.hidden_size]),
    dqkv: stack(arena, 'dqkv', L, [N, qkvWidth(m)]),
    dattended: arena.declare('dattended', [N, m.num_attention_heads * m.head_dim], KNOBS),
    delta: arena.declare('delta', [N, m.num_attention_heads], KNOBS),
    dgateUp: stack(arena, 'dgate_up', L, [N, 2 * m.intermediate_size]),
    dact: fuses(m) ? null : arena.declare('dact', [N, m.intermediate_size], KNOBS),
  };
}

/** Bytes of activations and their gradients per token row. */
export function bytesPerToken(m: ModelConfig, storage: Scalar): number {
  const L = m.num_hidden_layers;
  const H = m.num_attention_heads;
  const [C, F, W, Q] = [m.hidden_size, m.intermediate_size, qkvWidth(m), H * m.head_dim];
  const norms = 2 * L + 1;
  const kept = 2 * norms * C + L * (W + Q + 3 * F);
  const dact = fuses(m) ? 0 : F;
  const others = (2 + norms) * C + norms + L * W + Q + (L + 1) * H + 2 * L * F + dact + m.vocab_size;
  return bytesOf(storage) * kept + 4 * others;
}
