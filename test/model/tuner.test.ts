import { expect, test } from 'vitest';
import { KERNEL_SET_NAMES, type KernelSet } from '../../src/config/kernelChoice.ts';
import { waiting, type Tuned } from '../../src/model/gpu/tuned.ts';
import { tune, type Pause, type Trial } from '../../src/model/gpu/tuner.ts';

// A device whose steps, compiling and checks take made-up times on a made-up clock.
interface Device {
  readonly ms: (set: KernelSet) => number; // of a step
  readonly error?: (set: KernelSet) => number;
  readonly compileMs?: number | ((set: KernelSet) => number);
  readonly breaks?: (set: KernelSet, during: 'compile' | 'check' | 'train') => string;
}

const LIMITS = { boxMs: 10_000, tolerance: 1e-3, rounds: 4 };
const BEGIN: Tuned = { choice: 'barrier-free', tried: [] };
const RIVALS = KERNEL_SET_NAMES.filter((set) => set !== BEGIN.choice);

async function tuned(device: Device, limits = LIMITS, start = BEGIN) {
  let clock = 0;
  const open = new Set<Trial>();
  const opened: KernelSet[] = [];
  const pass = (ms: number, problem = '') => {
    clock += ms;
    return problem ? Promise.reject(new Error(problem)) : Promise.resolve();
  };
  const run = tune(
    KERNEL_SET_NAMES,
    start,
    async (set) => {
      opened.push(set);
      const { compileMs = 10 } = device;
      await pass(typeof compileMs === 'number' ? compileMs : compileMs(set), device.breaks?.(set, 'compile'));
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
  let result: IteratorResult<Pause, Tuned | null>;
  const found: Tuned[] = []; // on the way
  do {
    result = await run.next();
    if (!result.done && result.value && 'found' in result.value) found.push(result.value.found);
  } while (!result.done);
  expect(open.size, 'trials left open').toBe(0);
  if (!result.value) throw new Error('It ended without a result.');
  return { ...result.value, opened, found, clock };
}

const TIMES = { 'barrier-free': 13, workgroup: 10, 'workgroup-products': 7, 'broadcast-8': 8 };
const cost = (set: KernelSet) => TIMES[set];

test('the fastest set is taken, with what was measured of all', async () => {
  const { choice, tried, opened } = await tuned({ ms: cost });
  expect(choice).toBe('workgroup-products');
  expect(tried.map(({ set, ms, error, refused, taken }) => ({ set, ms, error, refused, taken }))).toEqual(
    KERNEL_SET_NAMES.map((set) => ({ set, ms: TIMES[set], error: 1e-6, refused: '', taken: set === choice })),
  );
  expect(opened).toEqual(KERNEL_SET_NAMES); // the best so far is not compiled anew
});

test('kernels with wrong numbers, or none, are out however fast they are', async () => {
  for (const wrong of [2e-3, NaN, Infinity]) {
    const { choice, tried } = await tuned({ ms: cost, error: (set) => (set === 'workgroup-products' ? wrong : 0) });
    expect(choice, String(wrong)).toBe('broadcast-8');
    const out = tried.find(({ set }) => set === 'workgroup-products');
    expect(out).toMatchObject({ ms: null, taken: false, waits: null });
    expect(out?.refused).toContain('numbers are not right');
  }
});

test('where the kernels a run began with are wrong, right ones are taken though they are slower', async () => {
  const { choice, tried } = await tuned({
    ms: (set) => (set === 'barrier-free' ? 1 : 20),
    error: (set) => (set === 'barrier-free' ? 1 : 0),
  });
  expect(choice).toBe('workgroup');
  expect(tried[0]).toMatchObject({ set: 'barrier-free', taken: false });
});

test('where all are wrong nothing is taken, and each says why', async () => {
  const { choice, tried } = await tuned({ ms: cost, error: () => 1 });
  expect(choice).toBe(BEGIN.choice);
  expect(tried.map(({ taken, refused }) => [taken, refused !== ''])).toEqual(tried.map(() => [false, true]));
});

test('a set that does not compile, or is lost while it is checked or timed, throws only itself out', async () => {
  for (const when of ['compile', 'check', 'train'] as const) {
    const { choice, tried } = await tuned({
      ms: cost,
      breaks: (set, during) => (set === 'workgroup-products' && during === when ? `lost in ${when}` : ''),
    });
    expect(choice, when).toBe('broadcast-8');
    expect(tried.find(({ set }) => set === 'workgroup-products')?.refused).toContain(`lost in ${when}`);
  }
});

test('a small gain does not change anything', async () => {
  const { choice } = await tuned({ ms: (set) => (set === 'workgroup' ? 9.8 : 10) });
  expect(choice).toBe(BEGIN.choice);
});

/** Tuned over and over, each time from where the last one ended, until all was tried. */
async function byRuns(device: Device, limits: typeof LIMITS) {
  let start = BEGIN;
  const runs: Awaited<ReturnType<typeof tuned>>[] = [];
  while (runs.length === 0 || waiting(KERNEL_SET_NAMES, start).length > 0) {
    expect(runs.length, 'runs without an end').toBeLessThan(30);
    const run = await tuned(device, limits, start);
    runs.push(run);
    start = { choice: run.choice, tried: run.tried };
  }
  return { ...start, runs };
}

test('what the time does not suffice for waits, what was compared in it is taken; the box is kept but for one slice', async () => {
  const slow = { ms: cost, compileMs: 4000 };
  const { choice, tried, clock, opened } = await tuned(slow);
  expect(opened).toEqual(['barrier-free', 'workgroup']);
  expect(clock).toBeLessThan(LIMITS.boxMs + slow.compileMs + 100);
  expect(choice).toBe('workgroup');
  expect(tried.map(({ waits }) => waits)).toEqual([null, null, 0, 0]);
  const none = await tuned(slow, { ...LIMITS, boxMs: 0 });
  expect([none.choice, none.opened, none.clock]).toEqual([BEGIN.choice, [], 0]);
});

test('cut short by its box it goes on with the rest, ends where one in one piece does, and opens nothing a second time but the best so far', async () => {
  const slow = { ms: cost, compileMs: 4000 };
  const whole = await tuned(slow, { ...LIMITS, boxMs: 1e6 });
  const { runs, ...end } = await byRuns(slow, LIMITS);
  expect(runs.length).toBeGreaterThan(2);
  expect(end.choice).toBe(whole.choice);
  expect(end.tried).toEqual(whole.tried);
  runs.forEach(({ opened }, run) => expect(opened[0]).toBe(runs[run - 1]?.choice ?? BEGIN.choice));
  expect(runs.flatMap(({ opened }) => opened.slice(1))).toEqual(RIVALS);
  expect((await tuned(slow, LIMITS, end)).opened).toEqual([]);
});

test('what is known on the way can be kept: going on from there measures only what was left', async () => {
  const { found, choice, tried } = await tuned({ ms: cost });
  expect(found.length).toBe(RIVALS.length);
  const [first] = found;
  expect(first?.tried.filter(({ waits }) => waits === null).map(({ set }) => set)).toEqual([
    'barrier-free',
    'workgroup',
  ]);
  const rest = await tuned({ ms: cost }, LIMITS, first);
  expect(rest.opened).toEqual(RIVALS);
  expect([rest.choice, rest.tried]).toEqual([choice, tried]);
});

test('a set that two boxes closed on is out and says so, and those after it have their turn', async () => {
  const compileMs = (set: KernelSet) => (set === 'workgroup' ? 1e5 : 100);
  const { choice, tried, runs } = await byRuns({ ms: cost, compileMs }, LIMITS);
  const row = (run: Tuned | undefined) => run?.tried.find(({ set }) => set === 'workgroup');
  expect(row(runs[0])).toMatchObject({ waits: 1, refused: '' });
  expect(row(runs[1])).toMatchObject({ waits: null, ms: null, refused: 'It was not measured within 10 s, 2 times.' });
  expect(tried.filter(({ set }) => set !== choice).every(({ waits }) => waits === null)).toBe(true);
  expect(choice).toBe('workgroup-products');
  expect(runs.flatMap(({ opened }) => opened).filter((set) => set === 'workgroup')).toHaveLength(2);
});

test('what is hopelessly slow is timed twice and not again', async () => {
  const few = await tuned({ ms: (set) => (set === 'workgroup' ? 400 : 4) });
  expect(few.tried.find(({ set }) => set === 'workgroup')).toMatchObject({
    ms: 400,
    taken: false,
    refused: '',
    waits: null,
  });
  // a step to warm up and two that are timed; all the others do, compiling included, is less than two of them
  expect(few.clock).toBeLessThan(5 * 400);
});

test('where what a run began with is hopelessly slow, the rival is taken', async () => {
  const { choice } = await tuned({ ms: (set) => (set === 'barrier-free' ? 400 : cost(set)) });
  expect(choice).toBe('workgroup-products');
});

test('one moment in which something else had the machine throws nothing out and takes nothing', async () => {
  for (const [slow, call] of [
    ['workgroup', 2], // the step by which the hopeless are found
    ['workgroup', 4],
    ['barrier-free', 2],
    ['barrier-free', 5],
  ] as const) {
    let calls = 0;
    const { choice } = await tuned({
      ms: (set) => {
        const late = set === slow && ++calls === call ? 300 : 0;
        return late + (set === 'workgroup' ? 5 : 10);
      },
    });
    expect(choice, `${slow}, call ${call}`).toBe('workgroup');
  }
});

test('ended early, it closes what it had open, a set that is still compiling too', async () => {
  let closed = 0;
  let compiled: () => void = () => undefined;
  const run = tune(
    KERNEL_SET_NAMES,
    BEGIN,
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
