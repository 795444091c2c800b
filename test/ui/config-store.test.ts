import { beforeEach, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import {
  addressPlan,
  choosePreset,
  editKnobs,
  configStateFromHash,
  keepPlannedChanges,
  nearestPreset,
  recordKnobChanges,
  recordRunStart,
  plannedChanges,
  presetConfig,
  undoEdit,
  useConfig,
} from '../../src/page/knobs/configStore.ts';
import { pendingLive, pendingRestart } from '../../src/page/knobs/pendingKnobs.ts';
import { sliderValue, valueAfterSlide, SLIDER_STEPS, sliderPosition } from '../../src/page/knobs/scale.ts';

const defaults = parseConfig();
beforeEach(() => {
  useConfig.setState({
    wanted: defaults,
    applied: null,
    planned: null,
    undoHistory: [],
    lastEditedKnob: null,
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
  editKnobs({ learningRate: 0.01 });
  editKnobs({ learningRate: 0.02 });
  editKnobs({ lossMask: 'off' });
  expect(undoEdit()).toBe(true);
  expect(useConfig.getState().wanted).toMatchObject({ learningRate: 0.02, lossMask: 'on' });
  expect(undoEdit()).toBe(true);
  expect(useConfig.getState().wanted).toEqual(defaults);
  expect(undoEdit()).toBe(false);
  // a knob whose edit was undone is edited anew, not dragged on
  editKnobs({ learningRate: 0.01 });
  for (let time = 0; time < 2; time++) {
    editKnobs({ lossMask: 'off' });
    expect(undoEdit()).toBe(true);
  }
  expect(useConfig.getState().wanted).toMatchObject({ learningRate: 0.01, lossMask: 'on' });
});

test('alpha stays twice the rank of adapters while it is that, one of a person’s own stays, and undo takes both back', () => {
  editKnobs({ adapterRank: 1 });
  editKnobs({ adapterRank: 16 });
  expect(useConfig.getState().wanted).toMatchObject({ adapterRank: 16, adapterAlpha: 32 });
  expect(undoEdit()).toBe(true);
  expect(useConfig.getState().wanted).toEqual(defaults);
  editKnobs({ adapterAlpha: 20 });
  editKnobs({ adapterRank: 4 });
  expect(useConfig.getState().wanted).toMatchObject({ adapterRank: 4, adapterAlpha: 20 });
  editKnobs({ adapterRank: 10 });
  editKnobs({ adapterRank: 2, adapterAlpha: 20 }); // both at once, as from an address or a preset
  expect(useConfig.getState().wanted).toMatchObject({ adapterRank: 2, adapterAlpha: 20 });
});

test('a preset brings all its knobs, and undo brings the old ones back', () => {
  editKnobs({ learningRate: 0.05 });
  choosePreset('multi-hop');
  expect(useConfig.getState().wanted).toEqual(presetConfig('multi-hop'));
  expect(nearestPreset(parseConfig({ ...presetConfig('multi-hop'), learningRate: 0.01 }))).toBe('multi-hop');
  undoEdit();
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
  expect(sliderValue(0, range)).toBe(range.min);
  expect(sliderValue(SLIDER_STEPS, range)).toBe(range.max);
  let last = range.min;
  for (let p = 0; p <= SLIDER_STEPS; p++) {
    const value = sliderValue(p, range);
    expect(value).toBeGreaterThanOrEqual(last);
    expect(Math.abs(sliderValue(sliderPosition(value, range), range) - value)).toBeLessThanOrEqual(
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
      const next = valueAfterSlide(sliderPosition(value, range) + by, value, range);
      expect(Math.sign(next - value), `from ${value}`).toBe(by);
      value = next;
    }
    expect(presses).toBeLessThanOrEqual(SLIDER_STEPS);
  }
});

/** The page as a link opens it whose run turns the loss mask off at update 5 and cools down at 9. */
function openLink() {
  useConfig.setState(configStateFromHash('#/lab?v=1&changes=5:lossMask:off,9:temperature:0.5'));
  const { startConfig, changes } = addressPlan(useConfig.getState());
  expect([startConfig, changes.length]).toEqual([defaults, 2]);
  recordRunStart(startConfig);
  return changes;
}

test('a knob that a link changes on the way changes in the page when the run takes it up, and a fresh run has it back', () => {
  openLink();
  editKnobs({ learningRate: 0.01 });
  recordKnobChanges({ update: 5, step: 0, changes: { lossMask: 'off' } });
  expect(useConfig.getState()).toMatchObject({ wanted: { lossMask: 'off' }, applied: { lossMask: 'off' } });
  expect(addressPlan(useConfig.getState()).startConfig).toEqual({ ...defaults, learningRate: 0.01 });
  // undo takes back what the reader did, not what the link does
  undoEdit();
  expect(useConfig.getState()).toMatchObject({ wanted: { lossMask: 'off', learningRate: defaults.learningRate } });
  const { startConfig, changes } = addressPlan(useConfig.getState());
  recordRunStart(startConfig);
  expect([useConfig.getState().wanted, changes.length]).toEqual([defaults, 2]);
});

test('a knob that the reader of a link changes leaves the plan, a preset ends it, a run that goes on keeps it', () => {
  openLink();
  editKnobs({ lossMask: 'on' });
  expect(addressPlan(useConfig.getState()).changes).toEqual([{ update: 9, step: 0, set: { temperature: 0.5 } }]);
  recordKnobChanges({ update: 5, step: 0, changes: { lossMask: 'off' } }); // it was under way already
  expect(useConfig.getState().wanted.lossMask).toBe('on');
  choosePreset('multi-hop');
  expect(useConfig.getState().planned).toBeNull();
  const changes = openLink();
  keepPlannedChanges(defaults, () => editKnobs(defaults));
  expect(plannedChanges(defaults)).toEqual(changes);
  keepPlannedChanges({ ...defaults, seed: 99 }, () => editKnobs({ ...defaults, seed: 99 }));
  expect(useConfig.getState().planned).toBeNull();
});
