import { expect, test } from 'vitest';
import { CachePlaces } from '../../src/model/gpu/text/places.ts';
import { sharedBeginnings } from '../../src/model/sharedBeginnings.ts';

test('a text shares with one that is begun before it the longest beginning that it has in common with any of those', () => {
  const texts = [[1, 2, 3], [1, 2, 9], [5], [1, 2, 3, 4], [1, 2, 9, 9], [1, 2, 3]];
  expect(sharedBeginnings(texts)).toEqual([
    { row: 0, likeRow: 0, shared: 0 },
    { row: 5, likeRow: 0, shared: 3 },
    { row: 3, likeRow: 5, shared: 3 },
    { row: 1, likeRow: 3, shared: 2 },
    { row: 4, likeRow: 1, shared: 3 },
    { row: 2, likeRow: 4, shared: 0 },
  ]);
});

test('a place is free again when the last row that has it gives it up, and no row loses what it still has', () => {
  const places = new CachePlaces(3, 4, 8);
  places.extend(0, 4);
  places.share(1, 0, 2);
  places.extend(1, 3);
  places.share(2, 1, 3);
  expect(places.free).toBe(3);
  expect([...places.table.subarray(4, 6)]).toEqual([...places.table.subarray(0, 2)]);
  expect(places.table[6]).not.toBe(places.table[2]);
  expect([...places.table.subarray(8, 11)]).toEqual([...places.table.subarray(4, 7)]);
  places.release(0, 1);
  expect(places.free).toBe(5); // its third and fourth; the second is still read by others
  places.release(1, 0);
  expect(places.free).toBe(5); // row 2 reads all of them
  places.extend(0, 4);
  const taken = new Set([...places.table.subarray(0, 4), ...places.table.subarray(8, 11)]);
  expect(taken.size).toBe(6); // the first is both rows'
  places.release(2, 0);
  places.release(0, 0);
  expect(places.free).toBe(8);
  expect(places.count(0)).toBe(0);
  expect(() => places.extend(0, 9)).toThrow('no place is free');
});
