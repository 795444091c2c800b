import type { ChapterId } from '../chapters.ts';
import type { ExerciseText, Language, Texts } from './shape.ts';

const LOADERS: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: () => import('./en/texts.ts').then(({ EN }) => EN),
  de: () => import('./de/texts.ts').then(({ DE }) => DE),
};

/** All that Learn says in a language; rejects where its file cannot be loaded. */
export function loadTexts(language: Language): Promise<Texts> {
  return LOADERS[language]();
}

/** Words of an exercise whose ids come from data. Throws RangeError where the catalogue has none. */
export function exerciseText(texts: Texts, chapter: ChapterId, id: string): ExerciseText {
  const all: Readonly<Record<string, ExerciseText>> = texts.chapters[chapter].exercises;
  const found = all[id];
  if (!found) throw new RangeError(`the catalogue ${texts.language} has no exercise ${chapter}/${id}`);
  return found;
}
