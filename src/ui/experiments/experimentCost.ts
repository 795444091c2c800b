import { EXPERIMENTS, isExperiment } from '../../experiments/experimentList.ts';
import type { RunResult } from '../../experiments/runResult.ts';
import { plannedRunOf, type RunRequest } from './requests.ts';

/** Time of an imitation step relative to an update with as many rows. It has no rollouts and only one pass. */
const IMITATION_SHARE = 0.25;

/** How long runs will take, and how many updates they have in all. */
export interface Cost {
  readonly seconds: number;
  readonly updates: number;
  // true: on this machine; false: estimated from the shipped runs or guessed for one CPU core
  readonly measured: boolean;
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
): Cost {
  const measuredHere = results.filter((r) =>
    runs.some((run) => run.experiment === r.experiment && run.backend === r.config.backend),
  );
  const expected = (of: Work) => timeOf(of, sameArm(of, shipped)) ?? guess(of);
  const slowdown = ratio(measuredHere.map((result) => [result.seconds, expected(workOf(result))] as const));
  let [seconds, updates] = [0, 0];
  for (const run of runs) {
    const config = plannedRunOf(run)?.config;
    if (!config) continue; // this arm no longer exists
    const work = {
      experiment: run.experiment,
      arm: run.arm,
      updates: config.updates,
      imitation: config.imitationSteps,
    };
    seconds += timeOf(work, sameArm(work, measuredHere)) ?? expected(work) * slowdown;
    updates += config.updates;
  }
  return { seconds, updates, measured: measuredHere.length > 0 };
}

interface Work {
  readonly experiment: string;
  readonly arm: string;
  readonly updates: number;
  readonly imitation: number; // optimizer steps before the first update
}
function workOf({ experiment, arm, curve, config }: RunResult): Work {
  return { experiment, arm, updates: Math.max(1, curve.length), imitation: config.imitationSteps ?? 0 };
}
function sameArm({ experiment, arm }: Work, results: readonly RunResult[]): readonly RunResult[] {
  return results.filter((result) => result.experiment === experiment && result.arm === arm);
}

/** The time measured in finished runs of an arm. Undefined if none is finished. */
function timeOf(work: Work, finished: readonly RunResult[]): number | undefined {
  if (finished.length === 0) return undefined;
  const times = finished.map((run) => (run.seconds * inUpdates(work)) / inUpdates(workOf(run))).sort((a, b) => a - b);
  return times[Math.floor(times.length / 2)];
}
function guess(work: Work): number {
  return isExperiment(work.experiment) ? EXPERIMENTS[work.experiment].secondsPerUpdate * inUpdates(work) : 0;
}
/** The amount of work, in updates. Counts imitation steps too. */
function inUpdates({ updates, imitation }: Work): number {
  return updates + IMITATION_SHARE * imitation;
}
function ratio(pairs: readonly (readonly [number, number])[]): number {
  const sum = (of: 0 | 1) => pairs.reduce((total, pair) => total + pair[of], 0);
  return pairs.length > 0 ? sum(0) / sum(1) : 1;
}
