import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { StoredSave } from '../../src/page/runs/database.ts';

/** What the browser's storage does, or refuses to do. */
const storage = (kept: Map<string, string> | null) => ({
  getItem: (key: string) => {
    if (!kept) throw new DOMException('denied', 'SecurityError');
    return kept.get(key) ?? null;
  },
  setItem: (key: string, value: string) => {
    if (!kept) throw new DOMException('denied', 'SecurityError');
    kept.set(key, value);
  },
});
/** Another tab, or the same one after a reload. */
const tab = async () => {
  vi.resetModules();
  return import('../../src/page/runs/keepRule.ts');
};

beforeEach(() => {
  vi.stubGlobal('localStorage', storage(new Map()));
});
afterEach(() => vi.unstubAllGlobals());

test('each save has a higher number than all before it, of other tabs and after a reload too', async () => {
  const one = await tab();
  const other = await tab();
  expect([one.nextOrder(), other.nextOrder(), one.nextOrder(), (await tab()).nextOrder()]).toEqual([1, 2, 3, 4]);
});

test('where storage is refused or holds no number, the saves that were read count', async () => {
  for (const kept of [null, new Map([['rollout-playground-saves-counted', 'many']])]) {
    vi.stubGlobal('localStorage', storage(kept));
    const { nextOrder, noteOrder } = await tab();
    noteOrder(41);
    expect([nextOrder(), nextOrder()]).toEqual([42, 43]);
  }
});

test('the newest save comes first, whatever the clock said; those of older pages come last, by their time', async () => {
  const { newestFirst } = await tab();
  const save = (order: number, savedAt: number) => ({ order, savedAt });
  const saves = [save(0, 9000), save(7, 1000), save(-1, 0), save(6, 9999), save(0, 9500)];
  expect(saves.toSorted(newestFirst).map(({ order }) => order)).toEqual([7, 6, 0, 0, -1]);
  expect(saves.toSorted(newestFirst)[2]).toEqual(save(0, 9500));
});

test('with a clock set back, the oldest run is the one to forget', async () => {
  // the clock stood at 9,000 s, then at 1,000 s
  const value = (order: number | undefined, savedAt: number) => ({ ...(order !== undefined && { order }), savedAt });
  const kept: readonly StoredSave[] = [
    { slot: 'b', value: value(1, 9_000_000) },
    { slot: 'a', value: value(2, 1_000_000) },
    { slot: 'z', value: value(undefined, 9_500_000) }, // of an older page
    { slot: 'y', value: null },
  ];
  // a database that answers to what is asked of it here: keys and values
  const request = (result: unknown) => ({ result });
  vi.stubGlobal('indexedDB', {
    open: () => {
      const asked = request({
        close: () => undefined,
        transaction: () => {
          const transaction = {
            oncomplete: () => undefined,
            objectStore: () => ({
              getAllKeys: () => request(kept.map(({ slot }) => slot)),
              getAll: () => request(kept.map((one) => one.value)),
            }),
          };
          setTimeout(() => transaction.oncomplete(), 0);
          return transaction;
        },
      }) as { result: unknown; onsuccess?: () => void };
      setTimeout(() => asked.onsuccess?.(), 0);
      return asked;
    },
  });
  vi.resetModules();
  const { summarizeSaves } = await import('../../src/page/runs/database.ts');
  const oldestFirst = (await summarizeSaves()).map(({ slot }) => slot);
  expect(oldestFirst.slice(-2)).toEqual(['b', 'a']);
  expect(oldestFirst.slice(0, 2).toSorted()).toEqual(['y', 'z']);
});

test('with a clock set back, the newest run is offered first', async () => {
  vi.resetModules();
  const saves = [1, 3, 2].map((order) => ({ slot: `${order}`, value: { run: null, order, savedAt: -order } }));
  vi.doMock('../../src/page/runs/database.ts', () => ({ readAll: () => Promise.resolve(saves) }));
  vi.doMock('../../src/page/runs/readSave.ts', () => ({ readSave: (value: unknown) => value }));
  vi.doMock('../../src/page/runs/saveSlot.ts', () => ({ isFree: () => Promise.resolve(true) }));
  const { findSavedRuns: lookForSaved } = await import('../../src/page/runs/resumeOffers.ts');
  const { useRuns } = await import('../../src/page/runs/runStore.ts');
  await lookForSaved();
  expect(useRuns.getState().offers.map(({ slot }) => slot)).toEqual(['3', '2', '1']);
});
