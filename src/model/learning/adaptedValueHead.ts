import type { TrainedTensors } from './trainedTensors.ts';
import type { Real } from './real.ts';

/** A value head and its gradients, views of the pools. */
export interface ValueHead {
  readonly weight: Real; // (d)
  readonly bias: Real; // (1)
  readonly dweight: Real;
  readonly dbias: Real;
}

export function valueHead({ layout, weights, gradients }: TrainedTensors): ValueHead | null {
  const [weight, bias] = ['value_head.weight', 'value_head.bias'].map((name) => layout.find((p) => p.name === name));
  if (!weight || !bias) return null;
  const view = (pool: Real, { offset, size }: typeof weight) => pool.subarray(offset, offset + size);
  return {
    weight: view(weights, weight),
    bias: view(weights, bias),
    dweight: view(gradients, weight),
    dbias: view(gradients, bias),
  };
}
