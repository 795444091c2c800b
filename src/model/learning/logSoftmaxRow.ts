import type { Real } from './real.ts';

/** Log-probability of an illegal token, in place of −∞: e^−1e30 is 0, and subtracting two of these gives no NaN. */
export const ILLEGAL_LOGPROB = -1e30;

/** log softmax(z/temperature) over the legal tokens; others (nextStates[stateStart + k] < 0) get −1e30. Subtracts the maximum first. */
export function logSoftmaxRow(
  logits: Real,
  rowStart: number,
  vocabulary: number,
  nextStates: Int32Array,
  stateStart: number,
  temperature: number,
): void {
  let max = -Infinity;
  for (let k = 0; k < vocabulary; k++) {
    if (nextStates[stateStart + k]! < 0) {
      logits[rowStart + k] = ILLEGAL_LOGPROB;
      continue;
    }
    const z = logits[rowStart + k]! / temperature;
    logits[rowStart + k] = z;
    if (z > max) max = z;
  }
  let sum = 0;
  for (let k = 0; k < vocabulary; k++) {
    if (nextStates[stateStart + k]! >= 0) sum += Math.exp(logits[rowStart + k]! - max);
  }
  const norm = max + Math.log(sum);
  for (let k = 0; k < vocabulary; k++) {
    if (nextStates[stateStart + k]! >= 0) logits[rowStart + k] = logits[rowStart + k]! - norm;
  }
}
