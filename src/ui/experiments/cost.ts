import { EXPERIMENTS } from '../../experiments/catalogue.ts';
import type { Plan } from '../../experiments/plan.ts';
import type { RunResult } from '../../experiments/result.ts';

/** How long one update of a plan's runs takes: measured on finished runs of the same backend, else guessed. */
export function secondsPerUpdate(
  plan: Plan,
  results: readonly RunResult[],
): { readonly seconds: number; readonly measured: boolean } {
  const rates = results
    .filter((r) => r.experiment === plan.experiment && r.config.backend === plan.backend && r.curve.length > 0)
    .map((r) => r.seconds / r.curve.length)
    .sort((a, b) => a - b);
  const median = rates[Math.floor(rates.length / 2)];
  return median === undefined
    ? { seconds: EXPERIMENTS[plan.experiment].secondsPerUpdate, measured: false }
    : { seconds: median, measured: true };
}
