import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { presetConfig } from '../../src/page/knobs/configStore.ts';
import { droppableRuns } from '../../src/page/runs/keepRule.ts';
import { type Run, runWithDefaults } from '../../src/runs/run.ts';
import type { SavedRun } from '../../src/page/runs/saveRecord.ts';

let saves = new Map<string, SavedRun>(); // the browser's database
let started = 0;
const words = new Map<string, string>(); // its local storage

beforeEach(() => {
  saves = new Map();
  started = 0;
  words.clear();
  vi.stubGlobal('navigator', {});
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => words.get(key) ?? null,
    setItem: (key: string, value: string) => words.set(key, value),
  });
});
afterEach(() => {
  vi.doUnmock('../../src/page/runs/database.ts');
  vi.doUnmock('../../src/page/runs/liveRun.ts');
  vi.unstubAllGlobals();
});

const runOf = (name: string, seconds: number, update = seconds): Run => {
  const time = new Date(1e12 + 1000 * ++started).toISOString();
  return {
    ...runWithDefaults({ id: started, name, started: time, begun: presetConfig('number-hunt') }),
    seconds,
    update,
  };
};

/** A visit: the page is opened, or loaded again. `train` trains a run until it is saved, in place of the run before. */
async function visit() {
  vi.resetModules();
  let run: Run | null = null;
  vi.doMock('../../src/page/runs/database.ts', () => ({
    writeSave: (slot: string, saved: SavedRun) => Promise.resolve(void saves.set(slot, saved)),
    deleteSave: (slot: string) => Promise.resolve(void saves.delete(slot)),
    summarizeSaves: () =>
      Promise.resolve(
        Array.from(saves, ([slot, { run: of, order }]) => ({ slot, order, name: of.name, seconds: of.seconds ?? 0 })),
      ),
  }));
  vi.doMock('../../src/page/runs/liveRun.ts', () => ({ runAt: () => run }));
  const { takeCheckpoint, noteReplaced, noteResumed, saveAndWait } = await import('../../src/page/runs/saving.ts');
  const { useNotices } = await import('../../src/page/browser/notices.ts');
  const { useLive } = await import('../../src/page/view/liveStore.ts');
  const save = async (next: Run) => {
    run = next;
    useLive.setState({ update: next.update });
    takeCheckpoint({ type: 'checkpoint', refused: '' } as Parameters<typeof takeCheckpoint>[0]);
    await saveAndWait();
    await new Promise((resolve) => setTimeout(resolve, 5)); // old runs are deleted after the save
  };
  return {
    train: async (next: Run) => {
      noteReplaced();
      await save(next);
    },
    open: async (next: Run) => {
      noteResumed(next);
      await save(next);
    },
    notices: () => useNotices.getState().sentences,
  };
}
const names = () => Array.from(saves.values(), ({ run }) => run.name).toSorted();

test('a long run outlives any number of short ones, whether the page is loaded again or not', async () => {
  await (await visit()).train(runOf('long', 600, 1199));
  for (let i = 0; i < 9; i++) await (await visit()).train(runOf(`short ${i}`, 5));
  expect(names()).toContain('long');
  expect(names().length).toBeLessThanOrEqual(6); // the short ones go, the oldest first
  expect(names()).not.toContain('short 0');
  saves.clear();
  const { train } = await visit();
  await train(runOf('long', 600, 1199));
  for (let i = 0; i < 9; i++) await train(runOf(`short ${i}`, 5));
  expect(names()).toEqual(['long', 'short 8']);
});

test('nor does it end with a file that is opened or a run that is resumed in its place; the same run goes on in its slot', async () => {
  const { train, open } = await visit();
  const long = runOf('long', 600);
  await train(long);
  await open({ ...long, update: 700, seconds: 700 });
  expect(Array.from(saves.values(), ({ run }) => run.update)).toEqual([700]);
  await open(runOf('opened', 1));
  expect(names()).toEqual(['long', 'opened']);
});

test('a run is deleted after four later ones trained at least as long, which is said; not if it is to be kept', async () => {
  await (await visit()).train(runOf('first', 100));
  const [slot = ''] = saves.keys();
  await (await visit()).train(runOf('second', 100));
  const { setPinned } = await import('../../src/page/runs/keepRule.ts');
  setPinned(slot, true);
  let last = await visit();
  for (let i = 0; i < 4; i++) {
    expect(names()).toContain('second');
    last = await visit();
    await last.train(runOf(`later ${i}`, 100 + i));
  }
  expect(names()).toEqual(['first', 'later 0', 'later 1', 'later 2', 'later 3']);
  expect(last.notices()).toEqual([expect.stringMatching(/second.*1:40.*4/)]);
});

test('what is dropped depends on both time and age', () => {
  const runs = [50, 10, 40, 10, 30, 20].map((seconds, order) => ({ order, seconds }));
  expect(droppableRuns(runs, 2).map(({ order }) => order)).toEqual([1, 3]);
  expect(droppableRuns(runs, 4).map(({ order }) => order)).toEqual([1]);
});

test('the list keeps a long run through thirty short ones, and forgets the oldest of those', async () => {
  vi.doUnmock('../../src/page/runs/database.ts');
  vi.resetModules();
  const { putRun, useRuns } = await import('../../src/page/runs/runStore.ts');
  putRun(runOf('long', 600));
  for (let i = 0; i < 30; i++) putRun(runOf(`short ${i}`, 5));
  const listed = useRuns.getState().runs.map(({ name }) => name);
  expect(listed).toHaveLength(25);
  expect(listed).toContain('long');
  expect(listed).not.toContain('short 5');
  expect(listed).toContain('short 6');
});
