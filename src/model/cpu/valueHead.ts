import type { Real } from './real.ts';

/** Which positions of a packed pass a value is read at, and the token it stands before. */
export interface ValueTargets {
  readonly count: number; // m
  readonly positions: Int32Array; // (m) packed index of the hidden state
  readonly places: Int32Array; // (m) (B,T) index of the token
}

/** Writes hidden·weight + bias of every target at its (B,T) place: the value of the state before that token. */
export function scoreValues(
  values: Real,
  hidden: Real,
  weight: Real,
  bias: Real,
  targets: ValueTargets,
  width: number,
): void {
  for (let i = 0; i < targets.count; i++) {
    const at = targets.positions[i]! * width;
    let value = bias[0]!;
    for (let c = 0; c < width; c++) value += hidden[at + c]! * weight[c]!;
    values[targets.places[i]!] = value;
  }
}

/** Adds to dhidden, dweight and dbias what dvalues (B,T) means for them. */
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
    const at = targets.positions[i]! * width;
    const g = dvalues[targets.places[i]!]!;
    dbias[0] = dbias[0]! + g;
    for (let c = 0; c < width; c++) {
      dhidden[at + c] = dhidden[at + c]! + g * weight[c]!;
      dweight[c] = dweight[c]! + g * hidden[at + c]!;
    }
  }
}
