import { expect, test } from 'vitest';
import { withEnvironment } from '../src/runs/withEnvironment.ts';

const run = { environment: { name: 'mine.ts', text: 'a' }, changes: [], update: 7 };

test('another text of a run’s environment is noted as a change at its update; the same text is not', () => {
  expect(withEnvironment(run, { name: 'mine.ts', text: 'b' })).toEqual({
    ...{ environment: { name: 'mine.ts', text: 'b' }, update: 7 },
    changes: [{ update: 7, text: 'environment mine.ts' }],
  });
  expect(withEnvironment(run, { name: 'other.ts', text: 'a' })).toBe(run);
});
