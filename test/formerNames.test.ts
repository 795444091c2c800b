import { expect, test } from 'vitest';
import { readMetrics } from '../src/checkpoints/manifestFile.ts';
import { parseArguments } from '../src/cli/arguments.ts';
import { parseConfig } from '../src/config/config.ts';
import { DEFAULTS } from '../src/config/fields.ts';
import { parseResult, RESULT_VERSION } from '../src/experiments/runResult.ts';
import { readManifest } from '../src/runs/manifest.ts';
import { parseSweep } from '../src/experiments/sweepFile.ts';
import { hashOf, readHash } from '../src/page/address/hash.ts';
import { shippedRecording } from './shippedRecording.ts';

// The knob `randomness` was called `luck` until 2026-11-26.

test('a link with a knob’s former name means the knob, in its changes too, and is written with the present name', () => {
  const { config, changes, corrections } = readHash('#/lab?v=2&luck=group&changes=3:luck:own');
  expect([config.randomness, changes, corrections]).toEqual([
    'group',
    [{ update: 3, step: 0, set: { randomness: 'own' } }],
    [],
  ]);
  expect(hashOf(config, { route: 'lab', changes })).toMatch(/&randomness=group&.*&changes=3:randomness:own$/);
});

test('a stored run with a knob’s former name is read with the present one: its knobs, and its changes of knobs', () => {
  const { randomness: _, ...others } = DEFAULTS;
  const changes = [
    { update: 3, step: 0, set: { luck: 'own' }, text: 'own' },
    { update: 4, text: 'of an older page' },
  ];
  const kept = { id: 1, name: 'n', backend: { kind: 'cpu', adapter: 'x' }, started: '2026-11-21T00:00:00.000Z' };
  const knobs = { ...others, luck: 'group' };
  const read = readManifest({ ...kept, begun: knobs, config: knobs, changes, update: 4 });
  expect(read.begun).toEqual({ ...DEFAULTS, randomness: 'group' });
  expect(read.changes).toEqual([{ ...changes[0], set: { randomness: 'own' } }, changes[1]]);
});

test('an experiment’s result with a knob’s former name has the value under the present one', () => {
  const { randomness: _, ...others } = DEFAULTS;
  const result = {
    ...{ version: RESULT_VERSION, experiment: 'e', arm: 'a', seed: 1, backend: 'cpu: x', skipped: 0, seconds: 1 },
    ...{ config: { ...others, luck: 'group' }, metrics: {}, curve: [], heldOut: [], health: [] },
  };
  expect(parseResult(result)?.config).toEqual({ ...others, randomness: 'group' });
});

test('--set and the file of a sweep take a knob’s former name', () => {
  expect(parseArguments(['--set', 'luck=group']).config.randomness).toBe('group');
  const { experiment } = parseSweep('{ "preset": "bandit", "grid": { "luck": ["own", "group"] } }');
  expect(experiment.arms).toMatchObject([{ set: { randomness: 'own' } }, { set: { randomness: 'group' } }]);
  expect(parseConfig({ luck: 'group' }).randomness).toBe('group');
});

// The metric `collapse/mi_seq_estimate` was called `collapse/mi_estimate` until 2026-11-28.

test('a curve and a result with a metric’s former name are read under the present one', () => {
  const line = new TextEncoder().encode('{"update":3,"collapse/mi_estimate":1.5,"gone/metric":2}\n');
  expect([...readMetrics(line)]).toEqual([
    ['collapse/mi_seq_estimate', { x: Uint32Array.of(3), y: Float64Array.of(1.5) }],
  ]);
  expect(shippedRecording('number-hunt').series.get('collapse/mi_seq_estimate')?.length).toBeGreaterThan(5);
  const takes = { first: 1, last: 2, best: 2, mean: 1.5 };
  const result = {
    ...{ version: RESULT_VERSION, experiment: 'e', arm: 'a', seed: 1, backend: 'cpu: x', skipped: 0, seconds: 1 },
    ...{ config: DEFAULTS, metrics: { 'collapse/mi_estimate': takes }, curve: [], heldOut: [], health: [] },
  };
  expect(parseResult(result)?.metrics).toEqual({ 'collapse/mi_seq_estimate': takes });
});
