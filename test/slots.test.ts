import { expect, test } from 'vitest';
import { drawsOf, rowOrder, slotCounts } from '../src/model/gpu/slots.ts';

test('plans are recorded for eighths of the rows and for less in blocks of sixteen, once each, and always for all', () => {
  expect(slotCounts(256)).toEqual([16, 32, 64, 96, 128, 160, 192, 224, 256]);
  expect(slotCounts(40)).toEqual([16, 32, 40]);
  expect(slotCounts(6)).toEqual([6]);
});

test('rows that work take the first slots, in their order; the others follow, each once', () => {
  expect(rowOrder(6, (b) => b % 2 === 1)).toEqual({ rows: [1, 3, 5, 0, 2, 4], working: 3 });
});

const CHUNK = {
  maxTokens: 3,
  forced: Int32Array.of(5, 6, 7, 8, 0, 0, 0, 0, 0, 9, 4, 0),
  forcedCounts: Int32Array.of(3, 1, 0, 2),
  forcedRoles: Int32Array.of(1, 3, 3, 1),
  states: Int32Array.of(-1, 0, 2, 0),
  budgets: Int32Array.of(5, 5, 2, 5),
};

test('a row draws after what is forced on it, within its budget and the chunk, unless its state says nothing', () => {
  expect(drawsOf(CHUNK)).toEqual(Int32Array.of(0, 2, 2, 1));
});
