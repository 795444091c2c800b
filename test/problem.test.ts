import { expect, test } from 'vitest';
import { type Problem, ProblemError } from '../src/base/problem.ts';

const problem = (n: number, remedy = 'Do that.'): Problem => ({ file: 'f', place: `p${n}`, got: 'g', want: 'w', remedy }); // prettier-ignore
const linesOf = (...problems: readonly Problem[]) => new ProblemError(problems).message.split('\n');

test('a refusal has a line for each problem, and says once at the end what to do where that is the same for all', () => {
  expect(linesOf(problem(1))).toEqual(['f: p1: found g, expected w. Do that.']);
  expect(linesOf(problem(1), problem(2))).toEqual([
    'f: p1: found g, expected w.',
    'f: p2: found g, expected w.',
    'Do that.',
  ]);
  const mixed = [problem(1), problem(2), problem(3, 'Else.')];
  expect(linesOf(...mixed)).toEqual(
    [1, 2, 3].map((n) => `f: p${n}: found g, expected w. ${n < 3 ? 'Do that.' : 'Else.'}`),
  );
  expect(linesOf({ ...problem(1), place: '' })).toEqual(['f: found g, expected w. Do that.']);
  expect(linesOf()).toEqual(['']);
  expect(new ProblemError(mixed).problems).toMatchObject(mixed);
  expect(new ProblemError(mixed).name).toBe('ProblemError');
});

test('twelve problems are told, and of more how many there are', () => {
  const many = (n: number) => linesOf(...Array.from({ length: n }, (_, i) => problem(i)));
  expect(many(12)).toHaveLength(13);
  expect(many(12).at(-2)).toMatch(/p11/);
  expect(many(13).slice(-3)).toEqual(['f: p11: found g, expected w.', '… and 1 more.', 'Do that.']);
  expect(many(40).slice(-2)).toEqual(['… and 28 more.', 'Do that.']);
});

test('signs that cannot be seen are written out, and long places are cut', () => {
  const [line = ''] = linesOf({ ...problem(1), file: 'a\u202eb', place: 'c\0', got: 'd\u200b' });
  expect(/[\u202e\0\u200b]/.test(line)).toBe(false);
  const [long = ''] = linesOf({ ...problem(1), place: 'x'.repeat(1000), got: 'y'.repeat(1000) });
  expect([/x+/.exec(long)![0].length, /y+/.exec(long)![0].length].every((n) => n >= 100 && n <= 160)).toBe(true);
});

test('a problem is sentences of its own, or is written from what was found and expected, with its line and what to do', () => {
  expect(linesOf({ got: 'g', want: 'w' })).toEqual(['Found g, expected w.']);
  expect(linesOf({ what: 'It is full.', line: 3, remedy: 'Empty it.' })).toEqual(['Line 3: It is full. Empty it.']);
  expect(linesOf({ file: 'f', line: 3, got: 'g', want: 'w' })).toEqual(['f, line 3: found g, expected w.']);
  expect(new ProblemError('It is full. Empty it.').problems[0]).toMatchObject({
    what: 'It is full. Empty it.',
    got: '',
  });
});
