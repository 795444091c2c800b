import type { RunConfig } from '../config.ts';
import type { Metrics } from '../metrics.ts';
import { nextKlCoef } from './klController.ts';

/** The coefficient of KL in the reward from batch to batch. */
export interface Penalty {
  /** What multiplies the KL in this batch: the knob, or what the controller has made of it since the knob last moved. */
  coefficient(config: RunConfig): number;
  /** Steers it by the KL that was measured, where there is a target. */
  observe(measured: Metrics, config: RunConfig, rows: number): void;
}

/** Starts at the knob; moving the knob starts anew. */
export function createPenalty(): Penalty {
  let knob = 0;
  let current = 0;
  return {
    coefficient({ klRewardCoef }) {
      if (klRewardCoef !== knob) knob = current = klRewardCoef;
      return current;
    },
    observe(measured, { klTarget, klHorizon }, rows) {
      const kl = measured['actor/reward_kl_penalty'];
      if (klTarget > 0 && kl !== undefined) current = nextKlCoef(current, kl, klTarget, klHorizon, rows);
    },
  };
}
