import { expect, test } from 'vitest';
import { partialsFor, splitOf, unsplit, type PartialGradients } from '../../src/model/gpu/partialGradients.ts';
import type { Gpu } from '../../src/gpu/device.ts';

const MiB = 1024 * 1024;

/** What slabsFor looks at. */
function adapter(maxStorageBufferBindingSize = 128 * MiB, software = false): Pick<Gpu, 'device' | 'software'> {
  return { software, device: { limits: { maxStorageBufferBindingSize, maxBufferSize: 256 * MiB } } } as unknown as Gpu;
}
const slabs = (count: number, every = false) => ({ count, alwaysSplit: every }) as PartialGradients;

test('a pool has one slab in software, and otherwise as many as tokens, memory and the binding limit allow', () => {
  expect(partialsFor(adapter(128 * MiB, true), 1000, 100_000).count).toBe(1);
  expect(partialsFor(adapter(), 1000, 127).count).toBe(1);
  expect(partialsFor(adapter(), 1000, 1000).count).toBe(7);
  expect(partialsFor(adapter(), 1000, 100_000).count).toBe(16);
  expect(partialsFor(adapter(), 5_500_000, 100_000).count).toBe(3); // 64 MiB / 22 MB
  expect(partialsFor(adapter(30 * MiB), 5_500_000, 100_000).count).toBe(1);
  expect(partialsFor(adapter(), 50_000_000, 100_000).count).toBe(1);
  expect(partialsFor(adapter(), 50_000_000, 1, 3)).toEqual({ count: 3, alwaysSplit: true });
});

test('parts of a sum hold every term once, and all parts but the last are full', () => {
  for (const K of [1, 15, 16, 17, 161, 1028, 4160]) {
    for (const [count, every] of [
      [1, true],
      [3, true],
      [8, true],
      [16, false],
    ] as const) {
      const { parts, chunk } = splitOf(slabs(count, every), K, 24);
      expect(chunk % 16).toBe(0);
      expect(parts).toBeLessThanOrEqual(count);
      expect(parts * chunk).toBeGreaterThanOrEqual(K);
      if (!every) expect((parts - 1) * chunk).toBeLessThan(K);
    }
  }
  expect(splitOf(slabs(8, true), 161, 1000).parts).toBe(8); // the last ones are empty
  expect(unsplit(161)).toEqual({ parts: 1, chunk: 176 });
});

test('a sum is cut until its workgroups fill a GPU, into parts of 128 tokens at least', () => {
  expect(splitOf(slabs(16), 4160, 24).parts).toBe(16); // 512 / 24 would be 22
  expect(splitOf(slabs(16), 4160, 128).parts).toBe(4);
  expect(splitOf(slabs(16), 4160, 512).parts).toBe(1);
  expect(splitOf(slabs(16), 300, 1).parts).toBe(2);
  expect(splitOf(slabs(16), 100, 1).parts).toBe(1);
});
