import { create } from 'zustand';
import { keptText, putAside, readKeptText } from '../browser/keptText.ts';
import { notice } from '../browser/notices.ts';
import { keyOf, readResults, type Result, type Results } from './exerciseResult.ts';
import { ExerciseError } from './learnMessage.ts';

const STORAGE_KEY = 'rollout-playground-learn';

interface ProgressState {
  readonly results: Results;
  readonly last: string; // id of the chapter read last; empty before the first visit
  readonly student: string; // the reader's name in saved results; may be empty
  readonly handIns: number; // number of results files saved in this browser
}

const NO_PROGRESS: ProgressState = { results: {}, last: '', student: '', handIns: 0 };

/** The reader's progress in the chapters, stored in this browser. */
export const useProgress = create<ProgressState>()(() => storedProgress());

export function recordResult(chapter: string, exercise: string, result: Omit<Result, 'tries'>): void {
  const { results } = useProgress.getState();
  const key = keyOf(chapter, exercise);
  saveProgress({ results: { ...results, [key]: { ...result, tries: (results[key]?.tries ?? 0) + 1 } } });
}

/** Deletes all results. Keeps the name. */
export function deleteResults(): void {
  saveProgress({ results: {}, last: '' });
}

export function saveProgress(changes: Partial<ProgressState>): void {
  useProgress.setState(changes);
  const { results, last, student, handIns } = useProgress.getState();
  try {
    localStorage.setItem(STORAGE_KEY, keptText({ results, last, student, handIns }));
  } catch {
    // private windows may refuse storage; progress then lasts as long as the page
  }
}

function storedProgress(): ProgressState {
  let text: string | null = null;
  try {
    text = globalThis.localStorage.getItem(STORAGE_KEY);
  } catch {
    // storage is not available
  }
  if (text === null) return NO_PROGRESS;
  try {
    const fields = ['results', 'last', 'student', 'handIns', 'language'] as const; // the last was written until 2026-11-28
    const { results, last, student, handIns } = readKeptText(text, fields);
    return {
      results: readResults(results),
      last: typeof last === 'string' ? last : '',
      student: typeof student === 'string' ? student : '',
      handIns: typeof handIns === 'number' ? handIns : 0,
    };
  } catch (error) {
    putAside(STORAGE_KEY);
    const why =
      error instanceof Error && !(error instanceof ExerciseError) ? error.message : 'it holds results that are none.';
    notice(`Your progress in the chapters could not be read: ${why} A copy is kept, and the chapters start over.`);
    return NO_PROGRESS;
  }
}
