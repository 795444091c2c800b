import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lastAddress, storeLastAddress } from '../../src/page/address/lastAddress.ts';

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
});
afterEach(() => vi.unstubAllGlobals());

test.each(['', '#', '#/'])(
  'the bare address leads back to the lab as it was left, and nowhere on a first visit: %j',
  (bare) => {
    expect(lastAddress(bare)).toBeNull();
    storeLastAddress('#/lab?v=2&seed=5');
    expect(lastAddress(bare)).toBe('#/lab?v=2&seed=5');
  },
);

test('an address that says where it leads goes there, and who saw the stage alone has left nothing', () => {
  storeLastAddress('#/');
  storeLastAddress('#/stage?v=2');
  expect(lastAddress('#/')).toBeNull();
  storeLastAddress('#/update?v=2');
  for (const hash of ['#/lab', '#/stage', '#/?preset=frozen-lake', '#/learn'])
    expect(lastAddress(hash), hash).toBeNull();
});
