import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { presetConfig } from '../../src/page/knobs/configStore.ts';
import { checkpointOf } from '../../src/runs/checkpoint.ts';
import { runWithDefaults, type Run } from '../../src/runs/run.ts';
import { workerHere } from './workerHere.ts';

/** For what takes milliseconds on an idle machine. */
const PATIENT = { timeout: 240_000 };

const UPDATES = 2;
const config = {
  ...presetConfig('bandit'),
  ...({ updates: UPDATES, prompts: 2, groupSize: 4, evalTasks: 4, minibatches: 2, epochs: 1, backend: 'cpu' } as const),
};

beforeAll(async () => {
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
  vi.stubGlobal('location', { hash: '', href: 'http://lab.example/' });
  vi.stubGlobal('document', { hidden: false });
  await workerHere();
});
afterAll(() => vi.unstubAllGlobals());

const page = async () => ({
  ...(await import('../../src/page/training/engine.ts')),
  ...(await import('../../src/page/view/liveStore.ts')),
  ...(await import('../../src/page/runs/liveRun.ts')),
  ...(await import('../../src/page/knobs/configStore.ts')),
  ...(await import('../../src/page/runs/saving.ts')),
});

/** Waits until the run rests after this update. */
async function rests(update: number): Promise<void> {
  const { useLive } = await page();
  const resting = { session: 'ready', running: false, stepping: false, finished: true, update };
  await vi.waitFor(() => expect(useLive.getState()).toMatchObject(resting), PATIENT);
}

/** Opens a run from its checkpoint, and waits until it is the lab's. */
async function open(run: Run): Promise<void> {
  const { startFrom, useLive } = await page();
  const before = useLive.getState().run;
  startFrom(run);
  await vi.waitFor(() => expect(useLive.getState().run).toBe(before + 1), PATIENT);
}

async function checkpointAt(update: number): Promise<Run> {
  const { latestCheckpoint } = await page();
  return vi.waitFor(() => {
    const run = latestCheckpoint();
    if (run?.update !== update) throw new Error(`want a checkpoint at update ${update}`);
    return run;
  }, PATIENT);
}

/** The planned number of updates: on the page, in the run, and in what a link to the run says. */
async function planned(): Promise<readonly (number | undefined)[]> {
  const { useConfig, currentRun } = await page();
  const { wanted, applied } = useConfig.getState();
  return [wanted.updates, applied?.updates, currentRun()?.begun.updates];
}

beforeEach(async () => {
  const { start, useLive, useConfig } = await page();
  const before = useLive.getState().run;
  useConfig.setState({ wanted: config });
  start(true);
  await vi.waitFor(() => expect(useLive.getState().run).toBe(before + 1), PATIENT);
  await rests(UPDATES);
});

test('a step on a finished run trains one update more, as often as it is asked for, and marks no change in the curves', async () => {
  const { step, currentRun } = await page();
  for (const update of [3, 4]) {
    step('update');
    await rests(update);
    expect(await planned()).toEqual([update, update, update]);
  }
  expect(currentRun()?.changes).toEqual([]);
});

test('optimizer steps on a finished run take the next update apart', async () => {
  const { step, useLive } = await page();
  step('optimizer-step');
  await vi.waitFor(
    () => expect(useLive.getState()).toMatchObject({ stepping: false, finished: false, update: 2 }),
    PATIENT,
  );
  expect((await planned())[0]).toBe(3);
  step('optimizer-step'); // the second and last of this update
  await rests(3);
  expect((await planned())[0]).toBe(3);
});

test('Run on a finished run adds fifty updates; a step after it adds none', async () => {
  const { run, step, useLive } = await page();
  run();
  step('update');
  await vi.waitFor(
    () => expect(useLive.getState()).toMatchObject({ stepping: false, update: 3, finished: false }),
    PATIENT,
  );
  expect(await planned()).toEqual([52, 52, 52]);
});

test('a run goes on that somebody shortened to fewer updates than it has', async () => {
  const { step, editKnobs } = await page();
  editKnobs({ updates: 1 });
  step('update');
  await rests(3);
  expect((await planned())[0]).toBe(3);
});

test.each([
  ['resumed', (run: Run): Run => run],
  ['prolonged, then resumed', (run: Run): Run => run],
  ['forked', (run: Run): Run => ({ ...run, id: 0, name: 'a fork', fork: { run: run.id, update: run.update } })],
  [
    'imported',
    ({ begun, checkpoint, update, series }: Run): Run =>
      runWithDefaults({ id: 0, name: 'from a folder', started: '2026-11-28', begun, update, series, checkpoint }),
  ],
] as const)(
  'a step goes on with a finished run that was %s, even if it is asked for while the run opens',
  async (kind, from) => {
    const { step, startFrom } = await page();
    const first = kind.startsWith('prolonged') ? 3 : UPDATES;
    if (first > UPDATES) {
      step('update');
      await rests(first);
    }
    const run = await checkpointAt(first);
    await open(from(run));
    step('update');
    await rests(first + 1);
    startFrom(from(run));
    step('update');
    await rests(first + 1);
  },
);

test('a run that has as many updates as a run can have says so', async () => {
  const { step, run, useLive } = await page();
  const saved = await checkpointAt(UPDATES);
  const parts = saved.checkpoint;
  if (!parts) throw new Error('want a checkpoint');
  const most = { ...parts.config, updates: 100_000 };
  const progress = { ...parts.progress, update: 100_000 };
  const checkpoint = checkpointOf({ ...parts, begun: most, config: most, progress });
  await open({ ...saved, begun: most, config: most, update: 100_000, checkpoint });
  for (const goOn of [() => step('update'), run]) {
    useLive.setState({ problem: null });
    goOn();
    await vi.waitFor(() => expect(useLive.getState().problem?.message).toMatch(/100,?001|100,?050/), PATIENT);
    await rests(100_000);
  }
});
