import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIELDS, parseConfig, parseField } from '../src/config/config.ts';
import { ConfigError } from '../src/config/configProblem.ts';
import { problemText } from '../src/base/problem.ts';
import { parseDecimal } from '../src/base/decimal.ts';
import { parseExperimentArguments } from '../src/cli/experimentArguments.ts';
import { readPlan } from '../src/page/experiments/planAddress.ts';
import { readHash } from '../src/page/address/hash.ts';

// prettier-ignore
const NOT_DECIMAL = [
  '', ' ', '0x10', '0X10', '0b11', '0o17', ' 16', '16 ', '\t16', '1_000', '1,000', '1e', 'e3', '.', '-', '+5', '--5', '5-', '1.2.3', 'Infinity',
  '-Infinity', 'NaN', '١٢', '１２', '1e99999', '1e400', '1e-400', '12px', '1n', '16\n', '\u00a016',
];

describe('numbers are read', () => {
  it.each([
    ['16', 16],
    ['007', 7],
    ['-3', -3],
    ['.5', 0.5],
    ['5.', 5],
    ['2.50', 2.5],
    ['1e3', 1000],
    ['3E-4', 3e-4],
    ['1e+2', 100],
    ['-0', 0],
    ['0e9', 0],
  ])('where they are written in decimal: %s', (text, value) => {
    expect(Object.is(parseDecimal(text), value)).toBe(true);
  });

  it.each(NOT_DECIMAL)('and nothing else is one: %j', async (text) => {
    expect(parseDecimal(text)).toBeNull();
    expect(() => parseField('range', text)).toThrow(/range: .* isn’t a whole number from 2 to 64/);
    expect(readHash(`#/lab?v=1&range=${encodeURIComponent(text)}`).corrections).toEqual([
      expect.stringContaining('isn’t possible. Use a whole number from 2 to 64.'),
    ]);
    expect(readPlan(`#/experiments?seeds=${encodeURIComponent(text)}`).corrections).toHaveLength(1);
    await expect(parseExperimentArguments(['ablation', '--seeds', text], () => Promise.resolve(null))).rejects.toThrow(
      /--seeds (can’t be|is empty|needs a value)/,
    );
  });
});

it('values of a type that no knob has are refused with what was got, whatever they are', () => {
  const odd: unknown[] = [
    null,
    undefined,
    true,
    [],
    ['16'],
    {},
    Object.create(null),
    Symbol('16'),
    () => 16,
    16n,
    NaN,
    Infinity,
  ];
  for (const name of ['range', 'env'] as const) {
    for (const value of odd) expect(() => parseField(name, value)).toThrow(ConfigError);
  }
  expect(() => parseField('env', ['number-hunt'])).toThrow('env: a list isn’t one of number-hunt');
  expect(() => parseField('range', 'x'.repeat(1000))).toThrow(/^range: x{79}… isn’t/);
  expect(Object.is(parseField('slip', -0), 0)).toBe(true);
});

it('of 10,000 hostile knobs each is in range as written, or refused by its name', () => {
  const strange = fc.constantFrom('__proto__', 'constructor', 'toString', 'SEED', '');
  const names = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...Object.keys(FIELDS)) }, strange);
  const more = ['0', '1', '-1', '1e9', '0.5', '4294967296', 'on', 'gpu', '__proto__', 'a=b', '🙂', '\u202e1'];
  const one = fc.constantFrom(...NOT_DECIMAL, ...more);
  const two = fc.tuple(one, one).map((texts) => texts.join(''));
  let taken = 0;
  const judge = fc.property(names, fc.oneof(one, two), (name, text) => {
    try {
      const value = parseConfig({ [name]: text })[name as keyof typeof FIELDS];
      expect(typeof value === 'number' ? parseDecimal(text) : text).toBe(value);
      taken++;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      expect(error.problems.length).toBeGreaterThan(0);
      for (const problem of error.problems) expect(problemText(problem)).toMatch(/^.{0,80}: .{10,}$/s);
    }
  });
  fc.assert(judge, { seed: 11, numRuns: 10_000 });
  expect(taken).toBeGreaterThan(50);
});
