import { expect, test, vi } from 'vitest';
import { ExerciseError, sentenceOf } from '../../src/ui/learn/learnMessage.ts';
import { loadTexts } from '../../src/ui/learn/texts/catalogue.ts';

test('runs that are shipped and cannot be loaded are told of in the language of the page', async () => {
  vi.stubGlobal('location', { hash: '', href: 'http://lab.example/' });
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
  const { shippedRuns } = await import('../../src/ui/learn/exerciseRun.ts');
  const error: unknown = await shippedRuns({ experiment: 'echo-trap', arm: 'break-it' }).catch((why: unknown) => why);
  if (!(error instanceof ExerciseError)) throw new Error(`got ${String(error)}, want Learn’s own words`);
  expect(sentenceOf(await loadTexts('de'), error.reason)).toMatch(/^Die aufgezeichneten Läufe konnten nicht/);
  expect(sentenceOf(await loadTexts('en'), error.reason)).toMatch(/^The recorded runs could not be loaded/);
});

test('a sentence within a sentence is of the same language, its numbers too', async () => {
  const said = { word: 'damaged', values: { file: 'a.json', got: { word: 'gotBytes', values: { bytes: 2_000_000 } } } } as const; // prettier-ignore
  expect(sentenceOf(await loadTexts('de'), said)).toMatch(/^a\.json .*2\.000\.000 Bytes/);
  expect(sentenceOf(await loadTexts('en'), said)).toMatch(/^a\.json .*2,000,000 bytes/);
});
