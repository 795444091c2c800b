import { expect, test } from 'vitest';
import type { Gpu } from '../src/gpu/device.ts';
import { KERNEL_SET_NAMES, type KernelSet } from '../src/config/kernelChoice.ts';
import { settleKernels } from '../src/model/gpu/kernelSets.ts';
import type { Trial } from '../src/model/gpu/tuner.ts';
import { readTuning, recordOf, tuningKey } from '../src/model/gpu/tuningRecord.ts';
import { BackendError, type PolicySpec } from '../src/model/policy.ts';
import type { Answer } from '../src/wire/questions.ts';
import { learningMath } from '../src/rl/plainLearningMath.ts';
import { BackgroundTuning } from '../src/session/tuning.ts';
import { SMALL, specOf } from './gpu/policies.ts';

const ADAPTER = {
  ...{ lanes: 8, software: true, identity: 'maker|model', adapter: 'model' },
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
        train: (steps) => Promise.resolve(void (clock += steps * (choice === 'workgroup' ? 1 : 2))),
        close: () => open--,
      };
      return Promise.resolve(trial);
    },
  });
  const start = async (spec: PolicySpec = SPEC, tune = true, kernels = undefined as 'workgroup' | undefined) => {
    const options = { seed: 1, tune, ...(kernels && { kernels }) };
    return tuning.openPolicy((_, _spec, given) => settleKernels(adapter, given), {} as GPU, spec, options);
  };
  const train = async (updates = UPDATES) => {
    for (let update = 0; update < updates; update++) await tuning.between();
  };
  return { tuning, kept, opened, start, train, open: () => open };
}

test('the first run takes the default at once, the next one what was measured meanwhile, and measures nothing', async () => {
  const { start, train, opened, kept, open } = lab();
  expect(await start()).toMatchObject({ choice: 'broadcast-8', why: 'default' });
  await train();
  expect(kept.size).toBe(1);
  expect(open()).toBe(0);
  const measured = opened.length;
  expect(measured).toBe(KERNEL_SET_NAMES.length);
  const report = await start();
  expect(report).toMatchObject({ choice: 'workgroup', why: 'measured' });
  expect(report.tried.find(({ set, taken }) => set === 'workgroup' && taken)).toMatchObject({ ms: 1 });
  await train();
  expect(opened.length).toBe(measured);
});

test('a run of safe or forced kernels reads nothing, measures nothing and keeps nothing', async () => {
  const { start, train, opened, kept } = lab();
  expect(await start(SPEC, false)).toMatchObject({ why: 'default' });
  await train();
  expect(await start(SPEC, false, 'workgroup')).toMatchObject({ choice: 'workgroup', why: 'forced' });
  await train();
  expect([opened.length, kept.size]).toEqual([0, 0]);
});

test('a record that is corrupt, of another engine, or beyond this adapter is as none', async () => {
  const good = recordOf({ choice: 'workgroup', tried: [] });
  expect(readTuning(good, ADAPTER)).toMatchObject({ choice: 'workgroup', why: 'measured' });
  const tried = { set: 'x', ms: 1, error: null, refused: '', taken: true, waits: null };
  expect(readTuning({ ...good, tried: [tried] }, ADAPTER)?.tried).toEqual([tried]);
  for (const odd of [
    ...[
      null,
      undefined,
      7,
      'workgroup',
      {},
      [],
      { ...good, choice: 'turbo' },
      { ...good, choice: 'broadcast-4+broadcast-8+barrier-free' },
      { ...good, choice: 3 },
    ],
    ...[
      { ...good, tried: undefined },
      { ...good, tried: [null] },
      { ...good, tried: [{ ...tried, ms: 'fast' }] },
      { ...good, tried: [{ ...tried, waits: 'long' }] },
    ],
  ]) {
    expect(readTuning(odd, ADAPTER), JSON.stringify(odd)).toBeNull();
  }
  expect(readTuning(recordOf({ choice: 'broadcast-8', tried: [] }), { lanes: 4 })).toBeNull();
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

/** A box of 20 s holds two of these. */
const SLOW_MS = 8000;

test('a tuning that its box cut short is used as far as it came, and run after run goes on until all was tried', async () => {
  const { start, train, opened, kept } = lab(SLOW_MS);
  const key = tuningKey(ADAPTER, SPEC, 'f32', 'browser 1');
  const left = () => readTuning(kept.get(key), ADAPTER)?.tried.filter(({ waits }) => waits !== null).length ?? 0;
  expect((await start()).why).toBe('default');
  await train();
  const after = [left()];
  const second = await start();
  expect(second).toMatchObject({ choice: 'broadcast-8', why: 'measured' });
  expect(second.tried.filter(({ waits }) => waits !== null)).toHaveLength(after[0] ?? 0);
  while ((after.at(-1) ?? 0) > 0 && after.length < 10) {
    await train();
    after.push(left());
    await start();
  }
  expect(after).toEqual(after.toSorted((a, b) => b - a));
  expect(after.length).toBeGreaterThan(2);
  expect(after.at(-1)).toBe(0);
  expect(await start()).toMatchObject({ choice: 'workgroup', why: 'measured' });
  const measured = opened.length;
  await train();
  expect(opened.length).toBe(measured);
});

test('a run that is left in the middle of its tuning keeps what was measured', async () => {
  const { tuning, start, train, opened, kept } = lab();
  await start();
  while (kept.size === 0) await train(1);
  await train(2);
  tuning.end();
  const before = opened.length;
  const { tried } = await start();
  const measured = tried.filter(({ waits }) => waits === null);
  expect(measured.map(({ set }) => set)).toEqual(['broadcast-8', 'barrier-free']);
  await train();
  expect(opened.slice(before)).not.toContain('barrier-free');
  expect(await start()).toMatchObject({ choice: 'workgroup', why: 'measured' });
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
  expect(readTuning(kept.get(key), ADAPTER)).not.toBeNull();
  const report = await tuning.openPolicy(
    async (_, _spec, options) => {
      const settled = await settleKernels(ADAPTER, options);
      if (settled.why === 'measured') throw new Error('The driver compiles it no longer.');
      return settled;
    },
    {} as GPU,
    SPEC,
    { seed: 1, tune: true },
  );
  expect(report.why).toBe('default');
  expect(readTuning(kept.get(key), ADAPTER)).toBeNull();
  // a model too large for the adapter says so, and the choice stays
  await train();
  expect(readTuning(kept.get(key), ADAPTER)).not.toBeNull();
  const large = async (_: GPU, _spec: PolicySpec, options: Parameters<typeof settleKernels>[1]) => {
    await settleKernels(ADAPTER, options);
    throw new BackendError('too large', 'turn it down', []);
  };
  await expect(tuning.openPolicy(large, {} as GPU, SPEC, { seed: 1, tune: true })).rejects.toThrow('too large');
  expect(readTuning(kept.get(key), ADAPTER)).not.toBeNull();
});

test('a run that goes on keeps the kernels it began with, where this adapter runs them', async () => {
  const tuned = () => Promise.resolve({ choice: 'workgroup', why: 'measured', tried: [] } as const);
  const resumed = 'broadcast-8';
  expect(await settleKernels(ADAPTER, { seed: 1, resumed, tuned })).toMatchObject({
    choice: resumed,
    why: 'resumed',
  });
  expect((await settleKernels({ ...ADAPTER, lanes: 4 }, { seed: 1, resumed, tuned })).why).toBe('measured');
});

test('an adapter refuses forced kernels that it cannot run, by the knob', async () => {
  const four = { ...ADAPTER, lanes: 4 };
  await expect(settleKernels(four, { seed: 1, kernels: 'broadcast-8' })).rejects.toMatchObject({
    name: 'BackendError',
    fields: ['kernels'],
  });
});

test('a run that ends takes its tuning with it; a profile is told what was found', async () => {
  const { tuning, start, train, open, kept } = lab();
  const told: Answer[] = [];
  const tell = tuning.telling((answer) => told.push(answer));
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
  expect(told[1]).toMatchObject({ tuned: { why: 'measured', choice: 'workgroup' } });
});
