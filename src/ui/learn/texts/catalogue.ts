import type { ChapterId } from '../chapters.ts';
import type { ExerciseText, Language, Texts } from './shape.ts';

const LOADERS: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: () => import('./en/texts.ts').then(({ EN }) => EN),
  de: () => import('./de/texts.ts').then(({ DE }) => DE),
};

/** Loads all texts of Learn in a language. Rejects if their file cannot be loaded. */
export function loadTexts(language: Language): Promise<Texts> {
  return LOADERS[language]();
}

/** Texts of an exercise, for ids that come from data. Throws RangeError if the catalogue has none. */
export function exerciseText(texts: Texts, chapter: ChapterId, id: string): ExerciseText {
  const exercises: Readonly<Record<string, ExerciseText>> = texts.chapters[chapter].exercises;
  const text = exercises[id];
  if (!text) throw new RangeError(`the catalogue ${texts.language} has no exercise ${chapter}/${id}`);
  return text;
}
