import { parameters, type ModelConfig, type Parameter, type Weights } from '../architecture.ts';
import type { NetworkState } from '../policy.ts';
import type { Arithmetic } from './arithmetic.ts';
import type { Real } from './real.ts';

/** q, k and v are stacked in one matrix, gate and up in another. `M` is the type of a matrix, `Real` or packed. */
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

export interface ForwardTensors<M = Real> {
  readonly embed: M; // (V, d)
  readonly head: M; // (V, d); the embedding itself when tied
  readonly layers: readonly LayerTensors<M>[];
  readonly norm: Real; // (d)
}

/** Views of a pool: one array with all tensors of `parameters(model)` in order: weights, gradients or one of AdamW's moments. */
export interface NetworkTensors extends ForwardTensors {
  readonly valueWeight: Real | null; // (d)
  readonly valueBias: Real | null; // (1)
}

/** A tensor and its offset in a pool, in numbers. */
export interface PlacedTensor extends Parameter {
  readonly offset: number;
}

/** Trained tensors and their optimizer state: four pools with the same layout. Tensors with weight decay come first. */
export interface TrainedTensors {
  readonly layout: readonly PlacedTensor[];
  readonly size: number; // scalars in each pool
  readonly decayedSize: number; // the first `decayedSize` scalars have weight decay
  readonly weights: Real;
  readonly gradients: Real;
  readonly adamM: Real;
  readonly adamV: Real;
  steps: number; // AdamW steps taken
}

/** A transformer of which all tensors are trained. */
export interface Network extends TrainedTensors {
  readonly model: ModelConfig;
  readonly tensors: NetworkTensors;
  readonly gradientTensors: NetworkTensors;
}

export function modelLayout(model: ModelConfig): readonly PlacedTensor[] {
  return layoutOf(parameters(model));
}

function layoutOf(tensors: readonly Parameter[]): readonly PlacedTensor[] {
  let offset = 0;
  return tensors.map((parameter) => {
    const placed = { ...parameter, offset };
    offset += parameter.size;
    return placed;
  });
}

export function tensorsOf(model: ModelConfig, placed: readonly PlacedTensor[], pool: Real): NetworkTensors {
  const view = (names: readonly string[]): Real => {
    const parts = placed.filter((p) => names.includes(p.name));
    const firstPart = parts[0];
    if (firstPart === undefined || parts.length !== names.length) {
      throw new Error(`tensorsOf: the model lacks some of ${names.join(', ')}.`);
    }
    return pool.subarray(
      firstPart.offset,
      parts.reduce((end, p) => end + p.size, firstPart.offset),
    );
  };
  const embed = view(['model.embed_tokens.weight']);
  const layers = Array.from({ length: model.num_hidden_layers }, (_, i): LayerTensors => {
    const prefix = `model.layers.${i}`;
    const qkv = (suffix: string) => ['q', 'k', 'v'].map((part) => `${prefix}.self_attn.${part}_proj.${suffix}`);
    return {
      inputNorm: view([`${prefix}.input_layernorm.weight`]),
      qkv: view(qkv('weight')),
      qkvBias: model.attention_bias ? view(qkv('bias')) : null,
      headNorms: model.qk_norm
        ? { q: view([`${prefix}.self_attn.q_norm.weight`]), k: view([`${prefix}.self_attn.k_norm.weight`]) }
        : null,
      output: view([`${prefix}.self_attn.o_proj.weight`]),
      postNorm: view([`${prefix}.post_attention_layernorm.weight`]),
      gateUp: view([`${prefix}.mlp.gate_proj.weight`, `${prefix}.mlp.up_proj.weight`]),
      down: view([`${prefix}.mlp.down_proj.weight`]),
    };
  });
  return {
    embed,
    head: model.tie_word_embeddings ? embed : view(['lm_head.weight']),
    layers,
    norm: view(['model.norm.weight']),
    valueWeight: model.value_head ? view(['value_head.weight']) : null,
    valueBias: model.value_head ? view(['value_head.bias']) : null,
  };
}

/** Creates pools of zeros for these tensors, which must be sorted: those with weight decay first. */
export function createTrained(tensors: readonly Parameter[], { reals }: Pick<Arithmetic, 'reals'>): TrainedTensors {
  const placed = layoutOf(tensors);
  const size = placed.reduce((sum, p) => sum + p.size, 0);
  return {
    layout: placed,
    size,
    decayedSize: placed.reduce((sum, p) => sum + (p.decay ? p.size : 0), 0),
    weights: reals(size),
    gradients: reals(size),
    adamM: reals(size),
    adamV: reals(size),
    steps: 0,
  };
}

/** Creates a network of zeros. `model` may differ from the arithmetic's model only in its heads. */
export function createNetwork(model: ModelConfig, arithmetic: Arithmetic): Network {
  const trained = createTrained(parameters(model), arithmetic);
  return {
    ...trained,
    model,
    tensors: tensorsOf(model, trained.layout, trained.weights),
    gradientTensors: tensorsOf(model, trained.layout, trained.gradients),
  };
}

/**
 * Copies tensors into a pool. A missing value head becomes zero, because checkpoints of language models have none.
 * Throws if any other tensor is missing, or if a size is wrong. Ignores tensors that the model doesn't have.
 */
function fillPool(placed: readonly PlacedTensor[], pool: Real, tensors: Weights): void {
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

/** Returns a copy of a pool as a map of tensors. */
export function readPool(placed: readonly PlacedTensor[], pool: Real): Weights {
  return new Map(
    placed.map(({ name, size, offset }) => [name, Float32Array.from(pool.subarray(offset, offset + size))]),
  );
}

export function readNetwork(network: TrainedTensors): NetworkState {
  const { layout, weights, adamM, adamV, steps } = network;
  return {
    weights: readPool(layout, weights),
    adamM: readPool(layout, adamM),
    adamV: readPool(layout, adamV),
    steps,
  };
}

/** Loads weights and optimizer state into a network. Throws as `fillPool` does. */
export function writeNetwork(network: TrainedTensors, state: NetworkState): void {
  fillPool(network.layout, network.weights, state.weights);
  fillPool(network.layout, network.adamM, state.adamM);
  fillPool(network.layout, network.adamV, state.adamV);
  network.steps = state.steps;
}

/** Loads weights into a network and resets its optimizer. Throws as `fillPool` does. */
export function resetNetwork(network: TrainedTensors, weights: Weights): void {
  fillPool(network.layout, network.weights, weights);
  network.adamM.fill(0);
  network.adamV.fill(0);
  network.steps = 0;
}

/** Returns the name of the first tensor in the pool with a NaN or an infinity, or '' if there is none. */
export function firstNonFinite(placed: readonly PlacedTensor[], pool: Real): string {
  // x·0 is 0 for every finite x and NaN otherwise, and a sum with a NaN is NaN. So a loop without branches finds out
  // whether there is anything to search for
  let zero = 0;
  const { length } = pool;
  for (let i = 0; i < length; i++) zero += pool[i]! * 0;
  if (zero === 0) return '';
  for (const { name, size, offset } of placed) {
    for (let i = offset; i < offset + size; i++) if (!Number.isFinite(pool[i])) return name;
  }
  return '';
}
