import { create } from 'zustand';
import { useLive } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { takeLab, returnLab } from './swapLab.ts';
import type { Exercise, SeenArm } from './exercise.ts';
import { note } from './chapterProgress.ts';
import { keyOf } from './exerciseResult.ts';
import { bringInView } from './recordedUpdateView.ts';
import { type LearnMessage, ExerciseError } from './learnMessage.ts';
import { Interrupted, type Progress, shippedRuns, trainArms } from './exerciseTraining.ts';

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
