import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { browserStore } from '../src/session/tuningStore.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('a database that never answers keeps no run waiting: two seconds later there is no tuning', async () => {
  vi.stubGlobal('indexedDB', { open: () => ({}) });
  const { read, write } = browserStore();
  const ended: unknown[] = [];
  void read('key').then((value) => ended.push(['read', value]));
  void write('key', 1).then(() => ended.push(['written']));
  await vi.advanceTimersByTimeAsync(1900);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(ended).toEqual([['read', null], ['written']]);
});

test('a browser without a database has no tuning, at once', async () => {
  vi.stubGlobal('indexedDB', undefined);
  const { read, write } = browserStore();
  expect(await read('key')).toBeNull();
  await write('key', 1);
  expect(vi.getTimerCount()).toBe(0);
});
