import { expect, test } from 'vitest';
import { choiceNamed, nameOfChoice, uniformChoice, type KernelChoice } from '../../src/kernelChoice.ts';
import { variantsFor, type VariantSets } from '../../src/model/gpu/kernelSets.ts';
import { tune, type Trial, type Tuned } from '../../src/model/gpu/tuner.ts';

// A device whose steps, compiling and checks take made-up times on a made-up clock.
interface Device {
  readonly ms: (choice: KernelChoice) => number; // of a step
  readonly error?: (choice: KernelChoice) => number;
  readonly compileMs?: number;
  readonly breaks?: (choice: KernelChoice, during: 'compile' | 'check' | 'train') => string;
}

const LIMITS = { boxMs: 10_000, tolerance: 1e-3, rounds: 4 };
const START = uniformChoice('barrier-free');
const WIDE = { ...variantsFor({ lanes: 8 }), sums: ['whole'] as const, decoding: ['stepwise'] as const };

async function tuned(device: Device, limits = LIMITS, start = START, sets: VariantSets = WIDE) {
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
      await pass(device.compileMs ?? 10, device.breaks?.(choice, 'compile'));
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
  let result: IteratorResult<unknown, Tuned | null>;
  let slices = 0;
  do {
    result = await run.next();
    slices++;
  } while (!result.done);
  expect(open.size, 'trials left open').toBe(0);
  if (!result.value) throw new Error('It ended without a result.');
  return { ...result.value, opened, slices, clock };
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
  const { choice, tried } = await tuned({ ms: cost }, LIMITS, START, variantsFor({ lanes: 8 }));
  expect(choice.decoding).toBe('persistent');
  const decoding = tried.filter(({ family }) => family === 'decoding');
  expect(decoding.map(({ variant, ms }) => [variant, ms])).toEqual([
    ['stepwise', 5],
    ['persistent', 3],
  ]);
});

test('sums in parts are taken where they are faster, and with them the rest is compared', async () => {
  const ms = (choice: KernelChoice) => cost(choice) + (choice.sums === 'slabs' ? 1 : 3);
  const { choice, tried, opened } = await tuned({ ms }, LIMITS, START, { ...WIDE, sums: ['whole', 'slabs'] });
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

test('what the time does not suffice for is not chosen, and says so; the box is kept but for one slice', async () => {
  const slow = { ms: cost, compileMs: 3000 };
  const { choice, tried, clock } = await tuned(slow);
  expect(clock).toBeLessThan(LIMITS.boxMs + slow.compileMs + 100);
  expect(choice).toEqual(START); // four compilations fill the box before anything is timed
  expect(tried.filter(({ refused }) => refused.includes('no time')).length).toBeGreaterThan(4);
  const none = await tuned(slow, { ...LIMITS, boxMs: 0 });
  expect([none.choice, none.opened, none.clock]).toEqual([START, [], 0]);
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
    START,
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
