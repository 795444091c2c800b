import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config.ts';
import type { MetricName } from '../../src/metrics.ts';
import type { Health } from '../../src/protocol.ts';
import { readRecord, textOf, type RunRecord } from '../../src/ui/runs/record.ts';
import { Series } from '../../src/ui/series.ts';
import type { ArmResult } from '../../src/ui/trials/arm.ts';
import { flipped } from '../../src/ui/trials/recipes.ts';
import { trialVerdict } from '../../src/ui/trials/verdict.ts';

const flat = (value: number) => {
  const series = new Series();
  for (let update = 1; update <= 5; update++) series.push(update, value);
  return series;
};
function arm(label: string, values: Partial<Record<MetricName, number>>, health: Health | null = null): ArmResult {
  return {
    label,
    config: parseConfig({ evalTasks: 64 }),
    backend: { kind: 'cpu', adapter: '', software: false, storage: 'f32', reason: '' },
    checksum: '00000000',
    began: 10,
    update: 50,
    series: new Map(Object.entries(values).map(([name, value]) => [name as MetricName, flat(value)])),
    health,
  };
}

test('a verdict calls a difference of held-out success chance within two standard errors, and not beyond', () => {
  // 64 tasks at .5: two standard errors of a difference are .177
  const close = trialVerdict([arm('A', { 'eval/success': 0.42 }), arm('B', { 'eval/success': 0.58 })]);
  expect(close).toContain('42 % and 58 %: chance alone makes such a difference of 64 tasks');
  const far = trialVerdict([arm('A', { 'eval/success': 0.4 }), arm('B', { 'eval/success': 0.6 })]);
  expect(far).toContain('40 % and 60 %: B is ahead by more than chance makes of 64 tasks');
  expect(trialVerdict([arm('A', { 'eval/success': 0.5 }), arm('B', { 'eval/success': 0.5 })])).toContain(
    'both solve 50 %',
  );
});

test('a verdict says where it began and ended, who is less decided, who was trapped, and that it is one seed', () => {
  const trap: Health = { state: 'trap', since: 48, kind: 'collapse', evidence: [], remedies: [] };
  const text = trialVerdict([
    arm('A', { 'rollout/success': 0.6, 'actor/entropy': 0.2 }),
    arm('B', { 'rollout/success': 0.3, 'actor/entropy': 0.9 }, trap),
  ]);
  expect(text).toMatch(/^From update 10 to 50: A solves 60 % of its rollouts, B 30 %\./);
  expect(text).toContain('B is less decided: its entropy is 0.9 nats against 0.2.');
  expect(text).toContain('B ran into the trap at update 50.');
  expect(text).toMatch(/One seed each: run it again with another\.$/);
  expect(text).not.toContain('held-out'); // not measured
});

test('entropies are not compared where they are taken over other tokens', () => {
  const on = arm('A', { 'rollout/success': 0.6, 'actor/entropy': 0.2 });
  const off = arm('B', { 'rollout/success': 0.6, 'actor/entropy': 1.6 });
  const text = trialVerdict([on, { ...off, config: { ...off.config, lossMask: 'off' } }]);
  expect(text).toContain('Entropy and KL do not compare: for B they are taken over the tool’s words too.');
  expect(text).not.toContain('less decided');
});

test('a verdict on a run that was to break quotes the alarm, or says that it did not', () => {
  const evidence = [{ sign: 'spread', text: 'The spread is 0.02.', alarming: true }] as const;
  const trap: Health = { state: 'trap', since: 28, kind: 'collapse', evidence, remedies: [] };
  expect(trialVerdict([arm('x', { 'rollout/success': 0.5 }, trap)])).toBe(
    'TRAP at update 50: Success went from 50 % to 50 %. The spread is 0.02.',
  );
  expect(trialVerdict([arm('x', { 'rollout/success': 0 })])).toMatch(/^No trap in 50 updates this time\./);
});

test('a knob is flipped to its other word, or doubled within its range', () => {
  const config = parseConfig();
  expect(flipped('lossMask', config)).toBe('off');
  expect(flipped('learningRate', { ...config, learningRate: 0.001 })).toBe(0.002);
  expect(flipped('clipLow', { ...config, clipLow: 1 })).toBe(0.5);
});

test('the kernels of a run are kept with it, and a record with anything odd in their place is not read', () => {
  const kernels = { products: 'workgroup', attention: 'broadcast-8', reductions: 'barrier-free', why: 'measured' };
  const run: RunRecord = {
    ...{ id: 2, name: 'n', started: '2026-11-21T00:00:00Z', backend: 'WebGPU x', config: parseConfig() },
    ...{ changes: [], update: 50, curves: {}, kernels },
  };
  expect(readRecord(textOf(run))?.kernels).toEqual(kernels);
  for (const odd of [null, 3, 'workgroup', { products: 7 }]) {
    const fields = JSON.parse(textOf(run)) as Record<string, unknown>;
    delete fields['sum']; // as of an older page
    expect(readRecord(JSON.stringify(fields))).not.toBeNull();
    expect(readRecord(JSON.stringify({ ...fields, kernels: odd }))).toBeNull();
  }
});

test('a fork is kept with its run', () => {
  const run: RunRecord = {
    ...{ id: 2, name: 'n', started: '2026-11-21T00:00:00Z', backend: 'CPU', config: parseConfig() },
    ...{ changes: [], update: 50, curves: {}, fork: { run: 1, update: 10 } },
  };
  expect(readRecord(textOf(run))?.fork).toEqual({ run: 1, update: 10 });
  expect(readRecord(textOf({ ...run, fork: undefined } as unknown as RunRecord))?.fork).toBeUndefined();
});
