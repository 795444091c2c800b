import type { Random } from '../rng.ts';

/** Operators an expression may hold. */
export const OPERATORS = ['+', '-', '×'] as const;
/** One of OPERATORS. */
export type Operator = (typeof OPERATORS)[number];

/** Numbers are words: 0 … MOST, each one token. */
export const MOST = 99;
/** The words of all numbers. */
export const NUMBERS: readonly string[] = Array.from({ length: MOST + 1 }, (_, n) => String(n));

const VALUES: ReadonlyMap<string | undefined, number> = new Map(NUMBERS.map((word, n) => [word, n]));

/** A first number and what is done to it, from left to right. */
export interface Chain {
  readonly first: number;
  readonly steps: readonly { readonly operator: Operator; readonly by: number }[];
}

/** True for the words of OPERATORS. */
export function isOperator(word: string | undefined): word is Operator {
  return OPERATORS.some((operator) => operator === word);
}

/** The number a word is; null for any other word. */
export function numberOf(word: string | undefined): number | null {
  return VALUES.get(word) ?? null;
}

/** a operator b. */
export function apply(a: number, operator: Operator, b: number): number {
  return operator === '+' ? a + b : operator === '-' ? a - b : a * b;
}

/** The results after 0, 1, … steps. */
export function results({ first, steps }: Chain): readonly number[] {
  const values = [first];
  for (const { operator, by } of steps) values.push(apply(values.at(-1) ?? 0, operator, by));
  return values;
}

/** The words of a chain. */
export function wordsOf({ first, steps }: Chain): readonly string[] {
  return [String(first), ...steps.flatMap(({ operator, by }) => [operator, String(by)])];
}

/** Reads `n operator n …`, from left to right; null for anything else. */
export function readChain(words: readonly string[]): Chain | null {
  const first = numberOf(words[0]);
  if (first === null || words.length % 2 === 0) return null;
  const steps: Chain['steps'][number][] = [];
  for (let i = 1; i < words.length; i += 2) {
    const operator = words[i];
    const by = numberOf(words[i + 1]);
    if (!isOperator(operator) || by === null) return null;
    steps.push({ operator, by });
  }
  return { first, steps };
}

/** A chain over `numbers` in this order with random operators whose results all are numbers; null where the draw has none. */
export function drawChain(numbers: readonly number[], draw: Random): Chain | null {
  const [first = 0, ...rest] = numbers;
  const chain = { first, steps: rest.map((by) => ({ operator: draw.pick(OPERATORS), by })) };
  return results(chain).every((value) => value >= 0 && value <= MOST) ? chain : null;
}
