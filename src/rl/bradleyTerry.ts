/** The loss of one preference, and its derivative with respect to the score of the better answer. */
export interface Preference {
  readonly loss: number; // nats
  readonly gradient: number; // with respect to the worse answer's score it is the opposite
}

/**
 * The negative log-likelihood that the better answer is preferred under Bradley & Terry (1952), as reward models are trained
 * (Ouyang et al. 2022, eq. 1): −log σ(Δ) with Δ = better − worse, and its derivative −(1 − σ(Δ)). Both are finite for every
 * finite Δ: no exponent is ever positive. A constant added to both scores changes nothing.
 */
export function preferenceLoss(better: number, worse: number): Preference {
  const delta = better - worse;
  const tail = Math.exp(-Math.abs(delta));
  return {
    loss: Math.max(0, -delta) + Math.log1p(tail),
    gradient: delta >= 0 ? -tail / (1 + tail) : -1 / (1 + tail),
  };
}
