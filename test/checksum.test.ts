import { expect, test } from 'vitest';
import { checksumOf } from '../src/base/checksum.ts';
import { random } from '../src/base/rng.ts';

const save = () => ({
  update: 7,
  name: 'a run',
  weights: new Map([
    ['x', Float32Array.from({ length: 257 }, (_, i) => Math.sin(i))],
    ['y', new Float32Array(3)],
  ]),
  bytes: Uint8Array.of(1, 2, 3, 4, 5),
  none: null,
  list: [1, '1', true, [], new Map(), {}],
});

test('a clone, and the same fields in another order, have the same checksum; -0, 1 for "1" and an empty map for a list do not', () => {
  const value = save();
  expect(checksumOf(structuredClone(value))).toBe(checksumOf(value));
  expect(checksumOf({ b: 2, a: 1 })).toBe(checksumOf({ a: 1, b: 2 }));
  const sums = [0, -0, 1, '1', true, null, undefined, [], {}, new Map(), [1], [[1]], new Uint8Array(0), NaN];
  expect(new Set(sums.map(checksumOf)).size).toBe(sums.length);
  expect(checksumOf(value)).toMatch(/^[0-9a-f]{16}$/);
});

test('every single flipped bit of a tensor changes it, wherever its bytes lie', () => {
  const bytes = Uint8Array.from({ length: 37 }, (_, i) => 37 * i);
  const shifted = new Uint8Array([9, ...bytes]).subarray(1);
  expect(checksumOf(shifted)).toBe(checksumOf(bytes));
  const whole = checksumOf(bytes);
  const seen = new Set([whole]);
  for (let bit = 0; bit < 8 * bytes.length; bit++) {
    const flipped = bytes.slice();
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    seen.add(checksumOf(flipped));
  }
  expect(seen.size).toBe(1 + 8 * bytes.length);
});

test('two words that change together do not cancel out: 20,000 random pairs give 20,000 checksums', () => {
  const draw = random(3, 1, 4);
  const words = new Uint32Array(64);
  const seen = new Set<string>();
  for (let n = 0; n < 20_000; n++) {
    const changed = words.slice();
    changed[n % 64] = (draw.next() * 2 ** 32) >>> 0;
    changed[(n + 1 + Math.floor(draw.next() * 62)) % 64] = (draw.next() * 2 ** 32) >>> 0;
    seen.add(checksumOf(changed));
  }
  expect(seen.size).toBe(20_000);
});
