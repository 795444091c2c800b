import { expect, test } from 'vitest';
import { KERNEL_SET_NAMES, type KernelSet } from '../../src/config/kernelChoice.ts';
import { tune, type Pause, type Trial, type TuningResult } from '../../src/model/gpu/tuner.ts';

// A device whose steps, compiling and checks take made-up times on a made-up clock.
interface Device {
  readonly ms: (set: KernelSet) => number; // of a step
  readonly error?: (set: KernelSet) => number;
  readonly compileMs?: (set: KernelSet) => number;
  readonly breaks?: (set: KernelSet, during: 'compile' | 'check' | 'train') => string;
}

const LIMITS = { timeLimitMs: 10_000, tolerance: 1e-3, rounds: 4 };

async function tuned(device: Device, first: KernelSet = 'plain', limits = LIMITS) {
  let clock = 0;
  const open = new Set<Trial>();
  const opened: KernelSet[] = [];
  const pass = (ms: number, problem = '') => {
    clock += ms;
    return problem ? Promise.reject(new Error(problem)) : Promise.resolve();
  };
  const run = tune(
    first,
    async (set) => {
      opened.push(set);
      await pass(device.compileMs?.(set) ?? 10, device.breaks?.(set, 'compile'));
      const trial: Trial = {
        error: () => pass(1, device.breaks?.(set, 'check')).then(() => device.error?.(set) ?? 1e-6),
        train: (steps) => pass(steps * device.ms(set), device.breaks?.(set, 'train')),
        close: () => open.delete(trial),
      };
      open.add(trial);
      return trial;
    },
    limits,
    () => clock,
  );
  let result: IteratorResult<Pause, TuningResult | null>;
  do result = await run.next();
  while (!result.done);
  expect(open.size, 'trials left open').toBe(0);
  if (!result.value) throw new Error('It ended without a result.');
  return { ...result.value, opened, clock };
}

const TIMES = { plain: 13, shared: 7 };
const cost = (set: KernelSet) => TIMES[set];
const row = ({ tried }: TuningResult, set: KernelSet) => tried.find((one) => one.set === set);

test.each(KERNEL_SET_NAMES)(
  'the faster set is taken where %s is first, with what was measured of both',
  async (first) => {
    const { choice, tried, opened } = await tuned({ ms: cost }, first);
    expect(choice).toBe('shared');
    expect(opened[0]).toBe(first);
    expect(tried).toEqual(
      opened.map((set) => ({ set, ms: TIMES[set], error: 1e-6, refused: '', taken: set === 'shared' })),
    );
  },
);

test('kernels with wrong numbers, or none, are out however fast they are and whichever is first', async () => {
  for (const wrong of [2e-3, NaN, Infinity]) {
    for (const first of KERNEL_SET_NAMES) {
      const found = await tuned({ ms: cost, error: (set) => (set === 'shared' ? wrong : 0) }, first);
      expect(found.choice, `${wrong}, ${first} first`).toBe('plain');
      expect(row(found, 'shared')).toMatchObject({ ms: null, taken: false });
      expect(row(found, 'shared')?.refused).toContain('numbers are not right');
    }
  }
});

test('where both are wrong the first stays, none counts as taken, and each says why', async () => {
  const { choice, tried } = await tuned({ ms: cost, error: () => 1 });
  expect(choice).toBe('plain');
  expect(tried.map(({ taken, refused }) => [taken, refused !== ''])).toEqual(tried.map(() => [false, true]));
});

test('a set that does not compile, or is lost while it is checked or timed, throws only itself out', async () => {
  for (const when of ['compile', 'check', 'train'] as const) {
    const breaks: Device['breaks'] = (set, during) => (set === 'shared' && during === when ? `lost in ${when}` : '');
    for (const first of KERNEL_SET_NAMES) {
      const found = await tuned({ ms: cost, breaks }, first);
      expect(found.choice, `${when}, ${first} first`).toBe('plain');
      expect(row(found, 'shared')?.refused).toContain(`lost in ${when}`);
    }
  }
});

test('a small gain does not change anything', async () => {
  expect((await tuned({ ms: (set) => (set === 'shared' ? 9.8 : 10) }, 'plain')).choice).toBe('plain');
  expect((await tuned({ ms: (set) => (set === 'shared' ? 10 : 9.8) }, 'shared')).choice).toBe('shared');
});

test('a set that the time does not suffice for is not taken and says so; the box is kept but for one slice', async () => {
  const compileMs = (set: KernelSet) => (set === 'shared' ? 9000 : 4000);
  const found = await tuned({ ms: cost, compileMs });
  expect(found.choice).toBe('plain');
  expect(row(found, 'shared')).toMatchObject({ ms: null, taken: false, refused: 'It was not measured within 10 s.' });
  expect(found.clock).toBeLessThan(4000 + 9000 + 100);
  const none = await tuned({ ms: cost }, 'shared', { ...LIMITS, timeLimitMs: 0 });
  expect([none.choice, none.opened, none.clock]).toEqual(['shared', [], 0]);
});

test('what is hopelessly slow is not timed in rounds, whichever is first', async () => {
  for (const first of KERNEL_SET_NAMES) {
    const few = await tuned({ ms: (set) => (set === 'shared' ? 400 : 4) }, first);
    expect(few.choice).toBe('plain');
    expect(row(few, 'shared')).toMatchObject({ ms: 400, taken: false, refused: '' });
    // a step to warm up and two that are timed; all that the other does, compiling included, is less than two of them
    expect(few.clock).toBeLessThan(5 * 400);
  }
});

test('one moment in which something else had the machine throws nothing out and takes nothing', async () => {
  for (const slow of KERNEL_SET_NAMES) {
    for (const call of [1, 2, 3, 4, 5]) {
      let calls = 0;
      const { choice } = await tuned({
        ms: (set) => (set === slow && ++calls === call ? 300 : 0) + (set === 'shared' ? 5 : 10),
      });
      expect(choice, `${slow}, call ${call}`).toBe('shared');
    }
  }
});

test('ended early, it closes what it had open, a set that is still compiling too', async () => {
  let closed = 0;
  let compiled: () => void = () => undefined;
  const run = tune(
    'plain',
    () =>
      new Promise((resolve) => {
        compiled = () =>
          resolve({ error: () => Promise.resolve(0), train: () => Promise.resolve(), close: () => closed++ });
      }),
    LIMITS,
    () => 0,
  );
  const { value } = await run.next();
  await run.return(null);
  expect(closed).toBe(0);
  compiled();
  await (value as { until: Promise<unknown> }).until;
  expect(closed).toBe(1);
});
