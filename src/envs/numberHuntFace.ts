import { longestOf, type TextFace } from './textFace.ts';
import { FAILURE_WORD } from './vocab.ts';

/**
 * The face of number hunt: translates its words to text and back. Numbers are JSON numbers, and there are no answers.
 * An observation has `distractors` words out of `fillers`.
 */
export function numberHuntFace(range: number, fillers: readonly string[], distractors: number): TextFace {
  const maxNumber = range - 1;
  const question = `Find the number from 0 to ${maxNumber}.`;
  return {
    system: 'You find a hidden number by calls.',
    tools: [
      {
        name: 'compare',
        description: 'Says whether the hidden number is higher or lower than n.',
        parameters: [{ name: 'n', type: 'integer' }],
      },
    ],
    question: () => question,
    callWords: ({ n }, quote) => {
      const value = Number(n);
      return value >= 0 && value <= maxNumber
        ? [String(value)]
        : { wrong: `${quote(String(n))} as n; want 0 to ${maxNumber}` };
    },
    call: ([n]) => ({ tool: 'compare', values: { n: Number(n) } }),
    answerWords: () => ({ wrong: 'no call; want a call of compare' }),
    answerText: (words) => words.join(' '),
    observation: (words) => words.join(' '),
    longestTexts: (countTokens) => {
      const longestFillers = Array.from({ length: distractors }, () => longestOf(fillers, countTokens));
      return {
        questions: [question],
        turns: Array.from({ length: range }, (_, n) => ({ tool: 'compare', values: { n } })),
        observations: ['higher', 'lower', FAILURE_WORD].flatMap((verdict) => [
          [...longestFillers, verdict].join(' '),
          [verdict, ...longestFillers].join(' '),
        ]),
      };
    },
  };
}
