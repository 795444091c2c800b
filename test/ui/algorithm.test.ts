import { beforeEach, expect, test } from 'vitest';
import { ALGORITHM_NAMES, ALGORITHMS } from '../../src/config/algorithms.ts';
import { FIELDS, parseConfig, type FieldName, type RunConfig } from '../../src/config/config.ts';
import { contradictions } from '../../src/config/contradictions.ts';
import {
  algorithmTitle,
  chooseAlgorithm,
  lacksCritic,
  algorithmMatch,
  presetTitle,
} from '../../src/page/knobs/algorithm.ts';
import { presetConfig, undoEdit, useConfig } from '../../src/page/knobs/configStore.ts';
import { pendingLive, pendingRestart } from '../../src/page/knobs/pendingKnobs.ts';
import { PRESETS, type PresetName } from '../../src/config/presets.ts';

const defaults = parseConfig();
beforeEach(() => {
  useConfig.setState({
    wanted: defaults,
    applied: defaults,
    undoHistory: [],
    lastEditedKnob: null,
    preset: 'number-hunt',
  });
});

test.each(ALGORITHM_NAMES)('%s is one undoable change that a run takes without a restart', (name) => {
  chooseAlgorithm(name);
  const { wanted, applied, undoHistory } = useConfig.getState();
  expect(algorithmMatch(wanted)).toEqual({ name, differingNames: [] });
  expect(contradictions(wanted)).toEqual([]);
  expect(pendingRestart(wanted, applied)).toEqual([]);
  expect(parseConfig({ ...defaults, ...pendingLive(wanted, applied) })).toEqual(wanted);
  expect(undoHistory).toHaveLength(1);
  undoEdit();
  expect(useConfig.getState().wanted).toEqual(defaults);
});

test('knobs of the task stay as they were', () => {
  chooseAlgorithm('dapo');
  const { wanted } = useConfig.getState();
  const own = Object.keys(ALGORITHMS.dapo.set);
  for (const name of (Object.keys(FIELDS) as FieldName[]).filter((field) => !own.includes(field))) {
    expect(wanted[name]).toBe(defaults[name]);
  }
});

test('every preset opens under the name of its algorithm; what it turned of it is said', () => {
  const titles = new Map(
    (Object.keys(PRESETS) as PresetName[]).map((name) => [name, algorithmTitle(presetConfig(name))]),
  );
  expect([...titles].filter(([, title]) => title === 'custom')).toEqual([]);
  for (const [name, title] of titles) {
    const given = Object.values(ALGORITHMS).find(({ label }) => PRESETS[name].label.endsWith(` · ${label}`));
    if (given) expect(`${title} `.startsWith(`${given.label} `), `${name}: ${title}`).toBe(true);
  }
  expect(titles.get('calculator-text')).toBe('GRPO with KL β 0.02');
  expect(algorithmTitle(parseConfig({ estimator: 'bi-level-gae', critic: 'shared' }))).toBe('custom');
});

test('a knob that moved is named beside the nearest algorithm', () => {
  expect(algorithmMatch(parseConfig({ estimator: 'gae', clipHigh: 0.3 }))).toEqual({
    name: 'ppo',
    differingNames: ['clipHigh'],
  });
  expect(algorithmMatch(parseConfig({ estimator: 'rloo', klCoef: 0.1 }))).toEqual({
    name: 'rloo',
    differingNames: ['klCoef'],
  });
});

test('a knob without a say does not make it custom', () => {
  expect(algorithmMatch(parseConfig({ estimator: 'grpo', filterShare: 0.9, klEstimator: 'k1' }))).toEqual({
    name: 'grpo',
    differingNames: [],
  });
});

test('where there is no critic, one that needs it brings it along and waits for a restart', () => {
  const bare = parseConfig({ critic: 'none' });
  useConfig.setState({ wanted: bare, applied: bare });
  chooseAlgorithm('ppo');
  const { wanted, applied, undoHistory } = useConfig.getState();
  expect(wanted.critic).toBe('shared');
  expect(undoHistory).toHaveLength(1);
  expect(lacksCritic(wanted, applied)).toBe(true);
  expect(pendingLive(wanted, applied)).toEqual({});
  expect(pendingRestart(wanted, applied)).toEqual(['critic']);
  expect(lacksCritic(wanted, wanted)).toBe(false);
});

test('the name of what is trained is the preset’s task with the algorithm as the knobs stand, and says from which', () => {
  const title = (preset: PresetName, set: Partial<RunConfig>) =>
    presetTitle(preset, { ...presetConfig(preset), ...set });
  expect(title('number-hunt', {})).toEqual({ label: 'Number hunt · GRPO', presetAlgorithm: null });
  expect(title('number-hunt', { clipHigh: 0.3 })).toEqual({ label: 'Number hunt · GRPO', presetAlgorithm: null });
  expect(title('number-hunt', ALGORITHMS.ppo.set)).toEqual({ label: 'Number hunt · PPO', presetAlgorithm: 'GRPO' });
  expect(title('bandit', ALGORITHMS.grpo.set)).toEqual({ label: 'Bandit · GRPO', presetAlgorithm: 'Dr. GRPO' });
  // a name without an algorithm stays
  const { label } = PRESETS['break-it'];
  expect(title('break-it', ALGORITHMS.rloo.set)).toEqual({ label, presetAlgorithm: null });
});
