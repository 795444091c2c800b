import type { ChapterId } from './chapters.ts';
import { chapterNamed } from './chapters.ts';
import type { Exercise } from './exercise.ts';
import { exerciseText } from './texts/catalogue.ts';
import type { Texts } from './texts/shape.ts';

const WORDS_PER_MINUTE = 120; // reading speed for a dense text
const MINUTES_PER_PREDICTION = 0.5; // to think about the result and look at it in the lab
const MINUTES_PER_RUN = 0.5; // to train on a CPU

/** Estimated minutes for a chapter: reading slowly, one prediction per exercise, and training. */
export function minutesOf(texts: Texts, chapter: ChapterId): number {
  const { text, formulas } = texts.chapters[chapter];
  const exercises: readonly Exercise[] = chapterNamed(chapter)?.exercises ?? [];
  const exerciseTexts = exercises.flatMap(({ id }) => {
    const { question, choices, seen, why } = exerciseText(texts, chapter, id);
    return [question, ...Object.values(choices), seen, why];
  });
  const words = [...text, ...formulas, ...exerciseTexts].join(' ').split(/\s+/).length;
  const runs = exercises.reduce((sum, { arms }) => sum + arms.length, 0);
  return Math.ceil(words / WORDS_PER_MINUTE + exercises.length * MINUTES_PER_PREDICTION + runs * MINUTES_PER_RUN);
}
