import { create } from 'zustand';
import { useLive, live } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { takeLab, returnLab } from './swapLab.ts';
import type { Exercise, SeenArm, ArmPlan } from './exercise.ts';
import { note } from './chapterProgress.ts';
import { keyOf } from './exerciseResult.ts';
import { bringInView } from './recordedUpdateView.ts';
import { type LearnMessage, ExerciseError } from './learnMessage.ts';
import { parseConfig } from '../../config/config.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { ArmQueue, type Trainer } from '../../runs/armQueue.ts';
import type { Run } from '../../runs/run.ts';
import { loadShipped } from '../experiments/shipped.ts';
import { useExperiments } from '../experiments/experimentStore.ts';
import { currentRun } from '../run/liveRun.ts';
import { step } from '../run/transport.ts';
import { useRuns } from '../runs/runStore.ts';
import { begin } from './chapterActions.ts';

interface ExerciseRunState {
  readonly key: string | null; // of the exercise under way, or of the one that failed last
  readonly progress: Progress | null; // null: the lab is made ready
  readonly running: boolean;
  readonly failed: 'interrupted' | 'failed' | null;
  readonly why: LearnMessage | null; // it failed
  readonly predictions: Readonly<Record<string, string>>; // chosen and not yet checked, by exercise
}

/** The exercise under way. */
export const useExerciseRun = create<ExerciseRunState>()(() => ({
  key: null,
  progress: null,
  running: false,
  failed: null,
  why: null,
  predictions: {},
}));

let controller: AbortController | null = null;

/** Chooses a prediction; null takes it back. */
export function predict(key: string, choice: string | null): void {
  useExerciseRun.setState(({ predictions }) => {
    const others = Object.entries(predictions).filter(([other]) => other !== key);
    return { predictions: Object.fromEntries(choice === null ? others : [...others, [key, choice]]) };
  });
}

/** Does an exercise in the lab, checks the prediction from what came out, and notes the result; one under way is stopped. */
export async function doExercise(chapter: string, exercise: Exercise, predicted: string): Promise<void> {
  stopExercise();
  const own = new AbortController();
  controller = own;
  const key = keyOf(chapter, exercise.id);
  const tell = (news: Partial<ExerciseRunState>) => {
    if (controller === own) useExerciseRun.setState(news);
  };
  tell({ key, running: true, progress: null, failed: null, why: null });
  try {
    await takeLab();
    own.signal.throwIfAborted();
    useSelection.setState({ ...exercise.look, preview: null });
    const seen = await armsOf(exercise, (progress) => tell({ progress }), own.signal);
    own.signal.throwIfAborted();
    const { answer, numbers } = exercise.find(seen);
    note(chapter, exercise.id, {
      ...{ predicted, answer, numbers, at: new Date().toISOString() },
      seed: seen[0]?.config.seed ?? 0,
      backend: exercise.arms.length > 0 ? (useLive.getState().backend?.kind ?? 'cpu') : 'recording',
    });
    predict(key, null);
    exercise.point?.();
    tell({ key: null, running: false });
  } catch (error) {
    const interrupted = error instanceof Interrupted;
    const why = error instanceof ExerciseError ? error.said : unforeseen(error);
    tell({ running: false, failed: interrupted ? 'interrupted' : 'failed', why });
  }
}

function unforeseen(error: unknown): LearnMessage {
  return { word: 'runFailed', values: { why: error instanceof Error ? error.message : String(error) } };
}

/** What an exercise is checked from: arms trained now, runs that are shipped, or a recorded batch. */
async function armsOf(
  { arms, shipped, reads }: Exercise,
  tell: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<readonly SeenArm[]> {
  if (shipped) return shippedRuns(shipped);
  if (reads) return [await bringInView(reads, signal)];
  return trainArms(arms, tell, signal);
}

/** Stops the exercise under way; what it has trained stays in the lab. */
export function stopExercise(): void {
  controller?.abort();
  controller = null;
  useExerciseRun.setState({ key: null, progress: null, running: false, failed: null, why: null });
}

/** The chapter is left: what is under way stops, and the reader's lab is given back. */
export function leaveChapter(): void {
  stopExercise();
  void returnLab();
}

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
  const lastBatch = batches.at(-1);
  const curves = Array.from(series, ([name, { points }]) => [name, Array.from(points.y)] as const);
  return { batch: lastBatch?.batch ?? null, config: lastBatch?.config ?? config, curves: new Map(curves) };
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
class Interrupted extends Error {}
