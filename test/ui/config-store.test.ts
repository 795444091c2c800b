import { beforeEach, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import {
  addressed,
  choosePreset,
  edit,
  fromHash,
  keepPlanned,
  nearestPreset,
  noteActing,
  noteBegun,
  plannedFor,
  presetConfig,
  undo,
  useConfig,
} from '../../src/ui/knobs/configStore.ts';
import { pendingLive, pendingRestart } from '../../src/ui/run/pendingKnobs.ts';
import { fromSlider, movedTo, SLIDER_STEPS, toSlider } from '../../src/ui/knobs/scale.ts';

const defaults = parseConfig();
beforeEach(() => {
  useConfig.setState({
    wanted: defaults,
    applied: null,
    planned: null,
    past: [],
    lastEdit: null,
    preset: 'number-hunt',
  });
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

/** The page as a link opens it whose run turns the loss mask off at update 5 and cools down at 9. */
function openLink() {
  useConfig.setState(fromHash('#/lab?v=1&changes=5:lossMask:off,9:temperature:0.5'));
  const { begun, changes } = addressed(useConfig.getState());
  expect([begun, changes.length]).toEqual([defaults, 2]);
  noteBegun(begun);
  return changes;
}

test('a knob that a link changes on the way changes in the page when the run takes it up, and a fresh run has it back', () => {
  openLink();
  edit({ learningRate: 0.01 });
  noteActing({ update: 5, step: 0, changes: { lossMask: 'off' } });
  expect(useConfig.getState()).toMatchObject({ wanted: { lossMask: 'off' }, applied: { lossMask: 'off' } });
  expect(addressed(useConfig.getState()).begun).toEqual({ ...defaults, learningRate: 0.01 });
  // undo takes back what the reader did, not what the link does
  undo();
  expect(useConfig.getState()).toMatchObject({ wanted: { lossMask: 'off', learningRate: defaults.learningRate } });
  const { begun, changes } = addressed(useConfig.getState());
  noteBegun(begun);
  expect([useConfig.getState().wanted, changes.length]).toEqual([defaults, 2]);
});

test('a knob that the reader of a link changes leaves the plan, a preset ends it, a run that goes on keeps it', () => {
  openLink();
  edit({ lossMask: 'on' });
  expect(addressed(useConfig.getState()).changes).toEqual([{ update: 9, step: 0, set: { temperature: 0.5 } }]);
  noteActing({ update: 5, step: 0, changes: { lossMask: 'off' } }); // it was under way already
  expect(useConfig.getState().wanted.lossMask).toBe('on');
  choosePreset('multi-hop');
  expect(useConfig.getState().planned).toBeNull();
  const changes = openLink();
  keepPlanned(defaults, () => edit(defaults));
  expect(plannedFor(defaults)).toEqual(changes);
  keepPlanned({ ...defaults, seed: 99 }, () => edit({ ...defaults, seed: 99 }));
  expect(useConfig.getState().planned).toBeNull();
});
