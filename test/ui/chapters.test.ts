import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contradictions } from '../../src/config/contradictions.ts';
import { presetConfig } from '../../src/ui/knobs/configStore.ts';
import { CHAPTERS } from '../../src/ui/learn/chapters.ts';
import type { Exercise } from '../../src/ui/learn/exercise.ts';
import { loadTexts } from '../../src/ui/learn/texts/catalogue.ts';
import { LANGUAGES, type Language, type Texts } from '../../src/ui/learn/texts/shape.ts';
import { minutesOf } from '../../src/ui/learn/minutes.ts';
import { fill, placeholdersOf } from '../../src/ui/learn/texts/fill.ts';

const CODES = Object.keys(LANGUAGES) as Language[];
const catalogues = await Promise.all(CODES.map(loadTexts));
const english = await loadTexts('en');
const exercises = CHAPTERS.flatMap(({ id, exercises: all }) =>
  all.map((exercise: Exercise) => ({ chapter: id, exercise })),
);

/** Every sentence of a catalogue by where it stands: `chapters.clip.exercises.tight.seen`. */
function sentences(value: unknown, at = ''): [string, string][] {
  if (typeof value === 'string') return [[at, value]];
  return Object.entries(value as object).flatMap(([key, inner]) => sentences(inner, at === '' ? key : `${at}.${key}`));
}

function exerciseWords(
  { chapters }: Texts,
  chapter: string,
  id: string,
): Readonly<Record<string, unknown>> | undefined {
  const all: Readonly<Record<string, { exercises: object }>> = chapters;
  return (all[chapter]?.exercises as Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined)?.[id];
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

test.each(catalogues.flatMap((texts) => CHAPTERS.map(({ id }) => [texts.language, id, texts.chapters[id]] as const)))(
  '%s, %s: at most 150 words with its formulas',
  (_, __, { text, formulas }) => {
    const words = [...text, ...formulas].join(' ').split(/\s+/);
    expect(words.length).toBeLessThanOrEqual(150);
    expect(words.length).toBeGreaterThan(40);
  },
);

test.each(catalogues.map((texts) => [texts.language, texts] as const))(
  'the catalogue %s has the sentences of the English one, each with the same places, and none is empty',
  (_, texts) => {
    const [own, wanted] = [texts, english].map(
      (each) => new Map(sentences({ words: each.words, chapters: each.chapters, tour: each.tour })),
    );
    expect([...(own?.keys() ?? [])].toSorted()).toEqual([...(wanted?.keys() ?? [])].toSorted());
    expect(own?.size).toBeGreaterThan(200);
    for (const [at, sentence] of own ?? []) {
      expect(sentence.trim(), at).not.toBe('');
      expect(placeholdersOf(sentence), at).toEqual(placeholdersOf(wanted?.get(at) ?? ''));
      // a brace that is no place would be read as it stands; formulas have their own
      if (!at.includes('.formulas.')) expect(fill(sentence, {}), at).not.toMatch(/[{}]/);
    }
  },
);

test('a language differs from English in its sentences, or it would be none', () => {
  const [de, en] = [catalogues.find(({ language }) => language === 'de'), english].map((texts) =>
    sentences({ ...texts?.chapters, tour: texts?.tour.stops }),
  );
  const same = de?.filter(([, sentence], i) => sentence === en?.[i]?.[1]).map(([at]) => at) ?? [];
  expect(same.filter((at) => !at.includes('.formulas.') && !at.endsWith('.title'))).toEqual([]);
});

test.each(exercises.map(({ chapter, exercise }) => [chapter, exercise.id, exercise] as const))(
  '%s, %s: its words name its choices and no others, and its knobs can run together',
  (chapter, id, exercise) => {
    for (const texts of catalogues) {
      const words = exerciseWords(texts, chapter, id);
      expect(Object.keys(words?.['choices'] as object), texts.language).toEqual([...exercise.choices]);
    }
    for (const { preset, set } of exercise.arms)
      expect(contradictions({ ...presetConfig(preset), ...set })).toEqual([]);
  },
);

test('numbers of a sentence are written as its language does, and one that is missing is n/a', () => {
  const sentence = '{a:number} of {b:count}, {c:percent}, {d:text}; {e:number}';
  const values = { a: 0.1282, b: 2970.2, c: 0.0347, d: 'x.y' };
  expect(fill('{a:signed} {b:signed}', { a: 0.1282, b: -0.5 }, ',')).toBe('+0,128 −0,5');
  expect(fill(sentence, values, ',')).toBe('0,128 of 2.970, 3 %, x.y; n/a');
  expect(fill(sentence, values)).toBe('0.128 of 2,970, 3 %, x.y; n/a');
});

test.each(catalogues.map((texts) => [texts.language, texts] as const))(
  '%s: a chapter takes a few minutes, all of them half an hour and more',
  (_, texts) => {
    const minutes = CHAPTERS.map(({ id }) => minutesOf(texts, id));
    for (const each of minutes) expect(each >= 2 && each <= 6).toBe(true);
    const all = minutes.reduce((sum, each) => sum + each, 0);
    expect(all).toBeGreaterThanOrEqual(30);
    expect(all).toBeLessThanOrEqual(45);
  },
);
