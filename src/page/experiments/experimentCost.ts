import { knownPlan, type OwnPlans } from '../../experiments/experimentPlan.ts';
import type { RunResult } from '../../experiments/runResult.ts';
import { plannedRunOf, type RunRequest } from './requests.ts';

/** Time of an imitation step relative to an update with as many rows. It has no rollouts and only one epoch. */
const IMITATION_SHARE = 0.25;

export interface Cost {
  readonly seconds: number;
  readonly updates: number;
  // true: on this machine; false: estimated from the shipped runs or guessed for one CPU core
  readonly isMeasured: boolean;
}

/**
 * How long `runs` will take. A run's time is estimated from runs of the same arm finished on this machine, scaled by
 * the number of updates. If there are none, the shipped or guessed time is multiplied by how much slower this machine
 * was for other runs.
 */
export function costOf(
  runs: readonly RunRequest[],
  results: readonly RunResult[],
  shipped: readonly RunResult[],
  own?: OwnPlans,
): Cost {
  const pageResults = results.filter((r) =>
    runs.some((run) => run.experiment === r.experiment && run.backend === r.config.backend),
  );
  const expectedSeconds = (of: RunWork) => measuredSeconds(of, resultsOfArm(of, shipped)) ?? guessedSeconds(of, own);
  const slowdown = ratio(pageResults.map((result) => [result.seconds, expectedSeconds(workOf(result))] as const));
  let [seconds, updates] = [0, 0];
  for (const run of runs) {
    const config = plannedRunOf(run, own)?.config;
    if (!config) continue; // this arm no longer exists
    const work = {
      experiment: run.experiment,
      arm: run.arm,
      updates: config.updates,
      imitationSteps: config.imitationSteps,
    };
    seconds += measuredSeconds(work, resultsOfArm(work, pageResults)) ?? expectedSeconds(work) * slowdown;
    updates += config.updates;
  }
  return { seconds, updates, isMeasured: pageResults.length > 0 };
}

interface RunWork {
  readonly experiment: string;
  readonly arm: string;
  readonly updates: number;
  readonly imitationSteps: number; // optimizer steps before the first update
}
function workOf({ experiment, arm, curve, config }: RunResult): RunWork {
  return { experiment, arm, updates: Math.max(1, curve.length), imitationSteps: config.imitationSteps ?? 0 };
}
function resultsOfArm({ experiment, arm }: RunWork, results: readonly RunResult[]): readonly RunResult[] {
  return results.filter((result) => result.experiment === experiment && result.arm === arm);
}

function measuredSeconds(work: RunWork, finished: readonly RunResult[]): number | undefined {
  if (finished.length === 0) return undefined;
  const times = finished
    .map((run) => (run.seconds * workInUpdates(work)) / workInUpdates(workOf(run)))
    .sort((a, b) => a - b);
  return times[Math.floor(times.length / 2)];
}
function guessedSeconds(work: RunWork, own: OwnPlans | undefined): number {
  return (knownPlan(work.experiment, own)?.experiment.secondsPerUpdate ?? 0) * workInUpdates(work);
}
/** The amount of work, in updates. Counts imitation steps too. */
function workInUpdates({ updates, imitationSteps }: RunWork): number {
  return updates + IMITATION_SHARE * imitationSteps;
}
function ratio(pairs: readonly (readonly [number, number])[]): number {
  const sum = (of: 0 | 1) => pairs.reduce((total, pair) => total + pair[of], 0);
  return pairs.length > 0 ? sum(0) / sum(1) : 1;
}
