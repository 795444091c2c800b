import { beforeEach, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { choosePreset, edit, nearestPreset, presetConfig, undo, useConfig } from '../../src/ui/knobs/configStore.ts';
import { pendingLive, pendingRestart } from '../../src/ui/run/pendingKnobs.ts';
import { fromSlider, movedTo, SLIDER_STEPS, toSlider } from '../../src/ui/knobs/scale.ts';

const defaults = parseConfig();
beforeEach(() => {
  useConfig.setState({ wanted: defaults, applied: null, past: [], lastEdit: null, preset: 'number-hunt' });
});

test('changes split into those the run takes now and those that wait for a restart', () => {
  const wanted = parseConfig({ learningRate: 1e-3, temperature: 0.8, layers: 3 });
  expect(pendingLive(wanted, defaults)).toEqual({ learningRate: 1e-3, temperature: 0.8 });
  expect(pendingRestart(wanted, defaults)).toEqual(['layers']);
  expect(pendingLive(wanted, null)).toEqual({});
});

test('nothing is sent that the run could not hold', () => {
  // gae needs a critic, and a critic needs a restart
  const bare = parseConfig({ critic: 'none' });
  expect(pendingLive(parseConfig({ estimator: 'gae', critic: 'shared' }), bare)).toEqual({});
});

test('undo goes back one edit; a dragged slider is one edit', () => {
  edit({ learningRate: 0.01 });
  edit({ learningRate: 0.02 });
  edit({ lossMask: 'off' });
  expect(undo()).toBe(true);
  expect(useConfig.getState().wanted).toMatchObject({ learningRate: 0.02, lossMask: 'on' });
  expect(undo()).toBe(true);
  expect(useConfig.getState().wanted).toEqual(defaults);
  expect(undo()).toBe(false);
});

test('alpha stays twice the rank of adapters while it is that, one of a person’s own stays, and undo takes both back', () => {
  edit({ adapterRank: 1 });
  edit({ adapterRank: 16 });
  expect(useConfig.getState().wanted).toMatchObject({ adapterRank: 16, adapterAlpha: 32 });
  expect(undo()).toBe(true);
  expect(useConfig.getState().wanted).toEqual(defaults);
  edit({ adapterAlpha: 20 });
  edit({ adapterRank: 4 });
  expect(useConfig.getState().wanted).toMatchObject({ adapterRank: 4, adapterAlpha: 20 });
  edit({ adapterRank: 10 });
  edit({ adapterRank: 2, adapterAlpha: 20 }); // both at once, as from an address or a preset
  expect(useConfig.getState().wanted).toMatchObject({ adapterRank: 2, adapterAlpha: 20 });
});

test('a preset brings all its knobs, and undo brings the old ones back', () => {
  edit({ learningRate: 0.05 });
  choosePreset('multi-hop');
  expect(useConfig.getState().wanted).toEqual(presetConfig('multi-hop'));
  expect(nearestPreset(parseConfig({ ...presetConfig('multi-hop'), learningRate: 0.01 }))).toBe('multi-hop');
  undo();
  expect(useConfig.getState().wanted.learningRate).toBe(0.05);
});

test.each([
  { min: 0, max: 0.1, log: true },
  { min: 1e-10, max: 0.1, log: true },
  { min: 0, max: 1 },
  { min: 0, max: 100 },
  { min: 0.001, max: 1000 },
  { min: 1, max: 100000, integer: true },
])('a slider over %j reaches both ends and never runs backwards', (range) => {
  expect(fromSlider(0, range)).toBe(range.min);
  expect(fromSlider(SLIDER_STEPS, range)).toBe(range.max);
  let last = range.min;
  for (let p = 0; p <= SLIDER_STEPS; p++) {
    const value = fromSlider(p, range);
    expect(value).toBeGreaterThanOrEqual(last);
    expect(Math.abs(fromSlider(toSlider(value, range), range) - value)).toBeLessThanOrEqual(
      0.06 * Math.abs(value) + 1e-12,
    );
    last = value;
  }
});

test.each([
  ['log from 0', { min: 0, max: 0.1, log: true }],
  ['cubic', { min: 0, max: 20 }],
  ['linear', { min: 0, max: 1 }],
  ['wide whole numbers', { min: 1, max: 1e7, log: true, integer: true }],
] as const)('an arrow key always moves a slider, and always the right way: %s', (_, range) => {
  for (const by of [1, -1]) {
    let value: number = by > 0 ? range.min : range.max;
    let presses = 0;
    for (; value !== (by > 0 ? range.max : range.min); presses++) {
      const next = movedTo(toSlider(value, range) + by, value, range);
      expect(Math.sign(next - value), `from ${value}`).toBe(by);
      value = next;
    }
    expect(presses).toBeLessThanOrEqual(SLIDER_STEPS);
  }
});
