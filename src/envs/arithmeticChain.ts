import type { Random } from '../base/rng.ts';

export const OPERATORS = ['+', '-', '×'] as const;
export type Operator = (typeof OPERATORS)[number];

/** The largest number. Numbers are written digit by digit, because ten words are learned sooner than a hundred. */
export const MAX_NUMBER = 99;
export const DIGITS = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'] as const;

/** Returns a number as two digits, tens first. */
export function spell(n: number): readonly [tens: string, units: string] {
  return [DIGITS[Math.floor(n / 10)] ?? '', DIGITS[n % 10] ?? ''];
}

/** Returns the number that two digits spell. Null for any other words. */
export function readDigits([tens, units, ...more]: readonly string[]): number | null {
  const [a, b] = [digitOf(tens), digitOf(units)];
  return a === null || b === null || more.length > 0 ? null : 10 * a + b;
}

/** Returns the value of a word that is one digit. Null for any other word. */
function digitOf(word: string | undefined): number | null {
  const found = DIGITS.findIndex((digit) => digit === word);
  return found < 0 ? null : found;
}

/** A first number and the operations applied to it, from left to right. */
export interface Chain {
  readonly first: number;
  readonly steps: readonly { readonly operator: Operator; readonly by: number }[];
}

export function isOperator(word: string | undefined): word is Operator {
  return OPERATORS.some((operator) => operator === word);
}

export function apply(a: number, operator: Operator, b: number): number {
  return operator === '+' ? a + b : operator === '-' ? a - b : a * b;
}

export function results({ first, steps }: Chain): readonly number[] {
  const values = [first];
  for (const { operator, by } of steps) values.push(apply(values.at(-1) ?? 0, operator, by));
  return values;
}

export function wordsOf({ first, steps }: Chain): readonly string[] {
  return [String(first), ...steps.flatMap(({ operator, by }) => [operator, String(by)])];
}

/** Reads `n operator n …` over numbers of one digit, from left to right. Null for anything else. */
export function readChain(words: readonly string[]): Chain | null {
  const first = digitOf(words[0]);
  if (first === null || words.length % 2 === 0) return null;
  const steps: Chain['steps'][number][] = [];
  for (let i = 1; i < words.length; i += 2) {
    const operator = words[i];
    const by = digitOf(words[i + 1]);
    if (!isOperator(operator) || by === null) return null;
    steps.push({ operator, by });
  }
  return { first, steps };
}

/** Draws operators for a chain over `numbers` in this order. Null if a result is not between 0 and MAX_NUMBER. */
export function drawChain(numbers: readonly number[], draw: Random): Chain | null {
  const [first = 0, ...rest] = numbers;
  const chain = { first, steps: rest.map((by) => ({ operator: draw.pick(OPERATORS), by })) };
  return results(chain).every((value) => value >= 0 && value <= MAX_NUMBER) ? chain : null;
}
