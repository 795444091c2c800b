import { describe, expect, test } from 'vitest';
import {
  unreadValues,
  field,
  flagOrNull,
  has,
  idsOrNull,
  keysText,
  numberOrNull,
  numbersOrNull,
  objectAt,
  objectListAt,
  shown,
  textAt,
  textOrNull,
} from '../../src/rollouts/jsonFields.ts';
import { ProblemError } from '../../src/base/problem.ts';
import { refusalOf, runOfPath, stepOfPath } from '../../src/rollouts/fileRefusal.ts';

/** What a reader makes of a value under a key; a refusal by what it got. */
function read(reader: (of: { readonly k: unknown }, key: string) => unknown, value: unknown): unknown {
  try {
    return reader({ k: value }, 'k');
  } catch (error) {
    if (error instanceof ProblemError) return `got ${error.problems[0]?.got}`;
    throw error;
  }
}

describe('a value of a line', () => {
  // prettier-ignore
  test.each<[unknown, text: string | null, number: number | null, flag: boolean | null]>([
    ['a', 'a', null, null], ['', '', null, null], ['1.5', '1.5', 1.5, null], ['TRUE', 'TRUE', null, true],
    ['False', 'False', null, false], ['1', '1', 1, null], [1, '1', 1, true], [0, '0', 0, false], [-0.25, '-0.25', -0.25, null],
    [2, '2', 2, null], [true, 'true', 1, true], [false, 'false', 0, false], [null, null, null, null],
    [undefined, null, null, null], [NaN, 'NaN', null, null], [Infinity, 'Infinity', null, null], [{}, null, null, null],
    [[], null, null, null], [[3], '3', 3, null], [['a'], 'a', null, null], [[true], 'true', 1, true],
    [[1, 2], null, null, null], [[[1]], null, null, null],
  ])('%j is the text %j, the number %j, the flag %j', (value, text, number, flag) => {
    expect([read(textOrNull, value), read(numberOrNull, value), read(flagOrNull, value)]).toEqual([text, number, flag]);
  });

  test('a text that has to be there is one, or a list of one', () => {
    const wanted = ['a', ['b'], '', 3, null, undefined, ['a', 'b'], {}].map((value) => read(textAt, value));
    expect(wanted).toEqual([
      ...['a', 'b', '', 'got 3 for k', 'got nothing for k', 'got nothing for k', 'got a list of 2 for k'],
      'got an object with no keys for k',
    ]);
  });

  test('objects and lists of them are read as they are or as texts of JSON; none is an empty one', () => {
    const object = [{ a: 1 }, '{"a":1}', null, undefined, [], 'a', 3].map((value) => read(objectAt, value));
    expect(object).toEqual([{ a: 1 }, { a: 1 }, {}, {}, 'got a list of 0 for k', 'got the text “a” for k', 'got 3 for k']); // prettier-ignore
    const list = [[{ a: 1 }, '{"b":2}'], '[{"a":1}]', null, {}, [{}, 3], ['a']].map((value) =>
      read(objectListAt, value),
    );
    expect(list.slice(0, 4)).toEqual([[{ a: 1 }, { b: 2 }], [{ a: 1 }], [], 'got an object with no keys for k']);
    expect(list.slice(4)).toEqual(['got 3 in k, entry 2', 'got the text “a” in k, entry 1']);
  });

  test('numbers of tokens keep their gaps, ids have none, and another length is told', () => {
    const numbers = [[1, null, true, -2.5], [], null, 3, [1, 'a'], [[]]].map((value) => read(numbersOrNull, value));
    expect(numbers.slice(0, 4)).toEqual([[1, null, 1, -2.5], [], null, 'got 3 for k']);
    expect(numbers.slice(4)).toEqual(['got the text “a” in k, entry 2', 'got a list of 0 in k, entry 1']);
    const sized = [[1, 2], [1], [1, 2, 3]].map((value) => read((of, key) => numbersOrNull(of, key, 2), value));
    expect(sized).toEqual([[1, 2], 'got 1 entries in k', 'got 3 entries in k']);
    const ids = [[0, 5], null, [1, -1], [0.5], [0, null], [2 ** 53]].map((value) => read(idsOrNull, value));
    expect(ids.slice(0, 2)).toEqual([[0, 5], null]);
    expect(ids.slice(2)).toEqual([
      ...['got -1 in k, entry 2', 'got 0.5 in k, entry 1', 'got nothing in k, entry 2'],
      'got 9007199254740992 in k, entry 1',
    ]);
  });

  test('is its own: what an object inherits is no field, and null is none', () => {
    expect(field({}, 'toString')).toBeUndefined();
    expect([field({ a: null }, 'a'), field({ a: 0 }, 'a'), field({ a: '' }, 'a')]).toEqual([undefined, 0, '']);
    expect([has({ a: null, b: 1 }, 'a', 'b'), has({ a: 1 }, 'a', 'b'), has({}, 'toString')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('is shown in few words', () => {
    const many = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`k${i}`, i]));
    expect([shown(true), shown([1]), shown({ a: 1 })]).toEqual(['true', 'a list of 1', 'an object with the keys a']);
    expect(keysText(many)).toBe('the keys k0, k1, k2, k3, k4, k5 and 2 more');
    expect(keysText(Object.fromEntries(Object.entries(many).slice(0, 6)))).toBe('the keys k0, k1, k2, k3, k4, k5');
  });
});

test('what else a line says is all of it but what was read and understood, cut where it is long', () => {
  const line = { read: 1, score: 'good', acc: 1, gone: null, text: 'as it is', list: [1, 'a'] };
  expect(unreadValues(line, ['read'], { score: numberOrNull, acc: flagOrNull, gone: numberOrNull })).toEqual([
    ['score', 'good'],
    ['text', 'as it is'],
    ['list', '[1,"a"]'],
  ]);
  const lengths = [2000, 2001].map((n) => unreadValues({ k: 'x'.repeat(n) }, [])[0]?.[1]);
  expect(lengths).toEqual(['x'.repeat(2000), `${'x'.repeat(2000)} … (2001 characters)`]);
  const of = (n: number) => unreadValues(Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, i])), []);
  expect([of(100).length, of(100).at(-1)]).toEqual([100, ['k99', '99']]);
  expect([of(103).length, of(103).at(-1)]).toEqual([101, ['…', 'and 3 more keys']]);
});

// prettier-ignore
test.each<[string, number | null]>([
  ['12.jsonl', 12], ['a/7.parquet', 7], ['3.JSON', 3], ['3.ndjson', 3], ['3.txt', null], ['x3.jsonl', null],
  ['step_12/rollouts.jsonl', 12], ['global_step_40/a.jsonl', 40], ['completions_00012.parquet', 12], ['update=5.jsonl', 5],
  ['iter-3.jsonl', 3], ['iteration7/a.jsonl', 7], ['step_1/step_2/a.jsonl', 2], ['step_1/9.jsonl', 9],
  ['footstep_3.jsonl', null], ['step_3x.jsonl', null], ['step_1234567890123.jsonl', null], ['a/step_4', 4], ['', null],
])('the path %j names step %j', (path, step) => {
  expect(stepOfPath(path)).toBe(step);
});

test('files that differ in the number of a part are of one run', () => {
  expect(runOfPath('a/rank_0.jsonl')).toBe(runOfPath('a/rank_12.jsonl'));
  expect(runOfPath('a-00001-of-00003.parquet')).toBe(runOfPath('a-00002-of-00003.parquet'));
  expect(runOfPath('a/crank_0.jsonl')).not.toBe(runOfPath('a/crank_1.jsonl'));
  expect(runOfPath('a/rank_0.jsonl')).not.toBe(runOfPath('b/rank_0.jsonl'));
  expect(runOfPath('a/shard_0.jsonl')).not.toBe(runOfPath('a/part_0.jsonl'));
});

test('a file is refused by what it begins with, and only by the whole of it', () => {
  const got = (...head: readonly number[]) => refusalOf(Uint8Array.from(head), head.length)?.got ?? null;
  expect(refusalOf(new Uint8Array(), 0)?.got).toBe('an empty file');
  expect([got(0xff, 0xfe, 1), got(0xfe, 0xff), got(0xff, 0x7b)]).toEqual(['UTF-16', 'UTF-16', null]);
  expect(got(0x50, 0x4b, 3, 4)).toBe('a zip file');
  expect([2, 4, 5, 3].map((version) => got(0x80, version))).toEqual(['a pickle', 'a pickle', 'a pickle', null]);
  expect([got(0x28, 0xb5, 0x2f, 0x20), got(0x7b, 0, 0x7d)?.slice(0, 5)]).toEqual([null, 'bytes']);
  expect([got(0x50, 0x41, 0x52, 0x31, 0), got(0x7b, 0x7d)]).toEqual([null, null]); // PAR1
});
