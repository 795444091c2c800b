import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CHAPTERS } from '../../src/ui/learn/chapters.ts';

test.each(CHAPTERS.map((chapter) => [chapter.title, chapter] as const))(
  '%s: at most 150 words with its formulas, and the files it names exist',
  (_, { text, formulas, source }) => {
    const words = [...text, ...formulas].join(' ').split(/\s+/);
    expect(words.length).toBeLessThanOrEqual(150);
    expect(words.length).toBeGreaterThan(40);
    const files = source.match(/src\/[\w/.]*\w/g) ?? [];
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(existsSync(file), file).toBe(true);
  },
);

test('the chapters are nine, with ids of their own', () => {
  expect(new Set(CHAPTERS.map(({ id }) => id)).size).toBe(9);
});
