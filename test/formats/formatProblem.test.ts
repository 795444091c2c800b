import { expect, test } from 'vitest';
import { FormatError, type FormatProblem } from '../../src/formats/formatProblem.ts';

const problem = (n: number, remedy = 'Do that.'): FormatProblem => ({ file: 'f', place: `p${n}`, got: 'g', want: 'w', remedy }); // prettier-ignore
const linesOf = (...problems: readonly FormatProblem[]) => new FormatError(problems).message.split('\n');

test('a refusal has a line for each problem, and says once at the end what to do where that is the same for all', () => {
  expect(linesOf(problem(1))).toEqual(['f: p1: got g; want w. Do that.']);
  expect(linesOf(problem(1), problem(2))).toEqual(['f: p1: got g; want w.', 'f: p2: got g; want w.', 'Do that.']);
  const mixed = [problem(1), problem(2), problem(3, 'Else.')];
  expect(linesOf(...mixed)).toEqual([1, 2, 3].map((n) => `f: p${n}: got g; want w. ${n < 3 ? 'Do that.' : 'Else.'}`));
  expect(linesOf({ ...problem(1), place: '' })).toEqual(['f: got g; want w. Do that.']);
  expect(linesOf()).toEqual(['']);
  expect(new FormatError(mixed).problems).toBe(mixed);
  expect(new FormatError(mixed).name).toBe('FormatError');
});

test('twelve problems are told, and of more how many there are', () => {
  const many = (n: number) => linesOf(...Array.from({ length: n }, (_, i) => problem(i)));
  expect(many(12)).toHaveLength(13);
  expect(many(12).at(-2)).toMatch(/p11/);
  expect(many(13).slice(-3)).toEqual(['f: p11: got g; want w.', '… and 1 more.', 'Do that.']);
  expect(many(40).slice(-2)).toEqual(['… and 28 more.', 'Do that.']);
});

test('signs that cannot be seen are written out, and long places are cut', () => {
  const [line = ''] = linesOf({ ...problem(1), file: 'a\u202eb', place: 'c\0', got: 'd\u200b' });
  expect(/[\u202e\0\u200b]/.test(line)).toBe(false);
  const [long = ''] = linesOf({ ...problem(1), place: 'x'.repeat(1000), got: 'y'.repeat(1000) });
  expect([/x+/.exec(long)![0].length, /y+/.exec(long)![0].length].every((n) => n >= 100 && n <= 160)).toBe(true);
});
