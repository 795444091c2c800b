import { expect, test, vi } from 'vitest';
import { ExerciseError } from '../../src/page/learn/learnMessage.ts';
import { say } from '../../src/page/learn/catalogue.ts';

test('recorded runs that cannot be loaded are reported with a sentence of Learn', async () => {
  vi.stubGlobal('location', { hash: '', href: 'http://lab.example/' });
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
  const { shippedRuns } = await import('../../src/page/learn/exerciseRun.ts');
  const error: unknown = await shippedRuns({ experiment: 'echo-trap', arm: 'break-it' }).catch((why: unknown) => why);
  if (!(error instanceof ExerciseError)) throw new Error(`got ${String(error)}, want Learn’s own words`);
  expect(error.reason.word).toBe('noShipped');
});

test('a message within a message is filled too', () => {
  expect(say('damaged', { file: 'a.json', got: { word: 'gotBytes', values: { bytes: 2_000_000 } } })).toMatch(
    /^a\.json .*2,000,000 bytes/,
  );
});
