import { DIGITS, isOperator, MOST, OPERATORS, spell } from './arithmetic.ts';
import type { TextFace, Wrong } from './textFace.ts';

// What people type for ×.
const SIGNS = OPERATORS.map((operator) => (operator === '×' ? '*' : operator));
const signOf = (operator: string) => (operator === '×' ? '*' : operator);
const operatorOf = (sign: unknown) => (sign === '*' ? '×' : String(sign));

/** A calculator chain in text: numbers are numbers of JSON, as people write them, and × is *. */
export function calculatorFace(overflow: string, operations: number): TextFace {
  const longest = Array.from({ length: operations + 1 }, () => String(MOST)).join(' + ');
  return {
    system: 'You calculate from left to right, one operation a call, then answer with the number.',
    tool: {
      name: 'calculate',
      description: 'Works out one operation on two numbers.',
      parameters: [
        { name: 'a', type: 'integer' },
        { name: 'operator', type: 'string', choices: SIGNS },
        { name: 'b', type: 'integer' },
      ],
    },
    question: (_, question) => question.replaceAll('×', '*').replace(', from left to right', ''),
    callWords: ({ a, operator, b }) => {
      const [first, second] = [digits('a', a), digits('b', b)];
      const sign = operatorOf(operator);
      if ('wrong' in first) return first;
      if ('wrong' in second) return second;
      if (!isOperator(sign)) return { wrong: `${sign} as operator; want one of ${SIGNS.join(' ')}` };
      return [...first, sign, ...second];
    },
    values: ([a1, a2, operator = '', b1, b2]) => ({
      a: Number(`${a1}${a2}`),
      operator: signOf(operator),
      b: Number(`${b1}${b2}`),
    }),
    answerWords: (text) =>
      /^\d+$/.test(text) ? digits('the answer', Number(text)) : { wrong: 'an answer that is no number; want it alone' },
    answerText: (words) => String(Number(words.join(''))),
    // digits follow each other, so that a number reads as one
    observation: (words) =>
      words.every((word) => DIGITS.some((digit) => digit === word)) ? String(Number(words.join(''))) : words.join(' '),
    longest: {
      questions: [`What is ${longest}?`],
      turns: [
        ...SIGNS.map((operator) => ({ tool: 'calculate', values: { a: MOST, operator, b: MOST } })),
        { answer: String(MOST) },
      ],
      observations: [overflow, String(MOST)],
    },
  };
}

function digits(name: string, value: unknown): readonly string[] | Wrong {
  const number = Number(value);
  return number >= 0 && number <= MOST ? spell(number) : { wrong: `${String(value)} as ${name}; want 0 to ${MOST}` };
}
