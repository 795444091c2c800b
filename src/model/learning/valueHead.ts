import type { Real } from './real.ts';

/** The positions of a packed pass at which values are computed. A value belongs to the state before the next token. */
export interface ValueTargets {
  readonly count: number; // m
  readonly positions: Int32Array; // (m) packed index of the hidden state
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
