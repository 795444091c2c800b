import type { Progress } from '../domain/progress.ts';
import type { RunConfig } from '../config/config.ts';
import type { Metrics } from '../domain/metrics.ts';
import { nextKlCoef } from './klController.ts';

/** The coefficient of KL in the reward from batch to batch. */
export interface Penalty {
  /** What multiplies the KL in this batch: the knob, or what the controller has made of it since the knob last moved. */
  coefficient(config: RunConfig): number;
  /** Adjusts the coefficient by the measured KL, if there is a target. */
  observe(measured: Metrics, config: RunConfig, rows: number): void;
}

/** The coefficient starts at the value of the knob, and starts again there when the knob changes. Its state is kept in `memory`. */
export function createPenalty(memory: Progress['penalty'] = { knob: 0, current: 0 }): Penalty {
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
