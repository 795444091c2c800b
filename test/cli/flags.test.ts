import { expect, test } from 'vitest';
import { readFlags } from '../../tools/flags.mjs';

const FLAGS = { out: 'value', merge: 'values', json: 'switch' } as const;
const read = (line: string) => readFlags(line === '' ? [] : line.split(' '), FLAGS);

test('flags are read by what they take: a value, a value each time, or none', () => {
  expect(read('a --out x --merge y --json --merge=z b')).toEqual({
    given: { out: 'x', merge: ['y', 'z'], json: true },
    positionals: ['a', 'b'],
    rest: ['a', 'b'],
    problems: [],
  });
  expect(read('--out x --out -1').given).toEqual({ out: '-1' }); // the last of two; a number below zero is a value
  expect(read('')).toEqual({ given: {}, positionals: [], rest: [], problems: [] });
});

test('an unknown flag is named with the nearest there is, and what follows it is no problem of its own', () => {
  const { problems, positionals } = read('--merg x --fastest -abc a');
  expect(problems).toEqual([
    '--merg: no such flag. Did you mean --merge? Have --out, --merge, --json.',
    '--fastest: no such flag. Have --out, --merge, --json.',
    '-abc: no such flag. Have --out, --merge, --json.',
  ]);
  expect(positionals).toEqual([]);
  expect(read('--constructor').problems).toHaveLength(1); // no flag that every object has
  expect(readFlags(['--\u001b[31m'], FLAGS).problems[0]).not.toContain('\u001b');
});

test('a flag without its value and a switch with one are problems, and the flag that follows is read', () => {
  const { problems, given } = read('--out --json --merge');
  expect(problems).toEqual(['--out needs a value.', '--merge needs a value.']);
  expect(given).toEqual({ json: true });
  expect(read('--json=yes').problems).toEqual(['--json takes no value, but has yes.']);
});

test('other words are a problem where there may be none, and another program is given what is not ours', () => {
  expect(readFlags(['--json', 'a', 'b'], FLAGS, { words: 1 }).problems).toEqual([
    'b: no such flag. Have --out, --merge, --json.',
  ]);
  expect(read('-q --out x -k word --json file').rest).toEqual(['-q', '-k', 'word', 'file']);
});
