import { type ChapterId, chapterNamed } from './chapters.ts';
import type { Exercise } from './exercise.ts';
import { exerciseText } from './catalogue.ts';
import { CHAPTER_TEXTS } from './chapterTexts.ts';

const WORDS_PER_MINUTE = 120; // reading speed for a dense text
const MINUTES_PER_PREDICTION = 0.5; // to think about the result and look at it in the lab
const MINUTES_PER_RUN = 0.5; // to train on a CPU

/** Estimated minutes for a chapter: reading slowly, one prediction per exercise, and training. */
export function minutesOf(chapter: ChapterId): number {
  const { text, formulas } = CHAPTER_TEXTS[chapter];
  const exercises: readonly Exercise[] = chapterNamed(chapter)?.exercises ?? [];
  const exerciseTexts = exercises.flatMap(({ id }) => {
    const { question, choices, seen, why } = exerciseText(chapter, id);
    return [question, ...Object.values(choices), seen, why];
  });
  const words = [...text, ...formulas, ...exerciseTexts].join(' ').split(/\s+/).length;
  const runs = exercises.reduce((sum, { arms }) => sum + arms.length, 0);
  return Math.ceil(words / WORDS_PER_MINUTE + exercises.length * MINUTES_PER_PREDICTION + runs * MINUTES_PER_RUN);
}
