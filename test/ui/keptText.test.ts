import { expect, test } from 'vitest';
import { keptText, readKeptText } from '../../src/page/browser/keptText.ts';
import { parseConfig } from '../../src/config/config.ts';
import { runWithDefaults } from '../../src/runs/run.ts';
import { Series } from '../../src/runs/series.ts';
import { readRun, runText } from '../../src/page/runs/keptRun.ts';

const fields = { source: 'x.csv', content: 'Ada,teacher,Ben', left: undefined };

test('text that was kept is read as it was written; an older page wrote it without a checksum', () => {
  expect(readKeptText(keptText(fields), ['source', 'content'])).toEqual({
    source: 'x.csv',
    content: 'Ada,teacher,Ben',
  });
  expect(readKeptText('{"source":"x"}', ['source', 'content'])).toEqual({ source: 'x' });
});

test('every flipped bit of a kept record is noticed: none is read as another record', () => {
  const drawn = { x: [1, 2], mean: [0.25, 0.5], smooth: [0.25, 0.375] };
  const run = runWithDefaults({
    ...{ id: 2, name: 'n', started: '2026-11-21T00:00:00Z', begun: parseConfig({ seed: 9 }) },
    ...{ changes: [{ update: 3, text: 'Seed' }], update: 5, config: parseConfig({ seed: 9, learningRate: 0.01 }) },
    series: new Map([['rollout/success', Series.fromPlotted(drawn)]]),
  });
  const text = runText(run);
  const same = readRun(text);
  expect(same).toEqual(run);
  expect(same?.series.get('rollout/success')?.plotted).toEqual(drawn);
  const wrong: string[] = [];
  for (let at = 0; at < text.length; at++) {
    for (let bit = 0; bit < 7; bit++) {
      const damaged = text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 << bit)) + text.slice(at + 1);
      const read = readRun(damaged);
      if (read && runText(read) !== text) wrong.push(damaged);
    }
  }
  expect(wrong).toEqual([]);
});
