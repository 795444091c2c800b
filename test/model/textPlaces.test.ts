import { expect, test } from 'vitest';
import { commonBeginnings, Places } from '../../src/model/gpu/text/places.ts';

test('a text shares with the earlier one it has the longest beginning in common with, the last token of neither', () => {
  const texts = [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 9], [1, 2, 9, 9], [5], [1, 2, 3]];
  expect(commonBeginnings(texts)).toEqual([
    { other: 0, count: 0 },
    { other: 0, count: 3 },
    { other: 0, count: 2 },
    { other: 0, count: 2 }, // row 2's third token is its last
    { other: 4, count: 0 },
    { other: 0, count: 2 },
  ]);
});

test('a place is free again when the last row that has it gives it up, and no row loses what it still has', () => {
  const places = new Places(3, 4, 8);
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
  expect(places.held(0)).toBe(0);
  expect(() => places.extend(0, 9)).toThrow('none is free');
});
