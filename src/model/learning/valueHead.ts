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

/** The tokens of a pass after which values are computed. A value belongs to the state before the next token. */
export interface ValueTargets {
  readonly count: number; // m
  readonly positions: Int32Array; // (m) index of the hidden state in the pass
  readonly batchIndices: Int32Array; // (m) index of the next token in (B,T)
}

/** Writes the value of every target, hidden·weight + bias, to its place in values (B,T). */
export function scoreValues(
  values: Real,
  hidden: Real,
  weight: Real,
  bias: Real,
  targets: ValueTargets,
  width: number,
): void {
  for (let i = 0; i < targets.count; i++) {
    const stateStart = targets.positions[i]! * width;
    let value = bias[0]!;
    for (let c = 0; c < width; c++) value += hidden[stateStart + c]! * weight[c]!;
    values[targets.batchIndices[i]!] = value;
  }
}

/** Adds to dhidden, dweight (width) and dbias (1) what follows from dvalues (B,T). */
export function valuesBackward(
  dhidden: Real,
  dweight: Real,
  dbias: Real,
  dvalues: Float64Array,
  hidden: Real,
  weight: Real,
  targets: ValueTargets,
  width: number,
): void {
  for (let i = 0; i < targets.count; i++) {
    const stateStart = targets.positions[i]! * width;
    const g = dvalues[targets.batchIndices[i]!]!;
    dbias[0] = dbias[0]! + g;
    for (let c = 0; c < width; c++) {
      dhidden[stateStart + c] = dhidden[stateStart + c]! + g * weight[c]!;
      dweight[c] = dweight[c]! + g * hidden[stateStart + c]!;
    }
  }
}
