import type { ChapterId } from './chapters.ts';
import type { LearnMessage } from './learnMessage.ts';
import { CHAPTER_TEXTS } from './chapterTexts.ts';
import { fill } from './fill.ts';
import { type LearnWord, WORDS } from './learnWords.ts';
import type { ExerciseText } from './shape.ts';

export function say(word: LearnWord, values: LearnMessage['values'] = {}): string {
  const filled = Object.entries(values).map(([name, value]) => {
    return [name, typeof value === 'object' ? say(value.word, value.values) : value] as const;
  });
  return fill(WORDS[word], Object.fromEntries(filled));
}

/** Texts of an exercise, for ids that come from data. Throws RangeError if there is none. */
export function exerciseText(chapter: ChapterId, id: string): ExerciseText {
  const exercises: Readonly<Record<string, ExerciseText>> = CHAPTER_TEXTS[chapter].exercises;
  const text = exercises[id];
  if (!text) throw new RangeError(`Learn has no exercise ${chapter}/${id}`);
  return text;
}
