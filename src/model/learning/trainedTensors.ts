import type { Parameter, Weights } from '../architecture.ts';
import type { NetworkState } from '../policy.ts';
import type { Real } from './real.ts';

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

export function layoutOf(tensors: readonly Parameter[]): readonly PlacedTensor[] {
  let offset = 0;
  return tensors.map((parameter) => {
    const placed = { ...parameter, offset };
    offset += parameter.size;
    return placed;
  });
}

/** Creates pools of zeros for these tensors, which must be sorted: those with weight decay first. */
export function createTrained(
  tensors: readonly Parameter[],
  { reals }: { readonly reals: (size: number) => Real },
): TrainedTensors {
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
