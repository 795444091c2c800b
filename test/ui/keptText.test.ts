import { expect, test } from 'vitest';
import { keptText, readKeptText } from '../../src/ui/parts/keptText.ts';
import { parseConfig } from '../../src/config/config.ts';
import { readRecord, textOf, type RunRecord } from '../../src/ui/runs/record.ts';

const fields = { source: 'x.csv', content: 'Ada,teacher,Ben', left: undefined };

test('text that was kept is read as it was written; an older page wrote it without a checksum', () => {
  expect(readKeptText(keptText(fields), ['source', 'content'])).toEqual({
    source: 'x.csv',
    content: 'Ada,teacher,Ben',
  });
  expect(readKeptText('{"source":"x"}', ['source', 'content'])).toEqual({ source: 'x' });
});

test('every flipped bit of a kept record is noticed: none is read as another record', () => {
  const run: RunRecord = {
    ...{ id: 2, name: 'n', started: '2026-11-21T00:00:00Z', backend: 'CPU', config: parseConfig({ seed: 9 }) },
    ...{ changes: [{ update: 3, text: 'Seed' }], update: 5 },
    curves: { 'rollout/success': { x: [1, 2], mean: [0.25, 0.5], smooth: [0.25, 0.375] } },
  };
  const text = textOf(run);
  expect(readRecord(text)).toEqual(run);
  const wrong: string[] = [];
  for (let at = 0; at < text.length; at++) {
    for (let bit = 0; bit < 7; bit++) {
      const damaged = text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 << bit)) + text.slice(at + 1);
      const read = readRecord(damaged);
      if (read && JSON.stringify(read) !== JSON.stringify(run)) wrong.push(damaged);
    }
  }
  expect(wrong).toEqual([]);
});
