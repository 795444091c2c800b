import { expect, test } from 'vitest';
import {
  counted,
  arrow,
  signedChange,
  barePercent,
  percentagePoints,
  probability,
  shortNumber,
} from '../../src/page/words/numberText.ts';
import { updatesInWords } from '../../src/page/view/profileStore.ts';

test('a change that is not 0 never reads as 0: what is small has two significant digits', () => {
  for (let exponent = -12; exponent <= 2; exponent++) {
    for (const sign of [1, -1]) {
      const text = signedChange(sign * 3.4567 * 10 ** exponent);
      expect(text).toMatch(sign > 0 ? /^\+/ : /^−/);
      expect(text).toMatch(/[1-9].*[0-9]/);
      // what is read is what it is, to half of its last digit: 1.5 % at two digits
      const read = Number(text.replaceAll('−', '-'));
      expect(Math.abs(read / (sign * 3.4567 * 10 ** exponent) - 1)).toBeLessThan(0.015);
    }
  }
  expect(signedChange(0)).toBe('0');
  expect(signedChange(0.0585)).toBe('+0.0585');
  expect(signedChange(-0.00003)).toBe('−3.0e−5');
});

test('an arrow points up, down, or nowhere', () => {
  expect([0.1, -0.1, 0, 1e-9].map(arrow)).toEqual(['▲', '▼', '=', '▲']);
});

test('probabilities keep digits where they are small, per cents those of their column', () => {
  expect(probability(0.25)).toBe('0.2500');
  expect(probability(0)).toBe('0.0000');
  expect(probability(0.00004)).toMatch(/^4\.0e.5$/);
  expect(barePercent(0.5)).toBe('50.00');
  expect([0.0004, 0.00001, 0].map(barePercent)).toEqual(['0.04', '<0.01', '0.00']);
});

test('differences of shares are told in points, less than one with a decimal, and none at all without a sign', () => {
  expect([0.123, -0.05, 0, 0.001].map(percentagePoints)).toEqual(['+12', '−5', '0', '+0.1']);
});

test('a short number has three significant digits', () => {
  expect([0.45678, 12.34, 1234, 0, 1e-4].map(shortNumber)).toEqual(['0.457', '12.3', '1234', '0', '1.0e−4']);
  expect(shortNumber(-1e-4)).toBe('−1.0e−4');
});

test('one is not told as several', () => {
  expect([0, 1, 2].map((n) => counted(n, 'turn'))).toEqual(['0 turns', '1 turn', '2 turns']);
  expect([1, 2].map((n) => counted(n, 'pass', 'passes'))).toEqual(['1 pass', '2 passes']);
  expect([1, 5].map((updates) => updatesInWords({ updates }))).toEqual(['the last one', 'mean of the last 5']);
});
