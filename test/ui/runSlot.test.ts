import { beforeEach, expect, test, vi } from 'vitest';

const LATER_MS = 5; // a browser grants a lock some time after it was asked for

/** Names of locks that are held, in the order they were granted: what `navigator.locks` does, one holder each, for as long as its promise lasts. */
const held = new Set<string>();
const locks = {
  query: () => Promise.resolve({ held: [...held].map((name) => ({ name })) }),
  request: async (name: string, { signal }: { signal: AbortSignal }, keep: () => Promise<void>) => {
    do {
      await new Promise((resolve) => setTimeout(resolve, LATER_MS));
      if (signal.aborted) throw new Error('aborted');
    } while (held.has(name));
    held.add(name);
    await keep();
    held.delete(name);
  },
};

beforeEach(() => {
  held.clear();
  vi.resetModules();
  vi.stubGlobal('navigator', { locks });
});

const names = () => [...held].map((name) => name.replace('rollout-playground-run-', ''));

test('a tab keeps the place it saves at from others while it is open', async () => {
  const { isFree, ownSaveSlot } = await import('../../src/page/runs/saveSlot.ts');
  const own = ownSaveSlot();
  await expect.poll(names).toEqual([own]);
  vi.resetModules(); // another tab
  const other = await import('../../src/page/runs/saveSlot.ts');
  expect(other.ownSaveSlot()).not.toBe(own);
  await expect.poll(() => held.size).toBe(2);
  expect(await other.isFree('nobody’s')).toBe(true);
  expect(await isFree(own)).toBe(false);
});

test('who takes another place before the lock of the first was granted gives the first one free', async () => {
  const { ownSaveSlot, takeSaveSlot } = await import('../../src/page/runs/saveSlot.ts');
  const first = ownSaveSlot();
  expect(await takeSaveSlot('second')).toBe(true);
  await expect.poll(names).toEqual(['second']);
  expect(ownSaveSlot()).toBe('second');
  expect(await takeSaveSlot(first)).toBe(true); // it is there to be taken again
  await expect.poll(names).toEqual([first]);
});

test('two places taken one right after the other leave the later one held alone', async () => {
  const { ownSaveSlot, takeSaveSlot } = await import('../../src/page/runs/saveSlot.ts');
  expect(await Promise.all([takeSaveSlot('a'), takeSaveSlot('b')])).toEqual([true, true]);
  await expect.poll(names).toEqual(['b']);
  expect(ownSaveSlot()).toBe('b');
});
