import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contradictions } from '../../src/config/contradictions.ts';
import { presetConfig } from '../../src/page/knobs/configStore.ts';
import { CHAPTERS } from '../../src/page/learn/chapters.ts';
import type { Exercise } from '../../src/page/learn/exercise.ts';
import { minutesOf } from '../../src/page/learn/minutes.ts';
import { exerciseText } from '../../src/page/learn/catalogue.ts';
import { CHAPTER_TEXTS } from '../../src/page/learn/chapterTexts.ts';
import { fill } from '../../src/page/learn/fill.ts';
import { WORDS } from '../../src/page/learn/learnWords.ts';
import { TOUR } from '../../src/page/learn/tourTexts.ts';

const exercises = CHAPTERS.flatMap(({ id, exercises: all }) =>
  all.map((exercise: Exercise) => ({ chapter: id, exercise })),
);

/** Every sentence of a catalogue by where it stands: `chapters.clip.exercises.tight.seen`. */
function sentences(value: unknown, at = ''): [string, string][] {
  if (typeof value === 'string') return [[at, value]];
  return Object.entries(value as object).flatMap(([key, inner]) => sentences(inner, at === '' ? key : `${at}.${key}`));
}

test('there are ten chapters or more, with ids of their own, and each has an exercise', () => {
  expect(new Set(CHAPTERS.map(({ id }) => id)).size).toBeGreaterThanOrEqual(10);
  for (const { id, exercises: all } of CHAPTERS) expect(all.length, id).toBeGreaterThan(0);
});

test.each(CHAPTERS.map(({ id, source }) => [id, source] as const))('%s: the files it names exist', (_, source) => {
  const files = source.match(/src\/[\w/.]*\w/g) ?? [];
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect(existsSync(file), file).toBe(true);
});

test.each(CHAPTERS.map(({ id }) => id))('%s: at most 150 words with its formulas', (id) => {
  const { text, formulas } = CHAPTER_TEXTS[id];
  const words = [...text, ...formulas].join(' ').split(/\s+/);
  expect(words.length).toBeLessThanOrEqual(150);
  expect(words.length).toBeGreaterThan(40);
});

test('no sentence of Learn is empty or has a brace that is no placeholder', () => {
  const all = sentences({ words: WORDS, chapters: CHAPTER_TEXTS, tour: TOUR });
  expect(all.length).toBeGreaterThan(200);
  for (const [at, sentence] of all) {
    expect(sentence.trim(), at).not.toBe('');
    if (!at.includes('.formulas.')) expect(fill(sentence, {}), at).not.toMatch(/[{}]/); // formulas have braces of their own
  }
});

test.each(exercises.map(({ chapter, exercise }) => [chapter, exercise.id, exercise] as const))(
  '%s, %s: its words name its choices and no others, and its knobs can run together',
  (chapter, id, exercise) => {
    expect(Object.keys(exerciseText(chapter, id).choices)).toEqual([...exercise.choices]);
    for (const { preset, set } of exercise.arms)
      expect(contradictions({ ...presetConfig(preset), ...set })).toEqual([]);
  },
);

test('numbers of a sentence are written by their format, and a missing one is n/a', () => {
  const sentence = '{a:number} of {b:count}, {c:percent}, {d:text}; {e:number}';
  const values = { a: 0.1282, b: 2970.2, c: 0.0347, d: 'x.y' };
  expect(fill('{a:signed} {b:signed}', { a: 0.1282, b: -0.5 })).toBe('+0.128 −0.5');
  expect(fill(sentence, values)).toBe('0.128 of 2,970, 3 %, x.y; n/a');
});

test('a chapter takes a few minutes, all of them half an hour to fifty minutes', () => {
  const minutes = CHAPTERS.map(({ id }) => minutesOf(id));
  for (const each of minutes) expect(each >= 2 && each <= 6).toBe(true);
  const all = minutes.reduce((sum, each) => sum + each, 0);
  expect(all).toBeGreaterThanOrEqual(30);
  expect(all).toBeLessThanOrEqual(50);
});
