import { expect, test } from 'vitest';
import { readFlags } from '../../tools/flags.mjs';

const HAVE = 'Have --out, --merge, --json.';
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
    { what: '--merg: no such flag.', remedy: `Did you mean --merge? ${HAVE}` },
    { what: '--fastest: no such flag.', remedy: HAVE },
    { what: '-abc: no such flag.', remedy: HAVE },
  ]);
  expect(positionals).toEqual([]);
  expect(read('--constructor').problems).toHaveLength(1); // no flag that every object has
  expect(readFlags(['--\u001b[31m'], FLAGS).problems[0]?.what).not.toContain('\u001b');
});

test('a flag without its value and a switch with one are problems, and the flag that follows is read', () => {
  const { problems, given } = read('--out --json --merge');
  expect(problems).toEqual([{ what: '--out needs a value.' }, { what: '--merge needs a value.' }]);
  expect(given).toEqual({ json: true });
  expect(read('--json=yes').problems).toEqual([{ what: '--json takes no value, but has yes.' }]);
});

test('other words are a problem where there may be none, and another program is given what is not ours', () => {
  expect(readFlags(['--json', 'a', 'b'], FLAGS, { words: 1 }).problems).toEqual([
    { what: 'b: no such flag.', remedy: HAVE },
  ]);
  expect(read('-q --out x -k word --json file').rest).toEqual(['-q', '-k', 'word', 'file']);
});
