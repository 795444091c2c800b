import type { ChapterId } from './chapters.ts';
import { chapterNamed } from './chapters.ts';
import type { Exercise } from './exercise.ts';
import { exerciseText } from './texts/catalogue.ts';
import type { Texts } from './texts/shape.ts';

const WORDS_A_MINUTE = 120; // of a dense text, read once
const A_PREDICTION = 0.5; // min: what comes out is thought about, and looked at in the lab
const A_RUN = 0.5; // min: it trains on a CPU

/** About how long a chapter takes, in minutes: its words at a slow reader's pace, a prediction an exercise, and what trains. */
export function minutesOf(texts: Texts, chapter: ChapterId): number {
  const { text, formulas } = texts.chapters[chapter];
  const exercises: readonly Exercise[] = chapterNamed(chapter)?.exercises ?? [];
  const exerciseTexts = exercises.flatMap(({ id }) => {
    const { question, choices, seen, why } = exerciseText(texts, chapter, id);
    return [question, ...Object.values(choices), seen, why];
  });
  const words = [...text, ...formulas, ...exerciseTexts].join(' ').split(/\s+/).length;
  const runs = exercises.reduce((sum, { arms }) => sum + arms.length, 0);
  return Math.ceil(words / WORDS_A_MINUTE + exercises.length * A_PREDICTION + runs * A_RUN);
}
