import { parseConfig } from '../../config/config.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { loadShipped } from '../experiments/shipped.ts';
import { useExperiments } from '../experiments/experimentStore.ts';
import { live, useLive } from '../run/liveStore.ts';
import { step } from '../run/transport.ts';
import { useRuns } from '../runs/runStore.ts';
import { begin } from './chapterActions.ts';
import type { ArmPlan, Exercise, SeenArm } from './exercise.ts';
import { ExerciseError } from './learnMessage.ts';

/** How far the arms are: which is under way, from 0, and its updates so far. */
export interface Progress {
  readonly arm: number;
  readonly update: number;
}

/**
 * Trains arms in the lab, one after the other, an update at a time, so that each can be watched; resolves with what they left.
 * Rejects when the run fails, when somebody else sets it going or starts another, and when the signal says so.
 */
export async function trainArms(
  arms: readonly ArmPlan[],
  tell: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<readonly SeenArm[]> {
  const seen: SeenArm[] = [];
  for (const [at, { preset, set, updates }] of arms.entries()) {
    const before = useLive.getState().run;
    tell({ arm: at, update: 0 });
    begin(preset, set, false);
    await until(() => useLive.getState().run > before, signal);
    useRuns.setState({ replaced: null }); // what was there is given back when the chapter is left
    const own = useLive.getState().run;
    for (let k = 1; k <= updates; k++) {
      step();
      await until(() => isThrough(k), signal, own);
      tell({ arm: at, update: k });
    }
    seen.push(seenNow());
  }
  return seen;
}

/** The runs of an experiment's arm that are shipped with the page. Rejects where they cannot be loaded. */
export async function shippedRuns({ experiment, arm }: NonNullable<Exercise['shipped']>): Promise<readonly SeenArm[]> {
  await loadShipped(experiment);
  const results = useExperiments.getState().shipped[experiment]?.filter((result) => result.arm === arm) ?? [];
  if (results.length === 0) throw new ExerciseError({ word: 'noShipped' });
  return results.map(({ config, curve, metrics }) => {
    const ends = Object.entries(metrics).map(([name, { best, last }]) => [name as MetricName, [best, last]] as const);
    const curves = new Map<MetricName, readonly number[]>([...ends, ['rollout/success', curve]]);
    return { batch: null, config: parseConfig(config), curves };
  });
}

/** Whether an update is done, its batch is in view and the run stands still. */
function isThrough(update: number): boolean {
  const { stepping, update: done } = useLive.getState();
  return done >= update && !stepping && live.batch.update === update && !live.isExample;
}

function seenNow(): SeenArm {
  const { batch, batchConfig, series, config } = live;
  const made = batchConfig ?? config;
  if (!made) throw new ExerciseError({ word: 'noBatch' });
  const curves = new Map(
    Array.from(series, ([name, { points }]): [MetricName, number[]] => [name, Array.from(points.y)]),
  );
  return { batch, config: made, curves };
}

/** Resolves once a condition on the run holds. `own`: the run it is about; another one in its place is an interruption. */
function until(holds: () => boolean, signal: AbortSignal, own?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      stop();
      signal.removeEventListener('abort', look);
      settle();
    };
    const look = () => {
      const { problem, running, run, session } = useLive.getState();
      const failed = problem !== null && problem.cause !== 'silent' && session !== 'starting';
      if (signal.aborted) end(() => reject(new Error('It was left.')));
      else if (failed) end(() => reject(new ExerciseError({ word: 'runFailed', values: { why: problem.message } })));
      else if (running || (own !== undefined && run !== own)) end(() => reject(new Interrupted()));
      else if (holds()) end(resolve);
    };
    const stop = useLive.subscribe(look);
    signal.addEventListener('abort', look);
    look();
  });
}

/** Somebody pressed Run, or started another run, before the exercise was done. */
export class Interrupted extends Error {}
