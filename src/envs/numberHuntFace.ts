import type { TextFace } from './textFace.ts';

/** Number hunt in text: a number is a number of JSON, and there is nothing to answer. */
export function numberHuntFace(range: number, distractors: readonly string[]): TextFace {
  const most = range - 1;
  const question = `Find the number from 0 to ${most}.`;
  return {
    system: 'You find a hidden number by calls.',
    tool: {
      name: 'compare',
      description: 'Says whether the hidden number is higher or lower than n.',
      parameters: [{ name: 'n', type: 'integer' }],
    },
    question: () => question,
    callWords: ({ n }) => {
      const value = Number(n);
      return value >= 0 && value <= most ? [String(value)] : { wrong: `${String(n)} as n; want 0 to ${most}` };
    },
    values: ([n]) => ({ n: Number(n) }),
    answerWords: () => ({ wrong: 'no call; want a call of compare' }),
    answerText: (words) => words.join(' '),
    observation: (words) => words.join(' '),
    longest: {
      questions: [question],
      turns: Array.from({ length: range }, (_, n) => ({ tool: 'compare', values: { n } })),
      observations: [[...distractors, 'higher'].join(' '), [...distractors, 'lower'].join(' ')],
    },
  };
}
