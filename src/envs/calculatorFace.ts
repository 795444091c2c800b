import { DIGITS, isOperator, MAX_NUMBER, OPERATORS, spell } from './arithmeticChain.ts';
import type { Quote } from '../text/turnFormat.ts';
import { longestOf, type TextFace, type WrongValue } from './textFace.ts';
import { FAILURE_WORD } from './vocab.ts';

// People type * for ×.
const SIGNS = OPERATORS.map((operator) => (operator === '×' ? '*' : operator));
const signOf = (operator: string) => (operator === '×' ? '*' : operator);
const operatorOf = (sign: unknown) => (sign === '*' ? '×' : String(sign));

/**
 * The face of the calculator chain: translates its words to text and back. Numbers are JSON numbers, as people write
 * them, and × is written as *.
 */
export function calculatorFace(overflow: string, maxOperations: number): TextFace {
  return {
    system: 'You calculate from left to right, one operation a call, then answer with the number.',
    tools: [
      {
        name: 'calculate',
        description: 'Works out one operation on two numbers.',
        parameters: [
          { name: 'a', type: 'integer' },
          { name: 'operator', type: 'string', enum: SIGNS },
          { name: 'b', type: 'integer' },
        ],
      },
    ],
    question: (_, question) => question.replaceAll('×', '*').replace(', from left to right', ''),
    callWords: ({ a, operator, b }, quote) => {
      const [aDigits, bDigits] = [digits('a', a, quote), digits('b', b, quote)];
      const sign = operatorOf(operator);
      if ('wrong' in aDigits) return aDigits;
      if ('wrong' in bDigits) return bDigits;
      if (!isOperator(sign)) return { wrong: `${quote(sign)} as operator; want one of ${SIGNS.join(' ')}` };
      return [...aDigits, sign, ...bDigits];
    },
    call: ([a1, a2, operator = '', b1, b2]) => ({
      tool: 'calculate',
      values: { a: Number(`${a1}${a2}`), operator: signOf(operator), b: Number(`${b1}${b2}`) },
    }),
    answerWords: (text, quote) =>
      /^\d+$/.test(text)
        ? digits('the answer', Number(text), quote)
        : { wrong: 'an answer that is no number; want it alone' },
    answerText: (words) => String(Number(words.join(''))),
    // join digits, so that a number reads as one number
    observation: (words) =>
      words.every((word) => DIGITS.some((digit) => digit === word)) ? String(Number(words.join(''))) : words.join(' '),
    longestTexts: (countTokens) => {
      const number = longestOf(
        Array.from({ length: MAX_NUMBER + 1 }, (_, n) => String(n)),
        countTokens,
      );
      const chain = Array.from({ length: maxOperations }, () => `${longestOf(SIGNS, countTokens)} ${number}`).join(' ');
      return {
        questions: [`What is ${number} ${chain}?`],
        turns: [
          ...SIGNS.map((operator) => ({
            tool: 'calculate',
            values: { a: Number(number), operator, b: Number(number) },
          })),
          { answer: number },
        ],
        observations: [overflow, FAILURE_WORD, number],
      };
    },
  };
}

function digits(name: string, value: unknown, quote: Quote): readonly string[] | WrongValue {
  const number = Number(value);
  if (number >= 0 && number <= MAX_NUMBER) return spell(number);
  return { wrong: `${quote(String(value))} as ${name}; want 0 to ${MAX_NUMBER}` };
}
