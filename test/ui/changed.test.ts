import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { presetDifferences } from '../../src/ui/knobs/ChangedList.tsx';
import { presetConfig } from '../../src/page/knobs/configStore.ts';

const given = presetConfig('number-hunt');

test('what differs from the preset is listed, and a run that has not begun takes all of it', () => {
  const wanted = parseConfig({ ...given, learningRate: 0.01, lossMask: 'off' });
  const effectText = 'acts when the run starts';
  expect(presetDifferences('number-hunt', wanted, null)).toEqual([
    { name: 'lossMask', effectText },
    { name: 'learningRate', effectText },
  ]);
  expect(presetDifferences('number-hunt', given, given)).toEqual([]);
});

test('a seed is no change: the page itself trains with another than its recording', () => {
  expect(presetDifferences('number-hunt', { ...given, seed: given.seed + 1 }, null)).toEqual([]);
});

test('when a change acts in a run follows from the knob and from what the run has', () => {
  const wanted = parseConfig({ ...given, learningRate: 0.01, lossMask: 'off', layers: 3, width: 64 });
  const acts = (applied: typeof given) =>
    Object.fromEntries(presetDifferences('number-hunt', wanted, applied).map((c) => [c.name, c.effectText]));
  expect(acts({ ...given, width: 64 })).toEqual({
    width: 'in effect',
    learningRate: 'from the next optimizer step',
    lossMask: 'from the next rollout batch',
    layers: 'after a restart; the run has 2',
  });
});

test('changes that cannot run together wait, and say so', () => {
  const wanted = { ...given, groupSize: 1, minibatches: 1, clipHigh: 0.3 };
  const list = presetDifferences('number-hunt', wanted, given);
  expect(list.find(({ name }) => name === 'clipHigh')?.effectText).toBe(
    'waiting, because knobs contradict each other; the run has 0.2',
  );
});
