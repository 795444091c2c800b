import { expect, test } from 'vitest';
import type { Gpu } from '../src/gpu/device.ts';
import { KERNEL_SET_NAMES, type KernelSet } from '../src/config/kernelChoice.ts';
import { chooseKernels } from '../src/model/gpu/kernelSets.ts';
import type { Trial } from '../src/model/gpu/tuner.ts';
import { readTuning, tuningKey } from '../src/model/gpu/tuningRecord.ts';
import { BackendError, type PolicySpec } from '../src/model/policy.ts';
import type { Answer } from '../src/wire/questions.ts';
import { learningMath } from '../src/rl/plainLearningMath.ts';
import { BackgroundTuning } from '../src/session/tuning.ts';
import { SMALL, specOf } from './gpu/policies.ts';

const ADAPTER = {
  ...{ lanes: 4, software: true, identity: 'maker|model', adapter: 'model' },
  device: { limits: { maxComputeWorkgroupStorageSize: 16_384 } },
} as unknown as Gpu;
const SPEC = specOf(SMALL, 'none', 4, 8);
const UPDATES = 300; // more than there are slices

/** A page's worth of runs: a store that outlives them, trials that take as long as their kernels cost. */
function lab(compileMs = 0, kept = new Map<string, unknown>(), browser = 'browser 1', adapter = ADAPTER) {
  let clock = 0;
  const opened: KernelSet[] = [];
  let open = 0;
  const tuning = new BackgroundTuning({
    store: {
      read: (key) => Promise.resolve(kept.get(key) ?? null),
      write: (key, value) => Promise.resolve(void kept.set(key, value)),
    },
    ...{ browser, math: learningMath, now: () => clock },
    trials: () => (choice) => {
      clock += compileMs;
      opened.push(choice);
      open++;
      const trial: Trial = {
        error: () => Promise.resolve(1e-7),
        train: (steps) => Promise.resolve(void (clock += steps * (choice === 'shared' ? 1 : 2))),
        close: () => open--,
      };
      return Promise.resolve(trial);
    },
  });
  const start = async (spec: PolicySpec = SPEC, tune = true, kernels = undefined as KernelSet | undefined) => {
    const options = { seed: 1, tune, ...(kernels && { kernels }) };
    return tuning.openPolicy((_, _spec, given) => chooseKernels(adapter, given), {} as GPU, spec, options);
  };
  const train = async (updates = UPDATES) => {
    for (let update = 0; update < updates; update++) await tuning.runSlice();
  };
  return { tuning, kept, opened, start, train, open: () => open };
}

test('the first run takes the default at once, the next one what was measured meanwhile, and measures nothing', async () => {
  const { start, train, opened, kept, open } = lab();
  expect(await start()).toMatchObject({ choice: 'plain', why: 'default' });
  await train();
  expect(kept.size).toBe(1);
  expect(open()).toBe(0);
  const measured = opened.length;
  expect(measured).toBe(KERNEL_SET_NAMES.length);
  const report = await start();
  expect(report).toMatchObject({ choice: 'shared', why: 'measured' });
  expect(report.tried.find(({ set, taken }) => set === 'shared' && taken)).toMatchObject({ ms: 1 });
  await train();
  expect(opened.length).toBe(measured);
});

test('a run of safe or forced kernels reads nothing, measures nothing and keeps nothing', async () => {
  const { start, train, opened, kept } = lab();
  expect(await start(SPEC, false)).toMatchObject({ why: 'default' });
  await train();
  expect(await start(SPEC, false, 'shared')).toMatchObject({ choice: 'shared', why: 'forced' });
  await train();
  expect([opened.length, kept.size]).toEqual([0, 0]);
});

test('a record that is corrupt, or of another engine, is as none', async () => {
  const good = { choice: 'shared', tried: [] };
  expect(readTuning(good)).toMatchObject({ choice: 'shared', why: 'measured' });
  const tried = { set: 'x', ms: 1, error: null, refused: '', taken: true };
  expect(readTuning({ ...good, tried: [tried] })?.tried).toEqual([tried]);
  for (const odd of [
    ...[null, undefined, 7, 'shared', {}, []],
    ...[
      { ...good, choice: 'turbo' },
      { ...good, choice: 'broadcast-8+broadcast-4' },
      { ...good, choice: 3 },
    ],
    ...[
      { ...good, tried: undefined },
      { ...good, tried: [null] },
      { ...good, tried: [{ ...tried, ms: 'fast' }] },
    ],
  ]) {
    expect(readTuning(odd), JSON.stringify(odd)).toBeNull();
  }
  const { start, train, kept, opened } = lab();
  kept.set(tuningKey(ADAPTER, SPEC, 'f32', 'browser 1'), { choice: 'turbo' });
  expect((await start()).why).toBe('default');
  await train();
  expect(opened.length).toBe(KERNEL_SET_NAMES.length);
  expect((await start()).why).toBe('measured');
});

test('another adapter, browser, storage or shape is another tuning; a few rows more or less are not', () => {
  const key = tuningKey(ADAPTER, SPEC, 'f32', 'browser 1');
  expect(tuningKey({ identity: 'maker|other' }, SPEC, 'f32', 'browser 1')).not.toBe(key);
  expect(tuningKey(ADAPTER, SPEC, 'f32', 'browser 2')).not.toBe(key);
  expect(tuningKey(ADAPTER, { ...SPEC, model: { ...SMALL, hidden_size: 32 } }, 'f32', 'browser 1')).not.toBe(key);
  expect(tuningKey(ADAPTER, SPEC, 'f16', 'browser 1')).not.toBe(key);
  expect(tuningKey(ADAPTER, { ...SPEC, length: 64 }, 'f32', 'browser 1')).not.toBe(key);
  expect(tuningKey(ADAPTER, { ...SPEC, length: 7 }, 'f32', 'browser 1')).toBe(key);
});

/** A box of 20 s closes on the second of these. */
const SLOW_MS = 15_000;

test('a set that the box closed on is not taken, says so, and is not tried again', async () => {
  const { start, train, opened } = lab(SLOW_MS);
  await start();
  await train();
  const report = await start();
  expect(report).toMatchObject({ choice: 'plain', why: 'measured' });
  expect(report.tried.find(({ set }) => set === 'shared')).toMatchObject({
    ms: null,
    refused: expect.stringContaining('20 s') as string,
  });
  await train();
  expect(opened).toEqual(['plain', 'shared']);
});

test('in another browser or on another adapter it begins anew, and what was measured elsewhere stays', async () => {
  const kept = new Map<string, unknown>();
  const first = lab(SLOW_MS, kept);
  await first.start();
  await first.train();
  const [record] = kept.values();
  const elsewhere = [
    lab(SLOW_MS, kept, 'browser 2'),
    lab(SLOW_MS, kept, 'browser 1', { ...ADAPTER, identity: 'maker|other' }),
  ];
  for (const { start, train, opened } of elsewhere) {
    expect(await start()).toMatchObject({ why: 'default', tried: [] });
    await train();
    expect(opened).toEqual(first.opened);
  }
  expect(kept.size).toBe(3);
  expect([...kept.values()][0]).toBe(record);
});

test('a kept choice that does not open any more is dropped, and the run begins on the default', async () => {
  const { start, train, kept, tuning } = lab();
  await start();
  await train();
  const key = tuningKey(ADAPTER, SPEC, 'f32', 'browser 1');
  expect(readTuning(kept.get(key))).not.toBeNull();
  const report = await tuning.openPolicy(
    async (_, _spec, options) => {
      const settled = await chooseKernels(ADAPTER, options);
      if (settled.why === 'measured') throw new Error('The driver compiles it no longer.');
      return settled;
    },
    {} as GPU,
    SPEC,
    { seed: 1, tune: true },
  );
  expect(report.why).toBe('default');
  expect(readTuning(kept.get(key))).toBeNull();
  // a model too large for the adapter says so, and the choice stays
  await train();
  expect(readTuning(kept.get(key))).not.toBeNull();
  const large = async (_: GPU, _spec: PolicySpec, options: Parameters<typeof chooseKernels>[1]) => {
    await chooseKernels(ADAPTER, options);
    throw new BackendError('too large', 'turn it down', []);
  };
  await expect(tuning.openPolicy(large, {} as GPU, SPEC, { seed: 1, tune: true })).rejects.toThrow('too large');
  expect(readTuning(kept.get(key))).not.toBeNull();
});

test('a run that goes on keeps the kernels it began with, whatever was measured since', async () => {
  const tuned = () => Promise.resolve({ choice: 'shared', why: 'measured', tried: [] } as const);
  expect(await chooseKernels(ADAPTER, { seed: 1, resumedKernels: 'plain', tunedKernels: tuned })).toMatchObject({
    choice: 'plain',
    why: 'resumed',
  });
  expect(await chooseKernels(ADAPTER, { seed: 1, tunedKernels: tuned })).toMatchObject({
    choice: 'shared',
    why: 'measured',
  });
});

test('a run that ends takes its tuning with it; a profile is told what was found', async () => {
  const { tuning, start, train, open, kept } = lab();
  const told: Answer[] = [];
  const tell = tuning.withResult((answer) => told.push(answer));
  const refused = { kind: 'refused', message: '' } as const;
  await start();
  await train(8);
  expect(open()).toBeGreaterThan(0);
  tuning.end();
  await train(3);
  await new Promise((resolve) => setTimeout(resolve)); // generators within each other end one after another
  expect([open(), kept.size]).toEqual([0, 0]);
  await start();
  await train();
  tell(refused);
  tell({ kind: 'profile', updates: 1 } as Answer);
  expect(told[0]).toEqual(refused);
  expect(told[1]).toMatchObject({ tuned: { why: 'measured', choice: 'shared' } });
});
