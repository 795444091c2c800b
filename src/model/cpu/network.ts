import { parameters, type ModelConfig, type Parameter, type Weights } from '../architecture.ts';
import type { NetworkState } from '../policy.ts';
import type { Arithmetic } from './arithmetic.ts';
import type { Real } from './real.ts';

/** One layer's tensors as the passes read them: q, k and v are one matrix, gate and up another. Matrices are `M`, what a product takes. */
export interface LayerTensors<M = Real> {
  readonly inputNorm: Real; // (d)
  readonly qkv: M; // ((H + 2·kvH)·D, d)
  readonly qkvBias: Real | null; // ((H + 2·kvH)·D)
  readonly headNorms: { readonly q: Real; readonly k: Real } | null; // (D) each
  readonly output: M; // (d, H·D)
  readonly postNorm: Real; // (d)
  readonly gateUp: M; // (2F, d)
  readonly down: M; // (d, F)
}

/** The tensors of a forward pass and of its language head. */
export interface Trunk<M = Real> {
  readonly embed: M; // (V, d)
  readonly head: M; // (V, d); the embedding itself when tied
  readonly layers: readonly LayerTensors<M>[];
  readonly norm: Real; // (d)
}

/** Views of one pool laid out as `parameters(model)`: of weights, or of their gradients. */
export interface Tensors extends Trunk {
  readonly valueWeight: Real | null; // (d)
  readonly valueBias: Real | null; // (1)
}

/** A tensor and where it lies in the pools. */
export interface Placed extends Parameter {
  readonly offset: number;
}

/** What is learned, with its optimizer: four pools of one layout, decayed tensors first. */
export interface Learned {
  readonly placed: readonly Placed[];
  readonly size: number; // scalars in each pool
  readonly decayed: number; // of which the first so many take weight decay
  readonly weights: Real;
  readonly gradients: Real;
  readonly adamM: Real;
  readonly adamV: Real;
  steps: number; // AdamW steps taken
}

/** A transformer that is learned as a whole. */
export interface Network extends Learned {
  readonly model: ModelConfig;
  readonly tensors: Tensors;
  readonly gradientTensors: Tensors;
}

/** Where every tensor of the model lies. */
export function placements(model: ModelConfig): readonly Placed[] {
  return placedAfterOneAnother(parameters(model));
}

function placedAfterOneAnother(tensors: readonly Parameter[]): readonly Placed[] {
  let offset = 0;
  return tensors.map((parameter) => {
    const placed = { ...parameter, offset };
    offset += parameter.size;
    return placed;
  });
}

/** Views of `pool` by purpose. */
export function tensorsOf(model: ModelConfig, placed: readonly Placed[], pool: Real): Tensors {
  const span = (names: readonly string[]): Real => {
    const parts = placed.filter((p) => names.includes(p.name));
    const first = parts[0];
    if (first === undefined || parts.length !== names.length) {
      throw new Error(`tensorsOf: the model lacks some of ${names.join(', ')}.`);
    }
    return pool.subarray(
      first.offset,
      parts.reduce((end, p) => end + p.size, first.offset),
    );
  };
  const embed = span(['model.embed_tokens.weight']);
  const layers = Array.from({ length: model.num_hidden_layers }, (_, i): LayerTensors => {
    const at = `model.layers.${i}`;
    const qkv = (suffix: string) => ['q', 'k', 'v'].map((part) => `${at}.self_attn.${part}_proj.${suffix}`);
    return {
      inputNorm: span([`${at}.input_layernorm.weight`]),
      qkv: span(qkv('weight')),
      qkvBias: model.attention_bias ? span(qkv('bias')) : null,
      headNorms: model.qk_norm
        ? { q: span([`${at}.self_attn.q_norm.weight`]), k: span([`${at}.self_attn.k_norm.weight`]) }
        : null,
      output: span([`${at}.self_attn.o_proj.weight`]),
      postNorm: span([`${at}.post_attention_layernorm.weight`]),
      gateUp: span([`${at}.mlp.gate_proj.weight`, `${at}.mlp.up_proj.weight`]),
      down: span([`${at}.mlp.down_proj.weight`]),
    };
  });
  return {
    embed,
    head: model.tie_word_embeddings ? embed : span(['lm_head.weight']),
    layers,
    norm: span(['model.norm.weight']),
    valueWeight: model.value_head ? span(['value_head.weight']) : null,
    valueBias: model.value_head ? span(['value_head.bias']) : null,
  };
}

/** Zeros for these tensors, decayed ones first. */
export function createLearned(tensors: readonly Parameter[], { reals }: Pick<Arithmetic, 'reals'>): Learned {
  const placed = placedAfterOneAnother(tensors);
  const size = placed.reduce((sum, p) => sum + p.size, 0);
  return {
    placed,
    size,
    decayed: placed.reduce((sum, p) => sum + (p.decay ? p.size : 0), 0),
    weights: reals(size),
    gradients: reals(size),
    adamM: reals(size),
    adamV: reals(size),
    steps: 0,
  };
}

/** A network of zeros; `model` is the arithmetic's own or the same with another head. */
export function createNetwork(model: ModelConfig, arithmetic: Arithmetic): Network {
  const learned = createLearned(parameters(model), arithmetic);
  return {
    ...learned,
    model,
    tensors: tensorsOf(model, learned.placed, learned.weights),
    gradientTensors: tensorsOf(model, learned.placed, learned.gradients),
  };
}

/**
 * Copies tensors into a pool. A value head that is not given becomes zero, since checkpoints of language models have none;
 * throws when any other tensor is missing or has another size. Tensors the model has no place for are left out.
 */
function fillPool(placed: readonly Placed[], pool: Real, tensors: Weights): void {
  for (const { name, size, shape } of placed) {
    const tensor = tensors.get(name);
    if (tensor === undefined && !name.startsWith('value_head.')) {
      throw new Error(
        `writeWeights: ${name} is missing, a tensor [${shape.join(',')}]. Give every parameter of the model.`,
      );
    }
    if (tensor !== undefined && tensor.length !== size) {
      throw new Error(
        `writeWeights: ${name} has ${tensor.length} numbers and needs ${size} = [${shape.join(',')}]. Give weights of this model.`,
      );
    }
  }
  for (const { name, size, offset } of placed) {
    const tensor = tensors.get(name);
    if (tensor === undefined) pool.fill(0, offset, offset + size);
    else pool.set(tensor, offset);
  }
}

/** A copy of a pool, tensor by tensor. */
export function readPool(placed: readonly Placed[], pool: Real): Weights {
  return new Map(
    placed.map(({ name, size, offset }) => [name, Float32Array.from(pool.subarray(offset, offset + size))]),
  );
}

/** A copy of a network's weights and optimizer state. */
export function readNetwork(network: Learned): NetworkState {
  const { placed, weights, adamM, adamV, steps } = network;
  return {
    weights: readPool(placed, weights),
    adamM: readPool(placed, adamM),
    adamV: readPool(placed, adamV),
    steps,
  };
}

/** Puts a network where `state` was; throws when a tensor does not fit. */
export function writeNetwork(network: Learned, state: NetworkState): void {
  fillPool(network.placed, network.weights, state.weights);
  fillPool(network.placed, network.adamM, state.adamM);
  fillPool(network.placed, network.adamV, state.adamV);
  network.steps = state.steps;
}

/** Gives a network new weights and an optimizer that knows nothing yet; throws when a tensor does not fit. */
export function resetNetwork(network: Learned, weights: Weights): void {
  fillPool(network.placed, network.weights, weights);
  network.adamM.fill(0);
  network.adamV.fill(0);
  network.steps = 0;
}

/** The first tensor of a pool that holds a NaN or an infinity, or ''. */
export function firstNonFinite(placed: readonly Placed[], pool: Real): string {
  // x·0 is 0 for every finite x and NaN otherwise, and NaN stays: one pass without a branch finds out whether to look.
  let zero = 0;
  const { length } = pool;
  for (let i = 0; i < length; i++) zero += pool[i]! * 0;
  if (zero === 0) return '';
  for (const { name, size, offset } of placed) {
    for (let i = offset; i < offset + size; i++) if (!Number.isFinite(pool[i])) return name;
  }
  return '';
}
