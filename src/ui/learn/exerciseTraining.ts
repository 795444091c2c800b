import { parseConfig } from '../../config/config.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { ArmQueue, type Trainer } from '../../runs/armQueue.ts';
import type { Run } from '../../runs/run.ts';
import { loadShipped } from '../experiments/shipped.ts';
import { useExperiments } from '../experiments/experimentStore.ts';
import { currentRun } from '../run/liveRun.ts';
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
 * Trains arms in the lab, one after the other; resolves with what they left. Rejects when a run fails, when somebody else sets it going or
 * starts another, and when the signal says so.
 */
export function trainArms(
  arms: readonly ArmPlan[],
  tell: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<readonly SeenArm[]> {
  return new Promise((resolve, reject) => {
    const seen: SeenArm[] = [];
    const queue = new ArmQueue<ArmPlan, number, Run>(() => new LabTrainer(), {
      onBegin: () => tell({ arm: seen.length, update: 0 }),
      onNews: (_, update) => tell({ arm: seen.length, update }),
      onDone: (_, run) => seen.push(seenOf(run)),
      onFailure: (_, reason) => stop(reason instanceof Error ? reason : new Error(String(reason))),
      onEnd: () => resolve(seen),
    });
    const stop = (reason: Error) => {
      reject(reason);
      queue.cancel(reason.message);
    };
    signal.addEventListener('abort', () => stop(new Error('It was left.')));
    queue.add(arms);
  });
}

/** Trains arms as the run of the lab, an update at a time, so that each can be watched. What it has trained stays there. */
class LabTrainer implements Trainer<ArmPlan, number, Run> {
  readonly #leaving = new AbortController();

  async train({ preset, set, updates }: ArmPlan, tell: (update: number) => void): Promise<Run> {
    const { signal } = this.#leaving;
    const before = useLive.getState().run;
    begin(preset, set, false);
    await until(() => useLive.getState().run > before, signal);
    useRuns.setState({ replaced: null }); // what was there is given back when the chapter is left
    const own = useLive.getState().run;
    for (let k = 1; k <= updates; k++) {
      step();
      await until(() => isThrough(k), signal, own);
      tell(k);
    }
    const [run, { batch, batchConfig }] = [currentRun(), live];
    const config = batchConfig ?? run?.config;
    if (!run || !config) throw new ExerciseError({ word: 'noBatch' });
    return { ...run, batches: [{ batch, config }] };
  }

  end(): void {
    this.#leaving.abort();
  }
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

function seenOf({ batches, config, series }: Run): SeenArm {
  const kept = batches.at(-1);
  const curves = Array.from(series, ([name, { points }]) => [name, Array.from(points.y)] as const);
  return { batch: kept?.batch ?? null, config: kept?.config ?? config, curves: new Map(curves) };
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
