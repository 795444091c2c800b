import { usesTouch } from '../browser/breakpoints.ts';
import { create } from 'zustand';
import { useLive } from '../view/liveStore.ts';
import { useSelection } from '../view/selectionStore.ts';
import { takeLab, returnLab } from './readerLab.ts';
import { type ArmPlan, type ArmResult, type Demonstration, type Exercise, type Finding, resultOf } from './exercise.ts';
import { recordResult } from './chapterProgress.ts';
import { keyOf } from './exerciseResult.ts';
import { showRecordedUpdate } from './recordedUpdateView.ts';
import { type LearnMessage, ExerciseError } from './learnMessage.ts';
import { parseConfig } from '../../config/config.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { ArmQueue, type Trainer } from '../../runs/armQueue.ts';
import type { Run } from '../../runs/run.ts';
import { currentRun } from '../runs/liveRun.ts';
import { step } from '../training/transport.ts';
import { useRuns } from '../runs/runStore.ts';
import { startPreset } from './chapterActions.ts';

interface ExerciseRunState {
  readonly key: string | null; // of the exercise under way, or of the last one that failed
  readonly progress: Progress | null; // null: the lab is being prepared
  readonly running: boolean;
  readonly failure: 'interrupted' | 'failed' | null;
  readonly failureReason: LearnMessage | null;
  readonly predictions: Readonly<Record<string, string>>; // predictions chosen but not yet checked, by exercise
}

export const useExerciseRun = create<ExerciseRunState>()(() => ({
  key: null,
  progress: null,
  running: false,
  failure: null,
  failureReason: null,
  predictions: {},
}));

let controller: AbortController | null = null;

export function predict(key: string, choice: string | null): void {
  useExerciseRun.setState(({ predictions }) => {
    const others = Object.entries(predictions).filter(([other]) => other !== key);
    return { predictions: Object.fromEntries(choice === null ? others : [...others, [key, choice]]) };
  });
}

/** Runs an exercise in the lab, checks the prediction and notes the result. */
export function doExercise(chapter: string, exercise: Exercise, predicted: string): Promise<void> {
  const key = keyOf(chapter, exercise.id);
  return demonstrate(key, exercise, (seen) => {
    recordResult(chapter, exercise.id, { predicted, at: new Date().toISOString(), ...seen });
    predict(key, null);
  });
}

/** What a demonstration showed: its finding, and the seed and backend of its runs (`recording` if nothing was trained). */
export interface Demonstrated extends Finding {
  readonly seed: number;
  readonly backend: string;
}

/** Shows a demonstration in the lab and hands over what it showed. Stops any other first. `key` names it. */
export async function demonstrate(
  key: string,
  demonstration: Demonstration,
  onShown: (seen: Demonstrated) => void,
): Promise<void> {
  stopExercise();
  const ownController = new AbortController();
  controller = ownController;
  const setOwnState = (changes: Partial<ExerciseRunState>) => {
    if (controller === ownController) useExerciseRun.setState(changes);
  };
  setOwnState({ key, running: true, progress: null, failure: null, failureReason: null });
  try {
    await takeLab();
    ownController.signal.throwIfAborted();
    useSelection.setState({ ...demonstration.labView, preview: null });
    const results = await armResultsOf(demonstration, (progress) => setOwnState({ progress }), ownController.signal);
    ownController.signal.throwIfAborted();
    const trained = demonstration.arms.length > 0;
    onShown({
      ...demonstration.findingOf(results),
      seed: results[0]?.config.seed ?? 0,
      backend: trained ? (useLive.getState().backend?.kind ?? 'cpu') : 'recording',
    });
    if (!usesTouch()) demonstration.selectExample?.(); // there it would open over the result
    setOwnState({ key: null, running: false });
  } catch (error) {
    const interrupted = error instanceof Interrupted;
    const failureReason = error instanceof ExerciseError ? error.reason : unexpectedFailure(error);
    setOwnState({ running: false, failure: interrupted ? 'interrupted' : 'failed', failureReason });
  }
}

/** Message for an error that Learn does not expect. */
function unexpectedFailure(error: unknown): LearnMessage {
  return { word: 'runFailed', values: { why: error instanceof Error ? error.message : String(error) } };
}

async function armResultsOf(
  { arms, shipped, recordedUpdate }: Demonstration,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<readonly ArmResult[]> {
  if (shipped) return shippedRuns(shipped);
  if (recordedUpdate) return [await showRecordedUpdate(recordedUpdate, signal)];
  return trainArms(arms, onProgress, signal);
}

/** Stops the exercise under way. Its run stays in the lab. */
export function stopExercise(): void {
  controller?.abort();
  controller = null;
  useExerciseRun.setState({ key: null, progress: null, running: false, failure: null, failureReason: null });
}

/** Leaves the chapter: stops the exercise under way and restores the reader's lab. */
export function leaveChapter(): void {
  stopExercise();
  void returnLab();
}

/** Progress of the arms: the index of the one under way, from 0, and its updates so far. */
export interface Progress {
  readonly arm: number;
  readonly update: number;
}

/** Trains them one after the other. Rejects if a run fails, a person presses Run or starts another run, or the signal aborts. */
export function trainArms(
  arms: readonly ArmPlan[],
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<readonly ArmResult[]> {
  return new Promise((resolve, reject) => {
    const results: ArmResult[] = [];
    const queue = new ArmQueue<ArmPlan, number, Run>(() => new LabTrainer(), {
      onBegin: () => onProgress({ arm: results.length, update: 0 }),
      onProgress: (_, update) => onProgress({ arm: results.length, update }),
      onDone: (_, run) => results.push(resultOf(run)),
      onFailure: (_, reason) => stop(reason instanceof Error ? reason : new Error(String(reason))),
      onEnd: () => resolve(results),
    });
    const stop = (reason: Error) => {
      reject(reason);
      queue.cancel(reason.message);
    };
    signal.addEventListener('abort', () => stop(new Error('It was left.')));
    queue.add(arms);
  });
}

/** Trains an arm as the lab's run, one update at a time, so that each can be watched. The run stays in the lab. */
class LabTrainer implements Trainer<ArmPlan, number, Run> {
  readonly cancellation = new AbortController();

  async train({ preset, set, updates }: ArmPlan, tell: (update: number) => void): Promise<Run> {
    const { signal } = this.cancellation;
    const previousRun = useLive.getState().run;
    startPreset(preset, set, false);
    await waitFor(() => useLive.getState().run > previousRun, signal);
    useRuns.setState({ replaced: null }); // no offer to undo: the reader's run is restored when the chapter is left
    const ownRun = useLive.getState().run;
    for (let k = 1; k <= updates; k++) {
      step();
      await waitFor(() => isUpdateDone(k), signal, ownRun);
      tell(k);
    }
    const [run, { batch, batchConfig }] = [currentRun(), useLive.getState()];
    const config = batchConfig ?? run?.config;
    if (!run || !config) throw new ExerciseError({ word: 'noBatch' });
    return { ...run, batches: [{ batch, config }] };
  }

  end(): void {
    this.cancellation.abort();
  }
}

/** The runs of an experiment's arm that are shipped with the page. Rejects if they cannot be loaded. */
export async function shippedRuns({
  experiment,
  arm,
}: NonNullable<Demonstration['shipped']>): Promise<readonly ArmResult[]> {
  // a chapter is read before its exercise is done
  const { EXPERIMENTS } = await import('../../experiments/experimentList.ts');
  const { loadShipped, useExperiments } = await import('../experiments/experimentStore.ts');
  await loadShipped(EXPERIMENTS[experiment]);
  const results = useExperiments
    .getState()
    .shippedResults.filter((result) => result.experiment === experiment && result.arm === arm);
  if (results.length === 0) throw new ExerciseError({ word: 'noShipped' });
  return results.map(({ config, curve, metrics }) => {
    const endValues = Object.entries(metrics).map(
      ([name, { best, last }]) => [name as MetricName, [best, last]] as const,
    );
    const curves = new Map<MetricName, readonly number[]>([...endValues, ['rollout/success', curve]]);
    return { batch: null, config: parseConfig(config), curves };
  });
}

/** Whether an update is done, its batch is in view and no step is under way. */
function isUpdateDone(update: number): boolean {
  const { stepping, update: done } = useLive.getState();
  return done >= update && !stepping && useLive.getState().batch.update === update && !useLive.getState().isExample;
}

/** Rejects with `Interrupted` if `ownRun` is given and another run replaces it. */
function waitFor(condition: () => boolean, signal: AbortSignal, ownRun?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      stop();
      signal.removeEventListener('abort', check);
      settle();
    };
    const check = () => {
      const { problem, running, run, session } = useLive.getState();
      const failed = problem !== null && problem.cause !== 'silent' && session !== 'starting';
      if (signal.aborted) end(() => reject(new Error('It was left.')));
      else if (failed) end(() => reject(new ExerciseError({ word: 'runFailed', values: { why: problem.message } })));
      else if (running || (ownRun !== undefined && run !== ownRun)) end(() => reject(new Interrupted()));
      else if (condition()) end(resolve);
    };
    const stop = useLive.subscribe(check);
    signal.addEventListener('abort', check);
    check();
  });
}

/** A person pressed Run or started another run before the exercise was done. */
class Interrupted extends Error {}
