import type { CreditBatch } from '../model/learningMath.ts';
import type { KlEstimator } from '../model/learningSettings.ts';
import { klEstimate } from './objective.ts';
import type { Progress } from '../domain/progress.ts';
import type { RunConfig } from '../config/config.ts';
import type { Metrics } from '../domain/metrics.ts';

/** Largest relative error that the controller reacts to, so that one odd batch cannot change the coefficient much. */
const MAX_ERROR = 0.2;

/**
 * Returns the next coefficient of KL in the reward (Ziegler et al. 2019, §2.2; verl `AdaptiveKLController`): coef·(1 +
 * e·rows/horizon) with e = clamp(measured/target − 1, ±0.2). `measured` and `target` are in nats per token, `rows` is
 * the batch's B, and `horizon` is the number of rows in which a lasting error of 1 would double the coefficient. A
 * coefficient of 0 stays 0. Throws on a target or a horizon that is not positive, and on a measurement that is not
 * finite.
 */
export function nextKlCoef(coef: number, measured: number, target: number, horizon: number, rows: number): number {
  if (!(target > 0) || !(horizon > 0) || !Number.isFinite(measured)) {
    throw new RangeError(
      `nextKlCoef: KL is ${measured}, target ${target}, horizon ${horizon}. The KL must be finite and the others above 0.`,
    );
  }
  const error = Math.min(MAX_ERROR, Math.max(-MAX_ERROR, measured / target - 1));
  return coef * (1 + (error * rows) / horizon);
}

/** KL in nats per token: mean over each row's masked tokens, then over rows with any (verl `apply_kl_penalty`); 0 if there is none. */
export function meanRowKl(
  { rows, length, oldLogprobs, refLogprobs }: Omit<CreditBatch, 'roles' | 'values'>,
  mask: ArrayLike<number>,
  estimator: KlEstimator,
): number {
  let sum = 0;
  let counted = 0;
  for (let b = 0; b < rows; b++) {
    let rowKl = 0;
    let tokens = 0;
    for (let at = b * length; at < (b + 1) * length; at++) {
      if (mask[at] === 0) continue;
      rowKl += klEstimate(oldLogprobs[at]!, refLogprobs[at]!, estimator).kl;
      tokens++;
    }
    if (tokens === 0) continue;
    sum += rowKl / tokens;
    counted++;
  }
  return counted === 0 ? 0 : sum / counted;
}

interface KlController {
  /** The knob's value, or what the controller has made of it since the knob last changed. */
  coefficient(config: RunConfig): number;
  /** Adjusts the coefficient by the measured KL, if there is a target. */
  observe(measured: Metrics, config: RunConfig, rows: number): void;
}

/**
 * Its coefficient starts at the value of the knob `klRewardCoef`, and again whenever the knob changes. The controller
 * keeps its state in `memory`.
 */
export function createKlController(memory: Progress['penalty'] = { knob: 0, current: 0 }): KlController {
  return {
    coefficient({ klRewardCoef }) {
      if (klRewardCoef !== memory.knob) memory.knob = memory.current = klRewardCoef;
      return memory.current;
    },
    observe(measured, { klTarget, klHorizon }, rows) {
      const kl = measured['actor/reward_kl_penalty'];
      if (klTarget > 0 && kl !== undefined) {
        memory.current = nextKlCoef(memory.current, kl, klTarget, klHorizon, rows);
      }
    },
  };
}
