import { expect, test } from 'vitest';
import { prefillTokens } from '../src/model/gpu/prefill.ts';
import { drawsOf, rowOrder, slotCounts } from '../src/model/gpu/slots.ts';

test('plans are recorded for eighths of the rows and for less in blocks of sixteen, once each, and always for all', () => {
  expect(slotCounts(256)).toEqual([16, 32, 64, 96, 128, 160, 192, 224, 256]);
  expect(slotCounts(40)).toEqual([16, 32, 40]);
  expect(slotCounts(6)).toEqual([6]);
});

test('rows that work take the first slots, in their order; the others follow, each once', () => {
  expect(rowOrder(6, (b) => b % 2 === 1)).toEqual({ rows: [1, 3, 5, 0, 2, 4], drawing: 3 });
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

test('forced tokens but the last are cached by position, after the one before them; the last are only recorded', () => {
  const [prompt, observation] = [1 << 16, 3 << 16];
  expect(prefillTokens(CHUNK, Int32Array.of(0, 4, 4, 1), Int32Array.of(0, 11, 12, 13))).toEqual({
    cached: 5,
    seats: [
      { row: 0, position: 0, word: 5 | prompt },
      { row: 3, position: 0, word: 13 }, // the record has it already: role 0
      { row: 0, position: 1, word: 6 | prompt },
      { row: 3, position: 1, word: 9 | prompt },
      { row: 1, position: 3, word: 11 },
      { row: 0, position: 2, word: 7 | prompt },
      { row: 1, position: 4, word: 8 | observation },
      { row: 3, position: 2, word: 4 | prompt },
    ],
  });
});
