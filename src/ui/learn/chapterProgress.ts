import { create } from 'zustand';
import { keptText, putAside, readKeptText } from '../parts/keptText.ts';
import { notice } from '../shell/notices.ts';
import { keyOf, readResults, type Result, type Results } from './exerciseResult.ts';
import { ExerciseError } from './learnMessage.ts';
import { isLanguage, type Language } from './texts/shape.ts';

const KEY = 'rollout-playground-learn';

interface ProgressState {
  readonly results: Results;
  readonly last: string; // id of the chapter read last; empty before the first
  readonly language: Language; // chosen last
  readonly student: string; // as the reader signs results; may be empty
  readonly handIns: number; // files of results that were saved here
}

const NOTHING: ProgressState = { results: {}, last: '', language: 'en', student: '', handIns: 0 };

/** How far the reader is with the chapters. It stays in this browser. */
export const useProgress = create<ProgressState>()(() => kept());

/** Notes what came of an exercise; one that was done before counts one try more. */
export function note(chapter: string, exercise: string, result: Omit<Result, 'tries'>): void {
  const { results } = useProgress.getState();
  const key = keyOf(chapter, exercise);
  remember({ results: { ...results, [key]: { ...result, tries: (results[key]?.tries ?? 0) + 1 } } });
}

/** Forgets every result; the language and the name stay. */
export function startOver(): void {
  remember({ results: {}, last: '' });
}

/** Changes the progress and keeps it for the next visit. */
export function remember(changes: Partial<ProgressState>): void {
  useProgress.setState(changes);
  const { results, last, language, student, handIns } = useProgress.getState();
  try {
    localStorage.setItem(KEY, keptText({ results, last, language, student, handIns }));
  } catch {
    // private windows may refuse storage; progress then lasts as long as the page
  }
}

function kept(): ProgressState {
  let text: string | null = null;
  try {
    text = globalThis.localStorage.getItem(KEY);
  } catch {
    // no storage here
  }
  if (text === null) return NOTHING;
  try {
    const known = ['results', 'last', 'language', 'student', 'handIns'] as const;
    const { results, last, language, student, handIns } = readKeptText(text, known);
    return {
      results: readResults(results),
      last: typeof last === 'string' ? last : '',
      language: isLanguage(language) ? language : 'en',
      student: typeof student === 'string' ? student : '',
      handIns: typeof handIns === 'number' ? handIns : 0,
    };
  } catch (error) {
    putAside(KEY);
    const why =
      error instanceof Error && !(error instanceof ExerciseError) ? error.message : 'it holds results that are none.';
    notice(`Your progress in the chapters could not be read: ${why} A copy is kept, and the chapters start over.`);
    return NOTHING;
  }
}
