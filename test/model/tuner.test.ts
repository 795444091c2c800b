import { expect, test } from 'vitest';
import {
  choiceNamed,
  nameOfChoice,
  uniformChoice,
  type KernelChoice,
  type TriedVariant,
} from '../../src/config/kernelChoice.ts';
import { variantsFor, type VariantSets } from '../../src/model/gpu/kernelSets.ts';
import { isWhole, type Tuned } from '../../src/model/gpu/tuned.ts';
import { tune, type Pause, type Trial } from '../../src/model/gpu/tuner.ts';

// A device whose steps, compiling and checks take made-up times on a made-up clock.
interface Device {
  readonly ms: (choice: KernelChoice) => number; // of a step
  readonly error?: (choice: KernelChoice) => number;
  readonly compileMs?: number | ((choice: KernelChoice) => number);
  readonly breaks?: (choice: KernelChoice, during: 'compile' | 'check' | 'train') => string;
}

const LIMITS = { boxMs: 10_000, tolerance: 1e-3, rounds: 4 };
const START = uniformChoice('barrier-free');
const BEGIN: Tuned = { choice: START, tried: [] };
const WIDE = { ...variantsFor({ lanes: 8 }), sums: ['whole'] as const, decoding: ['stepwise'] as const };

async function tuned(device: Device, limits = LIMITS, sets: VariantSets = WIDE, start = BEGIN) {
  let clock = 0;
  const open = new Set<Trial>();
  const opened: string[] = [];
  const pass = (ms: number, problem = '') => {
    clock += ms;
    return problem ? Promise.reject(new Error(problem)) : Promise.resolve();
  };
  const run = tune(
    sets,
    start,
    async (choice) => {
      opened.push(nameOfChoice(choice));
      const { compileMs = 10 } = device;
      await pass(typeof compileMs === 'number' ? compileMs : compileMs(choice), device.breaks?.(choice, 'compile'));
      const trial: Trial = {
        error: () => pass(1, device.breaks?.(choice, 'check')).then(() => device.error?.(choice) ?? 1e-6),
        train: (steps) => pass(steps * device.ms(choice), device.breaks?.(choice, 'train')),
        draw: (chunks) => pass(chunks * (choice.decoding === 'persistent' ? 3 : 5)),
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

/** Each family adds its part. */
const cost = ({ products, attention, reductions }: KernelChoice) =>
  ({ 'barrier-free': 8, workgroup: 3, 'broadcast-4': 6, 'broadcast-8': 5 })[products] +
  { 'barrier-free': 4, workgroup: 9, 'broadcast-4': 3, 'broadcast-8': 2 }[attention] +
  { 'barrier-free': 1, workgroup: 5 }[reductions];

test('the fastest variant of each family is taken, mixed ones too, with what was measured', async () => {
  const { choice, tried, opened } = await tuned({ ms: cost });
  expect(choice).toEqual(choiceNamed('workgroup+broadcast-8+barrier-free'));
  expect(tried.filter(({ taken }) => taken).map(({ variant }) => variant)).toEqual([
    'workgroup',
    'broadcast-8',
    'barrier-free',
  ]);
  expect(tried.find(({ family, variant }) => family === 'products' && variant === 'broadcast-4')).toMatchObject({
    ms: 11, // with attention and reductions as they were then
    error: 1e-6,
    refused: '',
  });
  // the best of a family goes on into the next one without being compiled anew
  expect(opened.length).toBe(new Set(opened).size);
  expect(opened.length).toBe(4 + 3 + 1);
});

test('where there are two ways to decode, what is timed is drawing', async () => {
  const { choice, tried } = await tuned({ ms: cost }, LIMITS, variantsFor({ lanes: 8 }));
  expect(choice.decoding).toBe('persistent');
  const decoding = tried.filter(({ family }) => family === 'decoding');
  expect(decoding.map(({ variant, ms }) => [variant, ms])).toEqual([
    ['stepwise', 5],
    ['persistent', 3],
  ]);
});

test('sums in parts are taken where they are faster, and with them the rest is compared', async () => {
  const ms = (choice: KernelChoice) => cost(choice) + (choice.sums === 'slabs' ? 1 : 3);
  const { choice, tried, opened } = await tuned({ ms }, LIMITS, { ...WIDE, sums: ['whole', 'slabs'] });
  expect(nameOfChoice(choice)).toBe('workgroup+broadcast-8+barrier-free+slabs');
  expect(tried.filter(({ family }) => family === 'sums').map(({ variant, ms: each }) => [variant, each])).toEqual([
    ['whole', 3 + 2 + 1 + 3],
    ['slabs', 3 + 2 + 1 + 1],
  ]);
  expect(opened.at(-1)).toBe(nameOfChoice(choice));
});

test('kernels with wrong numbers, or none, are out however fast they are', async () => {
  for (const wrong of [2e-3, NaN, Infinity]) {
    const { choice, tried } = await tuned({
      ms: cost,
      error: ({ products }) => (products === 'workgroup' ? wrong : 0),
    });
    expect(choice.products, String(wrong)).toBe('broadcast-8');
    const out = tried.find(({ variant, family }) => variant === 'workgroup' && family === 'products');
    expect(out).toMatchObject({ ms: null, taken: false });
    expect(out?.refused).toContain('numbers are not right');
  }
});

test('where the kernels a run began with are wrong, right ones are taken though they are slower', async () => {
  const { choice, tried } = await tuned({
    ms: ({ products }) => (products === 'barrier-free' ? 1 : 20),
    error: ({ products }) => (products === 'barrier-free' ? 1 : 0),
  });
  expect(choice.products).not.toBe('barrier-free');
  expect(tried[0]).toMatchObject({ variant: 'barrier-free', taken: false });
});

test('a choice that does not compile, or is lost while it is checked or timed, throws only itself out', async () => {
  for (const when of ['compile', 'check', 'train'] as const) {
    const { choice, tried } = await tuned({
      ms: cost,
      breaks: ({ products }, during) => (products === 'workgroup' && during === when ? `lost in ${when}` : ''),
    });
    expect(nameOfChoice(choice), when).toBe('broadcast-8');
    expect(tried.find(({ variant }) => variant === 'workgroup')?.refused).toContain(`lost in ${when}`);
  }
});

test('a small gain does not change anything', async () => {
  const { choice } = await tuned({ ms: ({ products }) => (products === 'workgroup' ? 9.8 : 10) });
  expect(choice).toEqual(START);
});

/** Tuned over and over, each time from where the last one ended, until all was tried. */
async function byRuns(device: Device, limits: typeof LIMITS) {
  let start = BEGIN;
  const runs: Awaited<ReturnType<typeof tuned>>[] = [];
  while (!isWhole(WIDE, start)) {
    expect(runs.length, 'runs without an end').toBeLessThan(30);
    const run = await tuned(device, limits, WIDE, start);
    runs.push(run);
    start = { choice: run.choice, tried: run.tried };
  }
  return { ...start, runs };
}

const name = ({ family, variant }: TriedVariant) => `${family} ${variant}`;

test('what the time does not suffice for waits, what was compared in it is taken; the box is kept but for one slice', async () => {
  const slow = { ms: cost, compileMs: 3000 };
  const { choice, tried, clock, opened } = await tuned(slow);
  expect(opened).toHaveLength(3);
  expect(clock).toBeLessThan(LIMITS.boxMs + slow.compileMs + 100);
  // two compilations fill half the box: these two are compared, and then the better one with a third
  expect(choice).toEqual({ ...START, products: 'workgroup' });
  expect(tried.filter(({ waits }) => waits === null).map(name)).toEqual([
    'products barrier-free',
    'products workgroup',
    'products broadcast-4',
  ]);
  expect(tried).toHaveLength(4 + 4 + 2);
  const none = await tuned(slow, { ...LIMITS, boxMs: 0 });
  expect([none.choice, none.opened, none.clock]).toEqual([START, [], 0]);
});

test('cut short by its box it goes on with the rest, ends where one in one piece does, and opens nothing a second time but the best so far', async () => {
  const slow = { ms: cost, compileMs: 3000 };
  const whole = await tuned(slow, { ...LIMITS, boxMs: 1e6 });
  const { runs, ...end } = await byRuns(slow, LIMITS);
  expect(runs.length).toBeGreaterThan(2);
  expect(end.choice).toEqual(whole.choice);
  expect(end.tried).toEqual(whole.tried);
  runs.forEach(({ opened }, run) => expect(opened[0]).toBe(nameOfChoice(runs[run - 1]?.choice ?? START)));
  const rivals = runs.flatMap(({ opened }) => opened.slice(1));
  expect(rivals).toHaveLength(3 + 3 + 1);
  expect(new Set(rivals).size).toBe(rivals.length);
  expect((await tuned(slow, LIMITS, WIDE, end)).opened).toEqual([]);
});

test('what is known on the way can be kept: going on from there measures only what was left', async () => {
  const { found, choice, tried } = await tuned({ ms: cost });
  expect(found.length).toBe(3);
  const [products] = found;
  expect(products?.tried.filter(({ waits }) => waits === null).map(name)).toEqual(
    tried.slice(0, 4).map(name), // its first family
  );
  const rest = await tuned({ ms: cost }, LIMITS, WIDE, products);
  expect(rest.opened).toHaveLength(1 + 3 + 1);
  expect(rest.opened.every((each) => each.startsWith('workgroup'))).toBe(true);
  expect([rest.choice, rest.tried]).toEqual([choice, tried]);
});

test('a variant that two boxes closed on is out and says so, and those after it have their turn', async () => {
  const compileMs = ({ products }: KernelChoice) => (products === 'workgroup' ? 1e5 : 100);
  const { choice, tried, runs } = await byRuns({ ms: cost, compileMs }, LIMITS);
  const row = (run: Tuned | undefined) => run?.tried.find((each) => name(each) === 'products workgroup');
  expect(row(runs[0])).toMatchObject({ waits: 1, refused: '' });
  expect(row(runs[1])).toMatchObject({ waits: null, ms: null, refused: 'It was not measured within 10 s, 2 times.' });
  expect(tried.every(({ waits }) => waits === null)).toBe(true);
  expect(choice.products).toBe('broadcast-8');
  expect(runs.flatMap(({ opened }) => opened).filter((each) => each.startsWith('workgroup'))).toHaveLength(2);
});

test('what is hopelessly slow is timed twice and not again', async () => {
  const few = await tuned({ ms: ({ products }) => (products === 'workgroup' ? 400 : 4) });
  expect(few.tried.find(({ variant }) => variant === 'workgroup')).toMatchObject({
    ms: 400,
    taken: false,
    refused: '',
  });
  // a step to warm up and two that are timed; all the others do, compiling included, is less than two of them
  expect(few.clock).toBeLessThan(5 * 400);
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
      ms: ({ products }) => {
        const late = products === slow && ++calls === call ? 300 : 0;
        return late + (products === 'workgroup' ? 5 : 10);
      },
    });
    expect(choice.products, `${slow}, call ${call}`).toBe('workgroup');
  }
});

test('ended early, it closes what it had open, a choice that is still compiling too', async () => {
  let closed = 0;
  let compiled: () => void = () => undefined;
  const run = tune(
    WIDE,
    BEGIN,
    () =>
      new Promise((resolve) => {
        compiled = () =>
          resolve({
            error: () => Promise.resolve(0),
            train: () => Promise.resolve(),
            draw: () => Promise.resolve(),
            close: () => closed++,
          });
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
